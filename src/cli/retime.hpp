#pragma once

#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet retime W`: stored winners and given configurations, timed block by block on request.
struct RetimeOptions {
  std::string workload;
  std::vector<std::string> dims;
  DeviceOptions device;
  std::string database;
  std::vector<std::string> configurations;  ///< "knob=value …" each; the rest has defaults
};

/// Compiles and validates, prints a line that says what there is to time, then answers each line of
/// standard input, which names one of them, with a line that holds a block of its samples
/// (docs/formats/blocks.md). Returns 0 when the input ends, 1 when there is nothing to time; throws
/// UserError for a name that there is not.
int run_retime(const RetimeOptions& options, const Environment& environment);

}  // namespace whet
