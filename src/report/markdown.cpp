// Reports as a Markdown page.

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

std::string overview(const std::vector<SessionReport>& reports) {
  std::string text =
      "| workload | target | device | verdict | time a step [interval] | limit | measured / limit "
      "| beside "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const SessionReport& report : reports) {
    const Decision& decision = report.decision;
    const std::optional<double> limit = winner_limit_ns(report);
    std::string beside;
    for (const MeasuredBaseline& baseline : decision.baselines) {
      beside += fmt::format(
          "{}{} {}", beside.empty() ? "" : "; ", baseline.name, format_summary(baseline.time_ns)
      );
      if (decision.time_ns) {
        beside += fmt::format(" ({})", format_speedup(baseline.time_ns, *decision.time_ns));
      }
    }
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
        markdown_cell(report.workload),
        report.target,
        markdown_cell(report.device),
        verdict_name(decision.verdict),
        decision.time_ns ? format_summary(*decision.time_ns) : "–",
        limit ? format_time(*limit) : "–",
        limit && decision.time_ns ? fmt::format("{:.1f}", decision.time_ns->median / *limit) : "–",
        markdown_cell(beside)
    );
  }
  return text;
}

/// Valid candidates by time, then the others as they came.
std::vector<const Evaluation*> in_order(const std::vector<Evaluation>& evaluations) {
  std::vector<const Evaluation*> order;
  for (const Evaluation& evaluation : evaluations) {
    order.push_back(&evaluation);
  }
  const auto rank = [](const Evaluation* evaluation) {
    const auto time_ns = median_time_ns(*evaluation, "screen");
    return std::pair(evaluation->status, time_ns.value_or(0.0));
  };
  std::ranges::stable_sort(order, {}, rank);
  return order;
}

std::string candidates(const SessionReport& report) {
  std::string text =
      "| status | screening median | samples | worst error / limit | deterministic | configuration "
      "| detail |\n|---|---|---|---|---|---|---|\n";
  for (const Evaluation* evaluation : in_order(report.evaluations)) {
    std::size_t num_samples = 0;
    for (const SampleBlock& block : evaluation->blocks) {
      num_samples += block.samples.size();
    }
    const auto time_ns = median_time_ns(*evaluation, "screen");
    const auto& worst = evaluation->worst;
    text += fmt::format(
        "| {} | {} | {} | {} | {} | `{}` | {} |\n",
        status_name(evaluation->status),
        time_ns ? format_time(*time_ns) : "–",
        num_samples,
        worst ? fmt::format("{:.2g} / {:.2g}", worst->error, worst->limit) : "–",
        evaluation->status == Status::Ok ? (evaluation->deterministic ? "yes" : "no") : "–",
        to_text(evaluation->configuration),
        markdown_cell(evaluation->detail.substr(0, evaluation->detail.find('\n')))
    );
  }
  return text;
}

std::string section(const SessionReport& report) {
  const Decision& decision = report.decision;
  std::string text = fmt::format("\n## {}\n\n", markdown_cell(report.workload));
  text += fmt::format("- key: `{}`\n- budget: {}\n", report.key, report.budget);
  for (const auto& [name, value] : report.environment) {
    text += fmt::format("- {}: {}\n", name, markdown_cell(value));
  }
  if (decision.winner) {
    text += fmt::format(
        "- winner: `{}`, {} steps a launch\n", to_text(*decision.winner), decision.steps_per_launch
    );
  }
  text += fmt::format("- decision: `{}`\n\n", detail_without_samples(decision).dump());
  return text + candidates(report);
}

}  // namespace

std::string to_markdown(const std::string& title, const std::vector<SessionReport>& reports) {
  std::string text = fmt::format("# {}\n\n{}", markdown_cell(title), overview(reports));
  text +=
      "\nTimes are a step, as median and interval. Screening medians order candidates; they "
      "decide nothing. A limit is what no schedule can beat by the costs of the device; without "
      "those, "
      "`–`.\n";
  for (const SessionReport& report : reports) {
    text += section(report);
  }
  return text;
}

}  // namespace whet
