#include "schedule/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "schedule/check_decisions.hpp"
#include "schedule/hazards.hpp"
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
class AbstractRun {
 public:
  /// `program` knows the schedule's shadows as state.
  AbstractRun(const Program& program, const Schedule& schedule, Hazards& hazards)
      : program_(program),
        schedule_(schedule),
        hazards_(hazards),
        memory_(schedule.buffers.size()) {}

  void run() {
    run_steps(false);  // a launch boundary between steps
    if (schedule_.steps_per_launch > 1) {
      run_steps(true);
    }
  }

 private:
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
        hazards_.report("steps of one launch are not ordered: the step edge is too narrow");
        end_epoch();
      }
    }
  }

  void constant(ValueId value, int argument) {
    const int buffer = argument_buffer(argument);
    if (buffer >= 0) {
      constants_[buffer] = value;
    }
    for (const PrefetchedInput& input : schedule_.prefetched) {
      if (input.input_buffer == buffer) {
        constants_[input.buffer] = value;
      }
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
        hazards_.report(
            "state {} does not hold its new value after a step", hazards_.name_of(state.before)
        );
      }
    }
    for (Index i = 0; i < program_.outputs.size(); ++i) {
      const int buffer = argument_buffer(first_output() + static_cast<int>(i));
      if (buffer < 0 || memory_[Index(buffer)] != Content{program_.outputs[i], step}) {
        hazards_.report(
            "output {} is not written in every step", hazards_.name_of(program_.outputs[i])
        );
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

  /// The launch before may still write all but what the caller promised; and which batch it is, if
  /// launches count.
  void check_stable(const Phase& first) {
    for (const Event& event : early_reads(first, 0)) {
      const Buffer& buffer = schedule_.buffers[Index(event.access->buffer)];
      const auto argument = Index(buffer.argument);
      if (schedule_.counts_batches) {
        hazards_.report(
            "{} reads {} before the launch before has counted", event.task->name, buffer.symbol
        );
      }
      if (buffer.storage != Storage::Argument || argument >= program_.inputs.size() ||
          !program_.inputs[argument].stable) {
        hazards_.report(
            "{} reads {} before the launch before has ended, and it is no stable input",
            event.task->name,
            buffer.symbol
        );
      }
    }
  }

  void check_read(const Event& event) {
    const int buffer = event.access->buffer;
    const auto constant = constants_.find(buffer);
    if (constant != constants_.end()) {
      if (constant->second != event.value) {
        hazards_.report(
            "{} reads {} as {}, but it is {}",
            event.task->name,
            hazards_.symbol(buffer),
            hazards_.name_of(event.value),
            hazards_.name_of(constant->second)
        );
      }
      return;
    }
    const std::optional<Content>& content = memory_[Index(buffer)];
    if (content != Content{event.value, event.step}) {
      hazards_.report(
          "{} reads {} from {}, which at that point may hold {}",
          event.task->name,
          hazards_.name_of(event.value),
          hazards_.symbol(buffer),
          !content ? "nothing ordered before"
          : content->step == event.step
              ? hazards_.name_of(content->value)
              : fmt::format("{} of an earlier step", hazards_.name_of(content->value))
      );
    }
  }

  void check_pair(const Event& a, const Event& b) {
    if (!(a.writes || b.writes) || !hazards_.overlap(a.access->buffer, b.access->buffer)) {
      return;
    }
    if (a.task == b.task && a.step == b.step && a.writes != b.writes) {
      const Event& read = a.writes ? b : a;
      // An element is read and then written by the thread that owns it.
      if (read.at_own_index && *a.access == *b.access) {
        return;
      }
    }
    hazards_.report(
        "{} {} {} while {} {} {}, with no edge between",
        a.task->name,
        a.writes ? "writes" : "reads",
        hazards_.symbol(a.access->buffer),
        b.task->name,
        b.writes ? "writes" : "reads",
        hazards_.symbol(b.access->buffer)
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
        hazards_.report(
            "{} writes the input {}", event.task->name, hazards_.symbol(event.access->buffer)
        );
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
        if (hazards_.overlap(event.access->buffer, static_cast<int>(b))) {
          memory_[b] = std::nullopt;
        }
      }
      memory_[Index(event.access->buffer)] = Content{event.value, event.step};
    }
  }

  const Program& program_;
  const Schedule& schedule_;
  Hazards& hazards_;
  std::vector<std::optional<Content>> memory_;
  std::map<int, ValueId> constants_;
  std::vector<Event> epoch_;
};

}  // namespace

std::vector<std::string> find_hazards(const Program& program, const Schedule& schedule) {
  const ShadowedProgram shadowed =
      schedule.shadows.empty() ? without_shadows(program) : with_shadows(program);
  Hazards hazards(shadowed.program, schedule);
  check_decisions(shadowed.program, schedule, hazards);
  AbstractRun(shadowed.program, schedule, hazards).run();
  return hazards.lines();
}

}  // namespace whet
