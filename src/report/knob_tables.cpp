#include "report/knob_tables.hpp"

#include <fmt/format.h>

#include "report/format.hpp"

namespace whet {
namespace {

std::string best_cell(const KnobValue& value) {
  return value.best_ns ? format_time(*value.best_ns) : fmt::format("too few ({})", value.num_ok);
}

/// What keeping the default costs; of its row only.
std::string cost_cell(const KnobSummary& knob, const KnobValue& value) {
  if (value.value != knob.default_value) {
    return "";
  }
  return knob.default_cost ? fmt::format("{:+.1f} %", 100.0 * *knob.default_cost)
                           : fmt::format("too few ({})", value.num_ok);
}

std::string value_cell(const KnobSummary& knob, const KnobValue& value) {
  return value.value + (value.value == knob.default_value ? " (default)" : "");
}

std::string best_of_all(const KnobReport& report) {
  return fmt::format(
      "best {} of {} valid candidates",
      report.best_ns ? format_time(*report.best_ns) : "none",
      report.num_ok
  );
}

}  // namespace

std::string knobs_text(const std::vector<KnobReport>& reports) {
  std::string text;
  for (const KnobReport& report : reports) {
    text += fmt::format(
        "{} on {} ({}): {}\n", report.workload, report.device, report.target, best_of_all(report)
    );
    text += fmt::format(
        "  {:<18} {:<20} {:>5}  {:<14} {}\n", "knob", "value", "valid", "best", "cost of default"
    );
    for (const KnobSummary& knob : report.knobs) {
      for (const KnobValue& value : knob.values) {
        std::string line = fmt::format(
            "  {:<18} {:<20} {:>5}  {:<14} {}",
            knob.knob,
            value_cell(knob, value),
            value.num_ok,
            best_cell(value),
            cost_cell(knob, value)
        );
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      }
    }
  }
  return text;
}

std::string knobs_markdown(const std::vector<KnobReport>& reports) {
  std::string text =
      "# whet: what each knob brought\n\nThe best screening median of the valid candidates with "
      "each value; the cost of a default is the best time with it over the best of all, minus 1. "
      "Candidates were not drawn for these comparisons: a small difference is noise.\n";
  for (const KnobReport& report : reports) {
    text += fmt::format(
        "\n## {}\n\n{}, {}: {}.\n\n| knob | value | valid | best | cost of default |\n"
        "|---|---|---|---|---|\n",
        markdown_cell(report.workload),
        markdown_cell(report.device),
        report.target,
        best_of_all(report)
    );
    for (const KnobSummary& knob : report.knobs) {
      for (const KnobValue& value : knob.values) {
        text += fmt::format(
            "| {} | {} | {} | {} | {} |\n",
            knob.knob,
            value_cell(knob, value),
            value.num_ok,
            best_cell(value),
            cost_cell(knob, value)
        );
      }
    }
  }
  return text;
}

std::string knobs_csv(const std::vector<KnobReport>& reports) {
  std::string text =
      "workload,key,target,device,knob,value,is_default,num_ok,best_ns,default_cost\n";
  for (const KnobReport& report : reports) {
    for (const KnobSummary& knob : report.knobs) {
      for (const KnobValue& value : knob.values) {
        const bool is_default = value.value == knob.default_value;
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{}\n",
            csv_field(report.workload),
            report.key,
            report.target,
            csv_field(report.device),
            csv_field(knob.knob),
            csv_field(value.value),
            is_default,
            value.num_ok,
            value.best_ns ? fmt::format("{}", *value.best_ns) : "",
            is_default && knob.default_cost ? fmt::format("{}", *knob.default_cost) : ""
        );
      }
    }
  }
  return text;
}

}  // namespace whet
