// Failures, candidates and raw samples, as a page shows them.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/html_table.hpp"
#include "report/markup.hpp"
#include "report/published_series.hpp"

namespace whet {
namespace {

/// The first line; the whole text can be opened where there is more.
std::string detail_markup(const std::string& detail) {
  const std::size_t end = detail.find('\n');
  const std::string line = escape_markup(detail.substr(0, end));
  if (end == std::string::npos || end + 1 == detail.size()) {
    return line;
  }
  return fmt::format(
      "<details><summary>{}</summary>\n<pre>{}</pre></details>", line, escape_markup(detail)
  );
}

/// What the candidate has other than the default; the default itself in whole.
std::string configuration_cell(const SessionReport& report, const Evaluation& evaluation) {
  const auto& defaults = report.evaluations.front().configuration.values;
  if (evaluation.configuration.values == defaults) {
    return fmt::format(
        "<code>{}</code> (default)", escape_markup(to_text(evaluation.configuration))
    );
  }
  Configuration difference;
  std::ranges::set_difference(
      evaluation.configuration.values,
      defaults,
      std::inserter(difference.values, difference.values.end())
  );
  return fmt::format("<code>{}</code>", escape_markup(to_text(difference)));
}

std::string candidates_table(const SessionReport& report) {
  HtmlTable table(
      "All candidates in the order of the search",
      {{"candidate", true},
       {"status"},
       {"screening median", true},
       {"worst error / limit", true},
       {"deterministic"},
       {"configuration, where it differs from the default"},
       {"detail"}}
  );
  for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
    const Evaluation& evaluation = report.evaluations[i];
    const auto time_ns = median_time_ns(evaluation, "screen");
    const auto& worst = evaluation.worst;
    table.row(
        {fmt::format("{}", i + 1),
         std::string(status_name(evaluation.status)),
         time_ns ? format_time(*time_ns) : "–",
         worst ? fmt::format("{:.2g} / {:.2g}", worst->error, worst->limit) : "–",
         evaluation.status == Status::Ok ? (evaluation.deterministic ? "yes" : "no") : "–",
         configuration_cell(report, evaluation),
         detail_markup(evaluation.detail)}
    );
  }
  return table.markup();
}

/// Of a block's readings that were taken, "1980" or "1965–1980".
std::string range_cell(const SampleBlock& block, double Sample::*reading) {
  std::set<double> values;
  for (const Sample& sample : block.samples) {
    if (sample.*reading != 0.0) {
      values.insert(sample.*reading);
    }
  }
  if (values.empty()) {
    return "–";
  }
  const std::string low = fmt::format("{:.0f}", *values.begin());
  const std::string high = fmt::format("{:.0f}", *values.rbegin());
  return low == high ? low : low + "–" + high;
}

void add_block(HtmlTable& table, const std::string& name, const SampleBlock& block) {
  std::string samples;
  for (const Sample& sample : block.samples) {
    samples += fmt::format("{}{:.7g}", samples.empty() ? "" : " ", sample.time_ns);
  }
  table.row(
      {escape_markup(name),
       escape_markup(block.purpose),
       fmt::format("{}", block.process),
       fmt::format("{}", block.block),
       block.num_steps > 0 ? fmt::format("{}", block.num_steps) : "–",
       range_cell(block, &Sample::clock_mhz),
       range_cell(block, &Sample::temperature_c),
       fmt::format("{}", std::ranges::count_if(block.samples, &Sample::throttled)),
       samples}
  );
}

std::string samples_table(const SessionReport& report) {
  HtmlTable table(
      "Raw samples by block",
      {{"candidate or peer"},
       {"purpose"},
       {"process", true},
       {"block", true},
       {"steps a sample", true},
       {"clock, MHz", true},
       {"temperature, °C", true},
       {"throttled", true},
       {"time a step of each sample, ns"}}
  );
  for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
    for (const SampleBlock& block : report.evaluations[i].blocks) {
      add_block(table, fmt::format("{}", i + 1), block);
    }
  }
  for (const auto& [name, block] : peer_blocks(report.decision)) {
    add_block(table, name, block);
  }
  return table.markup();
}

}  // namespace

std::string failures_section(const SessionReport& report) {
  HtmlTable table(
      "Candidates that are not valid, by how they ended",
      {{"status"}, {"candidates", true}, {"first", true}, {"its detail"}}
  );
  bool has_any = false;
  for (const auto& [status, count] : count_statuses(report.evaluations)) {
    if (status == Status::Ok) {
      continue;
    }
    has_any = true;
    const auto first = std::ranges::find(report.evaluations, status, &Evaluation::status);
    table.row(
        {std::string(status_name(status)),
         fmt::format("{}", count),
         fmt::format("{}", first - report.evaluations.begin() + 1),
         detail_markup(first->detail)}
    );
  }
  return "<h3>Failures</h3>\n" +
         (has_any ? table.markup()
                  : fmt::format(
                        "<p class=\"empty\">None: {} of {} candidates were valid.</p>\n",
                        report.evaluations.size(),
                        report.evaluations.size()
                    ));
}

std::string evidence_section(const SessionReport& report) {
  if (report.evaluations.empty()) {
    return "";
  }
  return fmt::format(
      "<details><summary>All {} candidates</summary>\n{}</details>\n"
      "<details><summary>Raw samples</summary>\n<p class=\"note\">To seven digits; "
      "<code>whet report --format json</code> has them in full.</p>\n{}</details>\n",
      report.evaluations.size(),
      candidates_table(report),
      samples_table(report)
  );
}

}  // namespace whet
