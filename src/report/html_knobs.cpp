// What each knob brought, as a page shows it.

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/html_table.hpp"
#include "report/knob_report.hpp"
#include "report/markup.hpp"

namespace whet {
namespace {

/// A bar beside its number, which alone is read aloud.
std::string cost_cell(const std::optional<double>& cost) {
  if (!cost) {
    return "too few";
  }
  constexpr double kLongest = 80.0;  // px, of a default that takes twice the best's time or more
  const double length = std::max(1.0, kLongest * std::min(*cost, 1.0));
  return fmt::format(
      "<span class=\"cost\"><svg class=\"bar\" aria-hidden=\"true\" width=\"{0:.0f}\" "
      "height=\"10\"><rect "
      "width=\"{0:.0f}\" height=\"10\"/></svg> {1:+.1f} %</span>",
      length,
      100.0 * *cost
  );
}

std::string value_item(const KnobSummary& knob, const KnobValue& value, double best_ns) {
  const std::string name =
      escape_markup(value.value) + (value.value == knob.default_value ? " (default)" : "");
  if (!value.best_ns) {
    return fmt::format("<li class=\"few\">{}: too few ({})</li>", name, value.num_ok);
  }
  return fmt::format(
      "<li{}>{}: {} <small>{:+.1f} %, {} valid</small></li>",
      *value.best_ns == best_ns ? " class=\"best\"" : "",
      name,
      format_time(*value.best_ns),
      100.0 * (*value.best_ns / best_ns - 1.0),
      value.num_ok
  );
}

/// Knobs that had one value only.
std::string fixed_knobs(const std::vector<KnobSummary>& knobs) {
  std::string text;
  for (const KnobSummary& knob : knobs) {
    if (knob.values.size() == 1) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", knob.knob, knob.default_value);
    }
  }
  return text.empty() ? ""
                      : fmt::format(
                            "<p class=\"note\">Of one value in all valid candidates: "
                            "<code>{}</code></p>\n",
                            escape_markup(text)
                        );
}

}  // namespace

std::string knobs_section(const SessionReport& report) {
  KnobReport knobs = knob_report(report);
  if (!knobs.best_ns) {
    return "";
  }
  std::ranges::stable_sort(knobs.knobs, std::ranges::greater(), [](const KnobSummary& knob) {
    return knob.default_cost.value_or(-1.0);
  });
  HtmlTable table(
      "Best screening median by value of each knob",
      {{"knob"}, {"cost of the default"}, {"best by value, and over the best of all"}}
  );
  for (const KnobSummary& knob : knobs.knobs) {
    if (knob.values.size() == 1) {
      continue;
    }
    std::string values;
    for (const KnobValue& value : knob.values) {
      values += value_item(knob, value, *knobs.best_ns);
    }
    table.row(
        {escape_markup(knob.knob),
         cost_cell(knob.default_cost),
         "<ul class=\"values\">" + values + "</ul>"}
    );
  }
  return fmt::format(
      "<h3>Knobs</h3>\n<p class=\"note\">The best screening median of the valid candidates with "
      "each value, beside {}, the best of all {}. Candidates were not drawn for these comparisons: "
      "a small difference is noise.</p>\n{}{}",
      format_time(*knobs.best_ns),
      knobs.num_ok,
      table.markup(),
      fixed_knobs(knobs.knobs)
  );
}

}  // namespace whet
