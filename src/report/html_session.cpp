// What a page says of one session.

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/markup.hpp"
#include "report/published_series.hpp"
#include "report/session_figures.hpp"

namespace whet {
namespace {

/// Terms with what they mean here.
class Facts {
 public:
  void add(const std::string& name, const std::string& value) {
    add_markup(name, escape_markup(value));
  }
  void add_markup(const std::string& name, const std::string& value) {
    list_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), value);
  }
  std::string markup() const { return "<dl>\n" + list_ + "</dl>\n"; }

 private:
  std::string list_;
};

/// All knobs; those that differ from the default's stand out.
std::string configuration_markup(const Configuration& configuration, const SessionReport& report) {
  std::string markup;
  for (const auto& [knob, value] : configuration.values) {
    bool differs = false;
    if (!report.evaluations.empty()) {
      const auto& defaults = report.evaluations.front().configuration.values;
      const auto found = defaults.find(knob);
      differs = found == defaults.end() || found->second != value;
    }
    const std::string pair = escape_markup(knob + "=" + value);
    markup += fmt::format(
        "{}{}", markup.empty() ? "" : " ", differs ? "<strong>" + pair + "</strong>" : pair
    );
  }
  return "<code>" + markup + "</code>";
}

std::string outcome(const SessionReport& report) {
  const Decision& decision = report.decision;
  Facts facts;
  facts.add("verdict", describe_verdict(decision));
  if (decision.winner) {
    facts.add_markup("winner", configuration_markup(*decision.winner, report));
    facts.add("steps a launch", fmt::format("{}", decision.steps_per_launch));
  }
  if (decision.time_ns) {
    facts.add("time a step", format_summary(*decision.time_ns));
    facts.add("limit", format_limit(winner_limit_ns(report), *decision.time_ns));
    for (const MeasuredBaseline& baseline : decision.baselines) {
      facts.add(
          baseline.name,
          fmt::format(
              "{}, winner: {}",
              format_summary(baseline.time_ns),
              format_speedup(baseline.time_ns, *decision.time_ns)
          )
      );
    }
  }
  if (const std::string names = unsteady_names(decision); !names.empty()) {
    facts.add(
        "unsteady",
        names + ": fresh processes disagree; quote no ratio, measure again on an idle machine"
    );
  }
  if (decision.tie_set.size() > 1) {
    facts.add(
        "ties", fmt::format("{} cannot be told apart from the winner", decision.tie_set.size() - 1)
    );
  }
  return facts.markup();
}

std::string figure(const std::string& drawing, const std::string& caption) {
  return fmt::format(
      "<figure>\n<div class=\"scroll\">{}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
      drawing,
      caption
  );
}

std::string distributions(const std::string& id, const SessionReport& report) {
  const std::vector<PublishedSeries> all = published_series(report);
  if (all.empty()) {
    return "<h3>Times</h3>\n<p class=\"empty\">Nothing was measured after the choice.</p>\n";
  }
  std::string panels;
  for (std::size_t i = 0; i < all.size(); ++i) {
    panels += samples_figure(fmt::format("{}-samples-{}", id, i + 1), all[i]);
  }
  return "<h3>Times</h3>\n" +
         figure(
             times_figure(id + "-times", all),
             "Pale band: published interval. Box: quartiles of all samples; line: 5 to 95 % of "
             "them. Dots: the median of each process."
         ) +
         "<figure>\n<div class=\"panels\">\n" + panels +
         "</div>\n<figcaption>Every sample, each panel on its own axis. A row is a process, its "
         "samples from top to bottom as they were taken; the bar is its median, the band the "
         "published interval. The farthest 2 % of samples at each side stand at the ends of the "
         "axis "
         "where they lie beyond it.</figcaption>\n</figure>\n";
}

std::string search(const std::string& id, const SessionReport& report) {
  const std::string drawing = search_figure(id + "-search", report);
  if (drawing.empty()) {
    return "<h3>Search</h3>\n<p class=\"empty\">No candidate was timed.</p>\n";
  }
  return "<h3>Search</h3>\n" +
         figure(
             drawing,
             "Screening orders candidates; the winner is chosen among the fastest from fresh "
             "processes, so it need not be the fastest here."
         );
}

/// "1965 to 1980 MHz", "1980 MHz"; nothing where it was not read.
std::string describe_range(std::vector<double> values, const std::string& unit) {
  std::erase(values, 0.0);
  if (values.empty()) {
    return "";
  }
  const auto [least, most] = std::ranges::minmax(values);
  const std::string low = fmt::format("{:.0f}", least);
  const std::string high = fmt::format("{:.0f}", most);
  return low == high ? high + " " + unit : low + " to " + high + " " + unit;
}

/// Clocks and temperatures of our published samples, where the device says.
void add_conditions(Facts& facts, const SessionReport& report) {
  std::vector<double> clocks;
  std::vector<double> temperatures;
  std::int64_t num_throttled = 0;
  for (const PublishedSeries& series : published_series(report)) {
    for (const SampleBlock& block : series.blocks) {
      for (const Sample& sample : block.samples) {
        clocks.push_back(sample.clock_mhz);
        temperatures.push_back(sample.temperature_c);
        num_throttled += sample.throttled ? 1 : 0;
      }
    }
  }
  if (const std::string clock = describe_range(clocks, "MHz"); !clock.empty()) {
    facts.add("clock", clock);
    facts.add("throttled samples", fmt::format("{}", num_throttled));
  }
  if (const std::string temperature = describe_range(temperatures, "°C"); !temperature.empty()) {
    facts.add("temperature", temperature);
  }
}

std::string environment(const SessionReport& report) {
  const Json detail = detail_without_samples(report.decision);
  Facts facts;
  facts.add("device", report.device);
  facts.add("target", report.target);
  facts.add_markup("workload key", "<code>" + escape_markup(report.key) + "</code>");
  facts.add("budget", report.budget);
  for (const auto& [name, value] : report.environment) {
    facts.add(name, value);
  }
  add_conditions(facts, report);
  if (detail.contains("alpha") && detail["alpha"].is_number()) {
    facts.add(
        "confidence of intervals",
        fmt::format("{:g} %", 100.0 * (1.0 - detail["alpha"].get<double>()))
    );
  }
  return "<h3>Environment</h3>\n" + facts.markup() +
         fmt::format(
             "<details><summary>Figures behind the verdict</summary>\n<pre>{}</pre></details>\n",
             escape_markup(detail.dump(2, ' ', false, Json::error_handler_t::replace))
         );
}

}  // namespace

std::string session_section(const std::string& id, const SessionReport& report) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", id, escape_markup(report.workload)) +
         outcome(report) + distributions(id, report) + search(id, report) + knobs_section(report) +
         failures_section(report) + environment(report) + evidence_section(report) + "</section>\n";
}

}  // namespace whet
