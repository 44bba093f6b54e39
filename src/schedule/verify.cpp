#include "schedule/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "schedule/reads.hpp"
#include "schedule/shadows.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// What bytes hold: a Program value (or a partial sum) as of a step.
struct Content {
  ValueId value = -1;
  int step = 0;

  bool operator==(const Content&) const = default;
};

/// One access of a task, with its place in time.
struct Event {
  const Task* task = nullptr;
  const Access* access = nullptr;
  ValueId value = -1;
  int step = 0;
  bool writes = false;
  bool at_own_index = false;  ///< a read at the index that the task's stores run over
};

/// Runs the schedule on abstract memory. Accesses between two sufficient edges form an epoch,
/// within which nothing is ordered, but for a block's own shared memory by the block's barriers.
class Checker {
 public:
  /// `program` knows the schedule's shadows as state.
  Checker(const Program& program, const Schedule& schedule)
      : program_(program), schedule_(schedule), memory_(schedule.buffers.size()) {}

  std::vector<std::string> run() {
    check_tiles();
    check_teams();
    check_coverage();
    check_held();
    check_repeated();
    run_steps(false);  // a launch boundary between steps
    if (schedule_.steps_per_launch > 1) {
      run_steps(true);
    }
    return {lines_.begin(), lines_.end()};
  }

 private:
  template <typename... Args>
  void report(fmt::format_string<Args...> text, Args&&... args) {
    const std::string line = fmt::format(text, std::forward<Args>(args)...);
    if (seen_.insert(line).second) {
      lines_.push_back(line);
    }
  }

  std::string name_of(ValueId v) const {
    const bool named = v >= 0 && Index(v) < program_.values.size();
    return named ? program_.value(v).name : fmt::format("partial sum {}", v);
  }
  const std::string& symbol(int buffer) const { return schedule_.buffers[Index(buffer)].symbol; }

  bool orders(Edge edge) const {
    if (schedule_.blocks > 1) {
      return edge == Edge::Grid ||
             (edge == Edge::Cluster && schedule_.partition == Partition::Cluster);
    }
    return schedule_.threads == 1 || edge != Edge::None;
  }

  int first_state() const {
    return static_cast<int>(program_.inputs.size() + program_.scalars.size());
  }
  int first_output() const {
    return first_state() + static_cast<int>(program_.state.size() - schedule_.shadows.size());
  }
  int state_buffer(Index state) const {
    const Index num_visible = program_.state.size() - schedule_.shadows.size();
    return state < num_visible ? argument_buffer(first_state() + static_cast<int>(state))
                               : schedule_.shadows[state - num_visible].buffer;
  }

  /// The first buffer of argument number `argument`, or -1.
  int argument_buffer(int argument) const {
    for (Index b = 0; b < schedule_.buffers.size(); ++b) {
      if (schedule_.buffers[b].storage == Storage::Argument &&
          schedule_.buffers[b].argument == argument) {
        return static_cast<int>(b);
      }
    }
    return -1;
  }

  static std::int64_t stored_elements(const Task& task) {
    std::int64_t count = 1;
    const Index outer =
        task.domain.size() - (task.reduce ? Index(task.reduce->num_reduced_dims) : 0);
    for (Index d = 0; d < outer; ++d) {
      count *= task.domain[d];
    }
    return count * (task.reduce ? task.reduce->splits : 1);
  }

  static std::int64_t covering(std::int64_t size, std::int64_t tile) {
    return tile > 0 ? (size + tile - 1) / tile : -1;
  }

  /// Tiles that cover a task's domain, from their sizes.
  static std::int64_t expected_tiles(const Task& task) {
    switch (task.kind) {
      case Task::Kind::Gemm:
        return covering(task.domain[0], task.gemm->tiling.tile_m) *
               covering(task.domain[1], task.gemm->tiling.tile_n);
      case Task::Kind::Reduce:
        return covering(
                   stored_elements(task) / task.reduce->splits, task.reduce->outputs_per_tile
               ) *
               task.reduce->splits;
      case Task::Kind::Map:
        break;
    }
    const std::int64_t elements = num_elements(task.domain);
    return elements == 0 ? 0 : covering(elements, task.tile_elements);
  }

