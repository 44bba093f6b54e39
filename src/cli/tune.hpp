#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet tune W…` and `whet suite S`: search, select and store for each workload.
struct TuneOptions {
  std::vector<std::string> workloads;  ///< files; one suite file if `is_suite`
  bool is_suite = false;
  std::vector<std::string> dims;
  DeviceOptions device;
  std::string budget = "60";
  std::string strategy;  ///< empty: model on a GPU whose costs are known, else random
  std::uint64_t seed = 0;
  std::string database;
  std::string report_folder = "whet-report";
  bool resume = false;
  bool json = false;
};

/// Prints a result table, or one JSON document, and writes a report. Returns 0 when every workload
/// has a valid configuration, 1 when one has none, 130 when interrupted, with all finished work
/// stored.
int run_tune(const TuneOptions& options, const Environment& environment);

}  // namespace whet
