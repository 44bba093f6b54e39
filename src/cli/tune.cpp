#include "cli/tune.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/tuning_session.hpp"
#include "report/html.hpp"
#include "report/tables.hpp"
#include "tuner/budget.hpp"
#include "tuner/strategy.hpp"

namespace whet {
namespace {

constexpr int kInterrupted = 130;

/// What can be refused before anything is loaded or made.
void check_options(const TuneOptions& options) {
  parse_budget(options.budget);
  if (!options.strategy.empty()) {
    check_strategy(options.strategy);
  }
  if (!options.device.target.empty() &&
      parse_target(options.device.target) == Target::CudaEmulated) {
    throw UserError(
        "--target cuda-emulated: it checks CUDA kernels and is never timed, so there is nothing to "
        "tune; `whet evaluate W --target cuda-emulated` checks one configuration"
    );
  }
}

std::vector<WorkloadChoice> load_workloads(
    const TuneOptions& options, const Environment& environment
) {
  const DimOverrides dims = parse_dims(options.dims);
  std::vector<WorkloadChoice> choices;
  for (const std::string& file : options.workloads) {
    if (options.is_suite) {
      for (WorkloadChoice& entry : choose_suite(file, dims, environment)) {
        choices.push_back(std::move(entry));
      }
    } else {
      choices.push_back(choose_workload(file, dims, environment));
    }
  }
  return choices;
}

std::filesystem::path write_reports(
    const TuneOptions& options, const std::string& name, const std::vector<SessionReport>& reports
) {
  const std::filesystem::path folder = std::filesystem::absolute(options.report_folder);
  write_file_atomically(
      folder / (name + ".json"), report_document(name, reports, Samples::Kept).dump(1) + "\n"
  );
  write_file_atomically(folder / (name + ".html"), to_html("whet: " + name, reports));
  const std::filesystem::path page = folder / (name + ".md");
  write_file_atomically(page, to_markdown("whet: " + name, reports));
  return page;
}

void print_results(
    const TuneOptions& options,
    const std::string& name,
    const std::vector<SessionReport>& reports,
    const std::filesystem::path& page
) {
  if (options.json) {
    const Json document = reports.size() == 1 && !options.is_suite
                              ? result_document(reports.front(), Samples::Left)
                              : report_document(name, reports, Samples::Left);
    fmt::print("{}\n", document.dump(2));
    return;
  }
  for (const SessionReport& report : reports) {
    fmt::print("{}\n", result_table(report));
  }
  if (reports.size() > 1) {
    fmt::print("{}\n", suite_table(reports));
  }
  fmt::print("report: {}\n", page.string());
}

int exit_code_of(const std::vector<SessionReport>& reports, bool interrupted) {
  if (interrupted) {
    return kInterrupted;
  }
  const bool all_valid = std::ranges::none_of(reports, [](const SessionReport& report) {
    return report.decision.verdict == Verdict::NoValid;
  });
  return all_valid ? 0 : 1;
}

}  // namespace

int run_tune(const TuneOptions& options, const Environment& environment) {
  check_options(options);
  const std::vector<WorkloadChoice> workloads = load_workloads(options, environment);
  const DeviceChoice device = choose_present_device(options.device, environment);
  RecordStore store =
      RecordStore::open(database_path(environment, options.database), RecordStore::Mode::ReadWrite);
  const std::string name = std::filesystem::path(options.workloads.front()).stem().string();
  std::vector<SessionReport> reports;
  std::filesystem::path page;
  bool interrupted = false;
  int refusal = 0;
  for (std::size_t i = 0; i < workloads.size() && !interrupted; ++i) {
    try {
      TunedWorkload tuned = tune_workload(options, workloads[i], device, store, environment);
      interrupted = tuned.interrupted;
      reports.push_back(std::move(tuned.report));
      page = write_reports(options, name, reports);  // each time: a long run may be cut off
    } catch (const UserError& error) {
      // One bad workload of many costs its own result only.
      if (workloads.size() == 1) {
        throw;
      }
      fmt::print(stderr, "whet: {} is left out: {}\n", workloads[i].name, error.what());
      refusal = error.exit_code();
    }
  }
  if (!reports.empty()) {
    print_results(options, name, reports, page);
  }
  return refusal != 0 && !interrupted ? refusal : exit_code_of(reports, interrupted);
}

}  // namespace whet