  void check_tiles() {
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        const std::int64_t expected = expected_tiles(task);
        if (task.num_tiles != expected) {
          report("{} has {} tiles, expected {}", task.name, task.num_tiles, expected);
        }
      }
    }
  }

  /// Two tasks of a phase have the same warps, or no warp and no staging in common.
  void check_teams() {
    if (schedule_.target == Target::Cpu) {
      return;
    }
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        const std::int64_t end = task.scratch_offset_bytes + scratch_bytes(task, schedule_.target);
        if (task.num_warps < 1 || task.first_warp < 0 ||
            (task.first_warp + task.num_warps) * 32 > schedule_.threads) {
          report("{} has no warps of its block", task.name);
        }
        if (end > schedule_.scratch_bytes) {
          report("{} stages {} bytes, there are {}", task.name, end, schedule_.scratch_bytes);
        }
        for (const Task& other : phase.tasks) {
          check_teams(task, other);
        }
      }
    }
  }

  void check_teams(const Task& a, const Task& b) {
    const bool one_team = a.first_warp == b.first_warp && a.num_warps == b.num_warps;
    if (one_team || a.first_warp > b.first_warp) {
      return;
    }
    if (a.first_warp + a.num_warps > b.first_warp) {
      report("{} and {} share warps without being one team", a.name, b.name);
    }
    const std::int64_t a_end = a.scratch_offset_bytes + scratch_bytes(a, schedule_.target);
    const std::int64_t b_end = b.scratch_offset_bytes + scratch_bytes(b, schedule_.target);
    if (a.scratch_offset_bytes < b_end && b.scratch_offset_bytes < a_end) {
      report("{} and {} stage in the same bytes side by side", a.name, b.name);
    }
  }

  /// Every store writes its value whole, inside its buffer.
  void check_coverage() {
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        for (const Store& store : task.stores) {
          const Buffer& buffer = schedule_.buffers[Index(store.access.buffer)];
          const bool named = Index(store.value) < program_.values.size();
          const std::int64_t expected =
              named ? num_elements(program_.value(store.value).shape) : buffer.num_elements;
          if (stored_elements(task) != expected) {
            report(
                "{} writes {} elements of {} to {}, expected {}",
                task.name,
                stored_elements(task),
                name_of(store.value),
                buffer.symbol,
                expected
            );
          }
          std::int64_t last = store.access.offset;
          for (Index d = 0; d < store.access.strides.size(); ++d) {
            const bool split =
                task.reduce && d + 1 == store.access.strides.size() && task.reduce->splits > 1;
            const std::int64_t size = split ? task.reduce->splits : task.domain[d];
            last += (size - 1) * store.access.strides[d];
          }
          if (expected > 0 && last >= buffer.num_elements) {
            report(
                "{} writes element {} of {}, which has {}",
                task.name,
                last,
                buffer.symbol,
                buffer.num_elements
            );
          }
        }
      }
    }
  }

  /// Registers are seen by nobody but the threads of the task that updates what is in them.
  void check_held() {
    for (Index b = 0; b < schedule_.buffers.size(); ++b) {
      if (!schedule_.buffers[b].is_held) {
        continue;
      }
      std::set<const Task*> users;
      for (const Phase& phase : schedule_.phases) {
        for (const Task& task : phase.tasks) {
          for_each_read(task, [&](const Access& access, ValueId, bool elementwise) {
            if (access.buffer == static_cast<int>(b)) {
              users.insert(&task);
              check_held_read(task, access, elementwise);
            }
          });
          for (const Store& store : task.stores) {
            if (store.access.buffer == static_cast<int>(b)) {
              users.insert(&task);
            }
          }
        }
      }
      if (users.size() > 1) {
        report(
            "{} is in registers, and {} tasks use it", schedule_.buffers[b].symbol, users.size()
        );
      }
    }
  }

  void check_held_read(const Task& task, const Access& access, bool elementwise) {
    const bool is_own =
        std::any_of(task.stores.begin(), task.stores.end(), [&](const Store& store) {
          return store.access == access;
        });
    if (!elementwise || !is_own || !task.gemm || !task.gemm->tiling.direct) {
      report("{} reads {} from registers that it does not write", task.name, symbol(access.buffer));
    }
  }

  /// Of several blocks, each has all of what it finds in its shared memory from itself.
  void check_repeated() {
    if (schedule_.blocks == 1) {
      return;
    }
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        for (const Store& store : task.stores) {
          const bool is_own = is_in_shared(schedule_.buffers[Index(store.access.buffer)]);
          if (is_own != phase.is_repeated) {
            report(
                "{} writes {}, which {}, and {}",
                task.name,
                symbol(store.access.buffer),
                is_own ? "each block has for itself" : "blocks share",
                phase.is_repeated ? "each block computes all of it" : "blocks share its tiles"
            );
          }
        }
      }
    }
  }

  void run_steps(bool one_launch) {
    std::fill(memory_.begin(), memory_.end(), std::nullopt);
    epoch_.clear();
    for (const ProgramInput& input : program_.inputs) {
      constant(input.value, static_cast<int>(&input - program_.inputs.data()));
    }
    for (Index i = 0; i < program_.scalars.size(); ++i) {
      constant(program_.scalars[i], static_cast<int>(program_.inputs.size() + i));
    }
    constexpr int kSteps = 3;
    for (int step = 0; step < kSteps; ++step) {
      begin_step(step);
      for (Index p = 0; p < schedule_.phases.size(); ++p) {
        if (p > 0 && orders(schedule_.phases[p].edge_before)) {
          end_epoch();
        } else if (p > 0 && schedule_.phases[p].edge_before != Edge::None) {
          end_epoch_of_blocks();
        }
        if (p == 0) {
          check_stable(schedule_.phases[p]);
        }
        for (const Task& task : schedule_.phases[p].tasks) {
          add_task(task, step);
        }
        if (p + 1 < schedule_.phases.size()) {
          const std::vector<Event> early = early_reads(schedule_.phases[p + 1], step);
          epoch_.insert(epoch_.end(), early.begin(), early.end());
        }
      }
      if (!one_launch || orders(schedule_.step_edge) || step + 1 == kSteps) {
        end_epoch();
        check_results(step);
      } else {
        report("steps of one launch are not ordered: the step edge is too narrow");
        end_epoch();
      }
    }
  }

  void constant(ValueId value, int argument) {
    const int buffer = argument_buffer(argument);
    if (buffer >= 0) {
      constants_[buffer] = value;
    }
  }

  void begin_step(int step) {
    for (Index i = 0; i < program_.state.size(); ++i) {
      const int buffer = state_buffer(i);
      if (buffer >= 0) {
        memory_[Index(buffer)] = Content{program_.state[i].before, step};
      }
    }
  }

  void check_results(int step) {
    for (Index i = 0; i < program_.state.size(); ++i) {
      const ProgramState& state = program_.state[i];
      const int buffer = state_buffer(i);
      if (buffer >= 0 && state.after != state.before &&
          memory_[Index(buffer)] != Content{state.after, step}) {
        report("state {} does not hold its new value after a step", name_of(state.before));
      }
    }
    for (Index i = 0; i < program_.outputs.size(); ++i) {
      const int buffer = argument_buffer(first_output() + static_cast<int>(i));
      if (buffer < 0 || memory_[Index(buffer)] != Content{program_.outputs[i], step}) {
        report("output {} is not written in every step", name_of(program_.outputs[i]));
      }
    }
  }

  void add_task(const Task& task, int step) {
    // With one thread, program order orders tasks too.
    if (schedule_.blocks == 1 && schedule_.threads == 1) {
      end_epoch();
    }
    const int summed = task.reduce ? task.reduce->operand : -1;
    for (Index n = 0; n < task.nodes.size(); ++n) {
      const ExprNode& node = task.nodes[n];
      if (node.kind == ExprNode::Kind::Load) {
        epoch_.push_back(
            {.task = &task,
             .access = &node.access,
             .value = node.value,
             .step = step,
             .at_own_index = static_cast<int>(n) > summed}
        );
      }
    }
    if (task.gemm) {
      for (const GemmOperand* operand : {&task.gemm->a, &task.gemm->b}) {
        epoch_.push_back(
            {.task = &task, .access = &operand->access, .value = operand->value, .step = step}
        );
      }
    }
    for (const Store& store : task.stores) {
      epoch_.push_back(
          {.task = &task,
           .access = &store.access,
           .value = store.value,
           .step = step,
           .writes = true}
      );
    }
  }

  /// What may be read before the edge in front of `phase`, besides behind it.
  static std::vector<Event> early_reads(const Phase& phase, int step) {
    std::vector<Event> events;
    for (const Task& task : phase.tasks) {
      for (const ExprNode& node : task.nodes) {
        if (node.is_early) {
          events.push_back(
              {.task = &task, .access = &node.access, .value = node.value, .step = step}
          );
        }
      }
      if (!task.gemm) {
        continue;
      }
      for (const GemmOperand* operand : {&task.gemm->a, &task.gemm->b}) {
        if (operand->is_early) {
          events.push_back(
              {.task = &task, .access = &operand->access, .value = operand->value, .step = step}
          );
        }
      }
    }
    return events;
  }

  /// The launch before may still write all but what the caller promised.
  void check_stable(const Phase& first) {
    for (const Event& event : early_reads(first, 0)) {
      const Buffer& buffer = schedule_.buffers[Index(event.access->buffer)];
      const auto argument = Index(buffer.argument);
      if (buffer.storage != Storage::Argument || argument >= program_.inputs.size() ||
          !program_.inputs[argument].stable) {
        report(
            "{} reads {} before the launch before has ended, and it is no stable input",
            event.task->name,
            buffer.symbol
        );
      }
    }
  }

  std::pair<std::int64_t, std::int64_t> bytes_of(const Buffer& buffer) const {
    const std::int64_t size = buffer.num_elements * dtype_bytes(buffer.dtype);
    return {buffer.offset_bytes, buffer.offset_bytes + size};
  }

  bool overlap(int a, int b) const {
    const Buffer& x = schedule_.buffers[Index(a)];
    const Buffer& y = schedule_.buffers[Index(b)];
    if (a == b) {
      return true;
    }
    const bool in_shared = is_in_shared(x) && is_in_shared(y);
    if (!in_shared && (x.storage == Storage::Argument || x.storage != y.storage)) {
      return false;
    }
    const auto [x_begin, x_end] = bytes_of(x);
    const auto [y_begin, y_end] = bytes_of(y);
    return x_begin < y_end && y_begin < x_end;
  }

  void check_read(const Event& event) {
    const int buffer = event.access->buffer;
    const auto constant = constants_.find(buffer);
    if (constant != constants_.end()) {
      if (constant->second != event.value) {
        report(
            "{} reads {} as {}, but it is {}",
            event.task->name,
            symbol(buffer),
            name_of(event.value),
            name_of(constant->second)
        );
      }
      return;
    }
    const std::optional<Content>& content = memory_[Index(buffer)];
    if (content != Content{event.value, event.step}) {
      report(
          "{} reads {} from {}, which at that point may hold {}",
          event.task->name,
          name_of(event.value),
          symbol(buffer),
          !content ? "nothing ordered before"
          : content->step == event.step
              ? name_of(content->value)
              : fmt::format("{} of an earlier step", name_of(content->value))
      );
    }
  }

  void check_pair(const Event& a, const Event& b) {
    if (!(a.writes || b.writes) || !overlap(a.access->buffer, b.access->buffer)) {
      return;
    }
    if (a.task == b.task && a.step == b.step && a.writes != b.writes) {
      const Event& read = a.writes ? b : a;
      // An element is read and then written by the thread that owns it.
      if (read.at_own_index && *a.access == *b.access) {
        return;
      }
    }
    report(
        "{} {} {} while {} {} {}, with no edge between",
        a.task->name,
        a.writes ? "writes" : "reads",
        symbol(a.access->buffer),
        b.task->name,
        b.writes ? "writes" : "reads",
        symbol(b.access->buffer)
    );
  }

  void end_epoch() { settle(std::exchange(epoch_, {})); }

  /// Each block has met, but not the others.
  void end_epoch_of_blocks() {
    std::vector<Event> own;
    std::vector<Event> rest;
    for (const Event& event : epoch_) {
      (is_in_shared(schedule_.buffers[Index(event.access->buffer)]) ? own : rest).push_back(event);
    }
    epoch_ = std::move(rest);
    settle(own);
  }

  /// Checks what happened without order, and leaves its results in memory.
  void settle(const std::vector<Event>& epoch) {
    for (const Event& event : epoch) {
      if (!event.writes) {
        check_read(event);
      } else if (constants_.contains(event.access->buffer)) {
        report("{} writes the input {}", event.task->name, symbol(event.access->buffer));
      }
    }
    for (Index i = 0; i < epoch.size(); ++i) {
      for (Index j = i + 1; j < epoch.size(); ++j) {
        check_pair(epoch[i], epoch[j]);
      }
    }
    for (const Event& event : epoch) {
      if (!event.writes) {
        continue;
      }
      for (Index b = 0; b < memory_.size(); ++b) {
        if (overlap(event.access->buffer, static_cast<int>(b))) {
          memory_[b] = std::nullopt;
        }
      }
      memory_[Index(event.access->buffer)] = Content{event.value, event.step};
    }
  }

  const Program& program_;
  const Schedule& schedule_;
  std::vector<std::optional<Content>> memory_;
  std::map<int, ValueId> constants_;
  std::vector<Event> epoch_;
  std::vector<std::string> lines_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<std::string> find_hazards(const Program& program, const Schedule& schedule) {
  const ShadowedProgram shadowed =
      schedule.shadows.empty() ? without_shadows(program) : with_shadows(program);
  return Checker(shadowed.program, schedule).run();
}

}  // namespace whet
