// Tables for a terminal.

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

std::string describe_counts(const SessionReport& report) {
  std::string text;
  for (const auto& [status, count] : count_statuses(report.evaluations)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, status_name(status));
  }
  return text.empty() ? "none" : text;
}

/// How the first candidate failed that was compiled, so that a reader need not open the report.
std::string first_failure(const SessionReport& report) {
  for (const Evaluation& evaluation : report.evaluations) {
    if (evaluation.status != Status::Ok && evaluation.status != Status::ConstraintViolated) {
      const std::string line = evaluation.detail.substr(0, evaluation.detail.find('\n'));
      return fmt::format("{}: {}", status_name(evaluation.status), line);
    }
  }
  return "";
}

}  // namespace

std::string result_table(const SessionReport& report) {
  const Decision& decision = report.decision;
  std::string text = fmt::format("{} on {} ({})\n", report.workload, report.device, report.target);
  const auto row = [&text](const std::string& name, const std::string& value) {
    text += fmt::format("  {:<16} {}\n", name, value);
  };
  row("verdict", describe_verdict(decision));
  if (decision.winner) {
    row("winner", to_text(*decision.winner));
  }
  if (decision.time_ns) {
    row("time a step", format_summary(*decision.time_ns));
    row("limit", format_limit(winner_limit_ns(report), *decision.time_ns));
    for (const MeasuredBaseline& baseline : decision.baselines) {
      row(baseline.name,
          fmt::format(
              "{}  winner: {}",
              format_summary(baseline.time_ns),
              format_speedup(baseline.time_ns, *decision.time_ns)
          ));
    }
  }
  if (const std::string names = unsteady_names(decision); !names.empty()) {
    row("unsteady",
        names + ": fresh processes disagree; quote no ratio, measure again on an idle machine");
  }
  if (decision.tie_set.size() > 1) {
    row("ties",
        fmt::format("{} cannot be told apart from the winner", decision.tie_set.size() - 1));
  }
  row("candidates", describe_counts(report));
  if (const std::string failure = first_failure(report); !failure.empty()) {
    row("first failure", failure);
  }
  return text;
}

std::string suite_table(const std::vector<SessionReport>& reports) {
  std::size_t width = 8;
  for (const SessionReport& report : reports) {
    width = std::max(width, report.workload.size());
  }
  std::string text =
      fmt::format("{:<{}}  {:<13} time a step [interval]\n", "workload", width, "verdict");
  for (const SessionReport& report : reports) {
    const Decision& decision = report.decision;
    text += fmt::format(
        "{:<{}}  {:<13} {}",
        report.workload,
        width,
        verdict_name(decision.verdict),
        decision.time_ns ? format_summary(*decision.time_ns) : "–"
    );
    if (decision.time_ns) {
      for (const MeasuredBaseline& baseline : decision.baselines) {
        text += fmt::format(
            "  {} vs {}", format_speedup(baseline.time_ns, *decision.time_ns), baseline.name
        );
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace whet
