#include "cli/schedule_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace whet {
namespace {

std::string_view edge_name(Edge edge) {
  switch (edge) {
    case Edge::None:
      return "no edge";
    case Edge::Block:
      return "block barrier";
    case Edge::Cluster:
      return "cluster barrier";
    case Edge::Grid:
      break;
  }
  return "grid barrier";
}

std::string_view partition_name(Partition partition) {
  switch (partition) {
    case Partition::Block:
      return "block";
    case Partition::Cluster:
      return "cluster";
    case Partition::Grid:
      break;
  }
  return "grid";
}

std::string_view storage_name(Storage storage) {
  switch (storage) {
    case Storage::Argument:
      return "argument";
    case Storage::Workspace:
      return "workspace";
    case Storage::Persistent:
      return "persistent";
    case Storage::Shared:
      break;
  }
  return "shared";
}

std::string describe_work(const Task& task, Target target) {
  if (task.gemm) {
    const GemmTiling& tiling = task.gemm->tiling;
    std::string text = fmt::format(
        "gemm k={} {}, tile {}x{}",
        task.gemm->k,
        dtype_name(task.gemm->dtype),
        tiling.tile_m,
        tiling.tile_n
    );
    if (target != Target::Cpu) {
      text += fmt::format(", split_k {}", tiling.split_k);
    }
    if (tiling.k_lanes > 1) {
      text += fmt::format(", k_lanes {}", tiling.k_lanes);
    }
    if (target != Target::Cpu && !tiling.direct) {
      text += fmt::format(", {} stages of {}", tiling.stages, tiling.tile_k);
    }
    return text;
  }
  if (task.reduce) {
    return fmt::format(
        "reduce of {} dims, {} splits", task.reduce->num_reduced_dims, task.reduce->splits
    );
  }
  return task.is_commit ? "commit of staged state" : "map";
}

std::string describe_task(const Task& task, const TaskPath& path, const Schedule& schedule) {
  std::string text = fmt::format(
      "    {} [{}]: {}, {} tiles, {} nodes, stores",
      task.name,
      fmt::join(task.domain, ", "),
      describe_work(task, schedule.target),
      task.num_tiles,
      task.nodes.size()
  );
  for (const Store& store : task.stores) {
    text += " " + schedule.buffers.at(static_cast<std::size_t>(store.access.buffer)).symbol;
  }
  text += fmt::format("\n      {}\n", describe_path(path));
  for (const std::string& obstacle : path.slower) {
    text += fmt::format("        {}\n", obstacle);
  }
  return text;
}

std::string describe_buffer(const Buffer& buffer) {
  std::string text = fmt::format(
      "  {} {} x {} {}",
      buffer.symbol,
      buffer.num_elements,
      dtype_name(buffer.dtype),
      storage_name(buffer.storage)
  );
  text += buffer.storage == Storage::Argument ? fmt::format(" {}", buffer.argument)
                                              : fmt::format(" +{} B", buffer.offset_bytes);
  return text + "\n";
}

}  // namespace

std::string describe_path(const TaskPath& path) {
  return fmt::format("{}: {}, {}", path.ops, path.engine, path.path);
}

std::string describe_schedule(const Schedule& schedule) {
  const std::vector<TaskPath> paths = task_paths(schedule);
  auto path = paths.begin();
  std::string text = fmt::format(
      "{} blocks of {} threads, partition {}, {} steps a launch, {} between steps\n",
      schedule.blocks,
      schedule.threads,
      partition_name(schedule.partition),
      schedule.steps_per_launch,
      edge_name(schedule.step_edge)
  );
  text += fmt::format(
      "arena {} B, shared arena {} B, scratch {} B, {} staged commits\n",
      schedule.arena_bytes,
      schedule.shared_arena_bytes,
      schedule.scratch_bytes,
      schedule.num_staged_commits
  );
  for (std::size_t i = 0; i < schedule.phases.size(); ++i) {
    const Phase& phase = schedule.phases[i];
    text += fmt::format(
        "  phase {} (after {}){}\n",
        i,
        i == 0 ? "the start" : edge_name(phase.edge_before),
        phase.is_repeated ? ", by every block for itself" : ""
    );
    for (const Task& task : phase.tasks) {
      text += describe_task(task, *path++, schedule);
    }
  }
  text += "buffers\n";
  for (const Buffer& buffer : schedule.buffers) {
    text += describe_buffer(buffer);
  }
  return text;
}

std::string describe_prediction(const Prediction& prediction, const Limit& limit) {
  std::string text = "predicted, ns a step\n";
  text += fmt::format("  launch {:.0f}\n", prediction.launch_ns);
  for (std::size_t p = 0; p < prediction.phases_ns.size(); ++p) {
    text += fmt::format(
        "  phase {} {:.0f}, edge before it {:.0f}\n",
        p,
        prediction.phases_ns[p],
        prediction.edges_ns[p]
    );
  }
  text += fmt::format(
      "  total {:.0f}; no schedule can beat {:.0f}\n", total_ns(prediction), total_ns(limit)
  );
  return text;
}

}  // namespace whet
