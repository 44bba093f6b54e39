// Reports as comma-separated values.

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/tables.hpp"

namespace whet {

std::string to_csv(const std::vector<SessionReport>& reports) {
  std::string text =
      "workload,key,target,device,status,median_ns,samples,limit_ns,measured_per_limit,"
      "configuration,detail\n";
  for (const SessionReport& report : reports) {
    for (const Evaluation& evaluation : report.evaluations) {
      std::size_t num_samples = 0;
      for (const SampleBlock& block : evaluation.blocks) {
        num_samples += block.samples.size();
      }
      const auto time_ns = median_time_ns(evaluation);
      const auto limit = limit_ns(report, evaluation.configuration);
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{}\n",
          csv_field(report.workload),
          report.key,
          report.target,
          csv_field(report.device),
          status_name(evaluation.status),
          time_ns ? fmt::format("{}", *time_ns) : "",
          num_samples,
          limit ? fmt::format("{}", *limit) : "",
          limit && time_ns ? fmt::format("{}", *time_ns / *limit) : "",
          csv_field(to_text(evaluation.configuration)),
          csv_field(evaluation.detail)
      );
    }
  }
  return text;
}

}  // namespace whet
