#pragma once

#include <atomic>

namespace whet {

/// True once Ctrl-C or SIGTERM came; installs the handlers on the first call. A second signal ends
/// the program at once: children die with it, and what was committed stays.
const std::atomic<bool>& watch_interruption();

}  // namespace whet
