#include "cli/report.hpp"

#include <cstdio>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_parse.hpp"
#include "cli/session_model.hpp"
#include "cli/workload_choice.hpp"
#include "report/html.hpp"
#include "report/knob_tables.hpp"
#include "report/ranking.hpp"
#include "report/read_report.hpp"
#include "report/stored_sessions.hpp"
#include "report/tables.hpp"
#include "schedule/search_space.hpp"

namespace whet {
namespace {

constexpr const char* kTitle = "whet: tuned workloads";

/// Throws UserError.
[[noreturn]] void refuse_format(const std::string& expected, const std::string& format) {
  throw UserError(fmt::format("--format: expected {}, found '{}'", expected, format));
}

std::string render_knobs(const std::string& format, const std::vector<SessionReport>& sessions) {
  std::vector<KnobReport> reports;
  for (const SessionReport& session : sessions) {
    reports.push_back(knob_report(session));
  }
  if (format == "text") {
    return knobs_text(reports);
  }
  if (format == "markdown") {
    return knobs_markdown(reports);
  }
  if (format == "csv") {
    return knobs_csv(reports);
  }
  if (format == "json") {
    return knobs_document(reports).dump(2) + "\n";
  }
  refuse_format("text, markdown, csv or json with --knobs", format);
}

std::string render(const std::string& format, const std::vector<SessionReport>& reports) {
  if (format == "text") {
    return suite_table(reports);
  }
  if (format == "markdown") {
    return to_markdown(kTitle, reports);
  }
  if (format == "csv") {
    return to_csv(reports);
  }
  if (format == "json") {
    return report_document(kTitle, reports, Samples::Kept).dump(2) + "\n";
  }
  if (format == "html") {
    return to_html(kTitle, reports);
  }
  refuse_format("text, markdown, csv, json or html", format);
}

int report_sessions(
    const std::string& format,
    const RecordStore& store,
    const SessionFilter& filter,
    const std::optional<Program>& program,
    const Environment& environment
) {
  std::vector<SessionReport> reports;
  for (const SessionRecord& session : newest_sessions(store, filter)) {
    std::optional<SessionReport> report = stored_session(store, session);
    if (!report) {
      continue;
    }
    const auto model = session_model(session.info, program, environment);
    if (const auto* inputs = std::get_if<ModelInputs>(&model)) {
      add_limits(*report, inputs->program, inputs->limits, inputs->costs);
    }
    reports.push_back(std::move(*report));
  }
  fmt::print("{}", render(format, reports));
  return reports.empty() ? 1 : 0;
}

int report_knobs(const std::string& format, const std::vector<SessionReport>& reports) {
  fmt::print("{}", render_knobs(format, reports));
  return reports.empty() ? 1 : 0;
}

int report_file(const ReportOptions& options, const std::string& key) {
  std::vector<SessionReport> reports =
      read_report(parse_json(read_file(options.from), options.from), options.from);
  if (!key.empty()) {
    std::erase_if(reports, [&](const SessionReport& report) { return report.key != key; });
  }
  if (options.knobs) {
    return report_knobs(options.format, reports);
  }
  fmt::print("{}", render(options.format, reports));
  return reports.empty() ? 1 : 0;
}

/// Valid candidates with their screening medians; those of another generator's space are left out.
std::vector<RankedTime> ranked_times(
    const RecordStore& store, SessionId session, const ModelInputs& inputs
) {
  const SearchSpace space(inputs.program, inputs.limits);
  std::vector<RankedTime> times;
  for (const EvaluationRecord& record : store.evaluations(session)) {
    const Evaluation& evaluation = record.evaluation;
    const std::optional<double> measured = median_time_ns(evaluation, "screen");
    if (evaluation.status != Status::Ok || !measured ||
        space.why_not_member(evaluation.configuration)) {
      continue;
    }
    if (const auto predicted = predicted_ns(inputs, evaluation.configuration)) {
      times.push_back({.measured_ns = *measured, .predicted_ns = *predicted});
    }
  }
  return times;
}

SessionRanking rank_session(
    const RecordStore& store,
    const SessionRecord& session,
    const std::optional<Program>& program,
    const Environment& environment
) {
  SessionRanking ranking{
      .workload = session.info.workload_name,
      .device = session.info.device_name,
      .ranking = {},
      .problem = ""};
  const auto model = session_model(session.info, program, environment);
  if (const auto* problem = std::get_if<std::string>(&model)) {
    ranking.problem = *problem;
    return ranking;
  }
  const std::vector<RankedTime> times =
      ranked_times(store, session.id, std::get<ModelInputs>(model));
  if (static_cast<std::int64_t>(times.size()) < kMinRanked) {
    ranking.problem =
        fmt::format("{} candidates of this generator's space, {} needed", times.size(), kMinRanked);
  } else {
    ranking.ranking = rank(times);
  }
  return ranking;
}

int report_rankings(
    const RecordStore& store,
    const SessionFilter& filter,
    const std::optional<Program>& program,
    const Environment& environment
) {
  std::vector<SessionRanking> rankings;
  for (const SessionRecord& session : store.sessions(filter)) {
    rankings.push_back(rank_session(store, session, program, environment));
  }
  fmt::print("{}", ranking_table(rankings));
  return rankings.empty() ? 1 : 0;
}

}  // namespace

int run_report(const ReportOptions& options, const Environment& environment) {
  SessionFilter filter;
  std::optional<Program> program;
  if (!options.workload.empty()) {
    WorkloadChoice choice =
        choose_workload(options.workload, parse_dims(options.dims), environment);
    filter.workload_key = choice.key;
    program = std::move(choice.workload.step);
  }
  if (!options.from.empty()) {
    return report_file(options, filter.workload_key);
  }
  const RecordStore store =
      RecordStore::open(database_path(environment, options.database), RecordStore::Mode::ReadOnly);
  if (options.knobs) {
    return report_knobs(options.format, stored_sessions(store, filter));
  }
  return options.ranking ? report_rankings(store, filter, program, environment)
                         : report_sessions(options.format, store, filter, program, environment);
}

}  // namespace whet
