#pragma once

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/tune.hpp"
#include "cli/workload_choice.hpp"
#include "report/session_report.hpp"
#include "store/record_store.hpp"

namespace whet {

/// What tuning one workload gave.
struct TunedWorkload {
  SessionReport report;
  bool interrupted = false;
};

/// Runs one session of `whet tune`: begins or resumes it in the store, tunes, and shows progress on
/// standard error. Throws UserError for a bad budget or strategy.
TunedWorkload tune_workload(
    const TuneOptions& options,
    const WorkloadChoice& workload,
    const DeviceChoice& device,
    RecordStore& store,
    const Environment& environment
);

}  // namespace whet
