#pragma once

#include <sys/types.h>

#include <vector>

namespace whet {

/// The processes below `root`, children before grandchildren, as /proc shows them now.
std::vector<pid_t> descendants_of(pid_t root);

/// Ends every process below `root`, but not `root` itself, whatever process group it is in: a
/// compiler driver's own children sit in its group, which dies with the driver only if it is asked
/// to. They are stopped first, so that none can start another meanwhile. Does not wait.
void kill_descendants(pid_t root) noexcept;

}  // namespace whet
