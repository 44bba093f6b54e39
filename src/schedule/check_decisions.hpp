#pragma once

#include "ir/program.hpp"
#include "schedule/hazards.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// The part of find_hazards() that needs no order of events: tiles cover their tasks, teams share
/// nothing, stores write whole values inside their buffers, and what is held, repeated or
/// prefetched belongs to whom it should.
void check_decisions(const Program& program, const Schedule& schedule, Hazards& hazards);

}  // namespace whet
