#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/environment.hpp"
#include "harness/messages.hpp"
#include "ir/workload.hpp"

namespace whet {

/// A workload with the text that child programs parse again.
struct WorkloadChoice {
  std::string name;  ///< its own, or the suite entry's
  Workload workload;
  WorkloadSource source;
  std::string key;
};

/// "batch=32" … Throws UserError for another form, a bad number, or a name given twice.
DimOverrides parse_dims(const std::vector<std::string>& texts);

/// Loads `file`; a name without a slash that is not a file here is looked for among the shipped
/// workloads, with or without ".json". Throws UserError.
WorkloadChoice choose_workload(
    const std::string& file, const DimOverrides& dims, const Environment& environment
);

/// The entries of a suite, found as workloads are; `dims` go to every entry. Throws UserError.
std::vector<WorkloadChoice> choose_suite(
    const std::string& file, const DimOverrides& dims, const Environment& environment
);

}  // namespace whet
