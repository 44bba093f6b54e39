#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "schedule/reads.hpp"
#include "schedule/tasks.hpp"

namespace whet {
namespace {

using Index = std::size_t;

bool reads(const Task& task, int buffer, ValueId value) {
  bool found = false;
  for_each_read(task, [&](const Access& access, ValueId v, bool) {
    found = found || (access.buffer == buffer && v == value);
  });
  return found;
}

/// Whether the task reads `value` only at the element that it then overwrites.
bool reads_own_element(const Task& task, const Access& written, ValueId value) {
  bool own = true;
  for_each_read(task, [&](const Access& access, ValueId v, bool elementwise) {
    if (access.buffer == written.buffer && v == value) {
      own = own && elementwise && access == written;
    }
  });
  return own;
}

bool reaches(const std::vector<std::set<int>>& after, int from, int to) {
  if (from == to) {
    return true;
  }
  return std::any_of(after[Index(from)].begin(), after[Index(from)].end(), [&](int next) {
    return reaches(after, next, to);
  });
}

Task commit_task(const Task& writer, const Store& store, int staging, DType dtype, int number) {
  const std::size_t rank =
      writer.domain.size() - (writer.reduce ? Index(writer.reduce->num_reduced_dims) : 0);
  Task task{.kind = Task::Kind::Map, .name = fmt::format("commit{}", number)};
  task.domain.assign(writer.domain.begin(), writer.domain.begin() + static_cast<long>(rank));
  Access from{.buffer = staging, .offset = 0, .strides = contiguous_strides(task.domain)};
  task.nodes.push_back(
      {.kind = ExprNode::Kind::Load, .access = from, .dtype = dtype, .value = store.value}
  );
  task.stores.push_back({.node = 0, .access = store.access, .value = store.value});
  task.is_commit = true;
  return task;
}

}  // namespace

void order_tasks(const Program& program, TaskGraph& graph) {
  std::vector<std::set<int>> after(graph.tasks.size());
  const auto num_tasks = static_cast<int>(graph.tasks.size());
  for (int writer = 0; writer < num_tasks; ++writer) {
    for (const Store& store : graph.tasks[Index(writer)].stores) {
      for (int reader = 0; reader < num_tasks; ++reader) {
        if (reader != writer &&
            reads(graph.tasks[Index(reader)], store.access.buffer, store.value)) {
          after[Index(reader)].insert(writer);
        }
      }
    }
  }
  for (const ProgramState& state : program.state) {
    if (state.after == state.before) {
      continue;
    }
    const int buffer = graph.home.at(state.before);
    for (int writer = 0; writer < num_tasks; ++writer) {
      Task& task = graph.tasks[Index(writer)];
      for (Store& store : task.stores) {
        if (store.access.buffer != buffer || store.value != state.after) {
          continue;
        }
        bool stage = !reads_own_element(task, store.access, state.before);
        std::vector<int> readers;
        for (int reader = 0; reader < num_tasks; ++reader) {
          if (reader != writer && reads(graph.tasks[Index(reader)], buffer, state.before)) {
            readers.push_back(reader);
            stage = stage || reaches(after, reader, writer);
          }
        }
        if (!stage) {
          after[Index(writer)].insert(readers.begin(), readers.end());
          continue;
        }
        const DType dtype = graph.buffers[Index(buffer)].dtype;
        const auto staging = static_cast<int>(graph.buffers.size());
        graph.buffers.push_back(
            {.symbol = fmt::format("t{}", staging),
             .dtype = dtype,
             .num_elements = num_elements(program.value(state.before).shape),
             .storage = Storage::Workspace}
        );
        const Store direct = store;
        Task commit = commit_task(task, direct, staging, dtype, ++graph.num_staged_commits);
        store.access = {
            .buffer = staging, .offset = 0, .strides = contiguous_strides(commit.domain)};
        std::set<int> before_commit(readers.begin(), readers.end());
        before_commit.insert(writer);
        graph.tasks.push_back(std::move(commit));
        after.push_back(std::move(before_commit));
        break;  // `task` and `store` may have moved
      }
    }
  }
  graph.after.clear();
  for (const std::set<int>& tasks : after) {
    graph.after.emplace_back(tasks.begin(), tasks.end());
  }
}

}  // namespace whet
