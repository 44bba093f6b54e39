#pragma once

#include "model/tile_cost.hpp"

namespace whet {

/// tile_cost on the CPU target: a tile is one core's. Source: the loops of codegen/device/cpu.
TileCost host_tile_cost(const Task& task, const Schedule& schedule, const DeviceCosts& costs);

}  // namespace whet
