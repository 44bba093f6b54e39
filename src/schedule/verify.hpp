#pragma once

#include <string>
#include <vector>

#include "ir/program.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// Proves, from accesses and edges alone and sharing nothing with the resolver, that over three
/// steps and a launch boundary every load sees the Program value that it names, that no two
/// unordered accesses conflict, and that every byte of an arena is dead before it is reused.
/// Returns one line a violation, each our bug: task, buffer, what was expected and what it may see.
std::vector<std::string> find_hazards(const Program& program, const Schedule& schedule);

}  // namespace whet
