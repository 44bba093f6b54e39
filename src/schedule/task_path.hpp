#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace whet {

/// Which way the ops of a task take, for those who ask why it is slow.
struct TaskPath {
  std::string task;    ///< "mm1"
  std::string ops;     ///< "mm, add, relu": the ops that it computes
  std::string engine;  ///< "mma", "simt"; "vectors" on the CPU target
  std::string path;    ///< "operands direct: A by 8 along k, B by 8 rows; results by up to 4"
  std::vector<std::string> slower;  ///< what stands against each faster way

  bool operator==(const TaskPath&) const = default;
};

/// One entry a task, in the order of the phases.
std::vector<TaskPath> task_paths(const Schedule& schedule);

}  // namespace whet
