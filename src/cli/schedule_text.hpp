#pragma once

#include <string>

#include "model/limit.hpp"
#include "model/predict.hpp"
#include "schedule/schedule.hpp"
#include "schedule/task_path.hpp"

namespace whet {

/// "mm, add, relu: mma, operands direct: A by 8 along k, B by 8 rows; results by up to 4".
std::string describe_path(const TaskPath& path);

/// Phases, tasks, tiles, buffers and edges for `whet show --schedule`.
std::string describe_schedule(const Schedule& schedule);

/// What the model expects of a step: its parts, their sum, and the limit.
std::string describe_prediction(const Prediction& prediction, const Limit& limit);

}  // namespace whet
