// whet: the command line. The one unit that knows CLI11: it fills the option struct of a
// subcommand, runs it, and turns an Error into an exit code.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/suggestion.hpp"
#include "cli/best.hpp"
#include "cli/calibrate.hpp"
#include "cli/compare.hpp"
#include "cli/db_check.hpp"
#include "cli/doctor.hpp"
#include "cli/environment.hpp"
#include "cli/evaluate.hpp"
#include "cli/noise.hpp"
#include "cli/replay.hpp"
#include "cli/report.hpp"
#include "cli/retime.hpp"
#include "cli/show.hpp"
#include "cli/tune.hpp"

namespace whet {
namespace {

constexpr int kUserError = 2;
constexpr int kOurBug = 70;

/// What the chosen subcommand does, once the arguments are parsed.
using Command = std::function<int()>;

/// Everything that parsing fills. Lives as long as the parser.
struct Arguments {
  Environment environment = read_environment();
  Command command;
  BestOptions best;
  CalibrateOptions calibrate;
  CompareOptions compare;
  bool calibrates = false;   ///< doctor
  bool tests_noise = false;  ///< doctor
  DbCheckOptions db_check;
  DoctorOptions doctor;
  EvaluateOptions evaluate;
  NoiseOptions noise;
  ReplayOptions replay;
  ReportOptions report;
  RetimeOptions retime;
  ShowOptions show;
  TuneOptions suite;
  TuneOptions tune;
};

void add_device(CLI::App& app, DeviceOptions& device) {
  app.add_option("--target", device.target, "cpu, cuda or cuda-emulated (default cpu)");
  app.add_option("--device", device.device, "a GPU: ordinal, UUID, a name such as h200, or a file");
  app.add_option("--threads", device.num_threads, "threads of the CPU target (default: all cores)")
      ->check(CLI::PositiveNumber);
  Restriction& restriction = device.restriction;
  app.add_option(
      "--feature-level",
      restriction.feature_level,
      "80, 90 or 100: the GPU as a stand-in for one with fewer instructions"
  );
  app.add_option("--sms", restriction.num_sms, "or with fewer multiprocessors");
  app.add_option(
      "--shared-bytes", restriction.shared_bytes_per_block, "or with less shared memory a block"
  );
}

void add_dims(CLI::App& app, std::vector<std::string>& dims) {
  app.add_option("--dim", dims, "name=value: replaces a dimension of the file")
      ->allow_extra_args(false);
}

void add_workload(CLI::App& app, std::string& workload, std::vector<std::string>& dims) {
  app.add_option("workload", workload, "workload file, or the name of a shipped one")->required();
  add_dims(app, dims);
}

void add_database(CLI::App& app, std::string& database) {
  app.add_option("--db", database, "database of records (default: WHET_DB, else in the home)");
}

/// --set may be repeated and each may hold several pairs.
void add_set(CLI::App& app, std::string& configuration) {
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&configuration](const std::vector<std::string>& pairs) {
           for (const std::string& pair : pairs) {
             configuration += pair + " ";
           }
         },
         "\"knob=value …\": the rest has defaults"
  )
      ->allow_extra_args(false);
}

void add_show(CLI::App& app, Arguments& arguments) {
  CLI::App& show =
      *app.add_subcommand("show", "Print what a workload becomes on its way to a kernel");
  ShowOptions& options = arguments.show;
  add_workload(show, options.workload, options.dims);
  add_device(show, options.device);
  add_set(show, options.configuration);
  using What = ShowOptions::What;
  const auto choose = [&show, &options](const char* flag, What what, const char* about) {
    return show.add_flag_callback(
        flag, [&options, what] { options.what = what; }, about
    );
  };
  CLI::Option* space = choose("--space", What::Space, "knobs and their values");
  CLI::Option* program = choose("--program", What::Program, "ops of the whole step");
  CLI::Option* schedule = choose("--schedule", What::Schedule, "phases, tasks, buffers, edges");
  CLI::Option* source = choose("--source", What::Source, "the kernel's text");
  space->excludes(program)->excludes(schedule)->excludes(source);
  program->excludes(schedule)->excludes(source);
  schedule->excludes(source);
  show.callback([&arguments] {
    arguments.command = [&arguments] { return run_show(arguments.show, arguments.environment); };
  });
}

void add_evaluate(CLI::App& app, Arguments& arguments) {
  CLI::App& evaluate =
      *app.add_subcommand("evaluate", "Compile, validate and time one configuration");
  EvaluateOptions& options = arguments.evaluate;
  add_workload(evaluate, options.workload, options.dims);
  add_device(evaluate, options.device);
  add_set(evaluate, options.configuration);
  evaluate.add_flag("--compile-only", options.compile_only, "stop before running; needs no GPU");
  evaluate
      .add_option(
          "--timeline",
          options.timelines,
          "where each microsecond of a step goes: a trace for Perfetto (.json) or a picture (.svg)"
      )
      ->allow_extra_args(false);
  evaluate.add_flag("--json", options.json, "print one JSON document");
  evaluate.callback([&arguments] {
    arguments.command = [&arguments] {
      return run_evaluate(arguments.evaluate, arguments.environment);
    };
  });
}

void add_doctor(CLI::App& app, Arguments& arguments) {
  CLI::App& doctor =
      *app.add_subcommand("doctor", "Say what is installed, what is missing, what to do");
  add_database(doctor, arguments.doctor.database);
  doctor.add_flag("--json", arguments.doctor.json, "print one JSON document");
  CLI::Option* calibrate = doctor.add_flag(
      "--calibrate",
      arguments.calibrates,
      "instead: measure what launches, barriers and memory cost (--target), and store it"
  );
  NoiseOptions& noise = arguments.noise;
  CLI::Option* noise_flag = doctor.add_flag(
      "--noise",
      arguments.tests_noise,
      "instead: tune over copies of one kernel, and store how timings scatter here (--target)"
  );
  noise_flag->excludes(calibrate);
  doctor.add_option("--workload", noise.workload, "what is copied (default: online)")
      ->needs(noise_flag);
  doctor.add_option("--copies", noise.num_candidates, "beside the baseline (default: 50)")
      ->check(CLI::PositiveNumber)
      ->needs(noise_flag);
  doctor.add_option(
      "--output",
      arguments.calibrate.output,
      "of --calibrate or --noise: where to instead of beside the records"
  );
  add_device(doctor, arguments.calibrate.device);
  doctor.callback([&arguments] {
    arguments.command = [&arguments] {
      if (arguments.calibrates) {
        arguments.calibrate.json = arguments.doctor.json;
        return run_calibrate(arguments.calibrate, arguments.environment);
      }
      if (arguments.tests_noise) {
        arguments.noise.device = arguments.calibrate.device;
        arguments.noise.output = arguments.calibrate.output;
        arguments.noise.json = arguments.doctor.json;
        return run_noise(arguments.noise, arguments.environment);
      }
      if (!arguments.calibrate.output.empty()) {
        throw UserError("--output: expected --calibrate or --noise beside it");
      }
      return run_doctor(arguments.doctor, arguments.environment);
    };
  });
}

void add_best(CLI::App& app, Arguments& arguments) {
  CLI::App& best = *app.add_subcommand("best", "Print the stored winner of a workload on a device");
  BestOptions& options = arguments.best;
  add_workload(best, options.workload, options.dims);
  add_device(best, options.device);
  add_database(best, options.database);
  best.add_flag("--json", options.json, "print one JSON document");
  best.callback([&arguments] {
    arguments.command = [&arguments] { return run_best(arguments.best, arguments.environment); };
  });
}

void add_report(CLI::App& app, Arguments& arguments) {
  CLI::App& report = *app.add_subcommand("report", "Print what the database holds");
  ReportOptions& options = arguments.report;
  report.add_option("workload", options.workload, "only this workload");
  add_dims(report, options.dims);
  CLI::Option* format =
      report.add_option("--format", options.format, "text, markdown, csv, json or html");
  CLI::Option* knobs = report.add_flag(
      "--knobs", options.knobs, "best time by value of each knob; cost of its default"
  );
  CLI::Option* from = report.add_option(
      "--from", options.from, "a JSON report with its samples, instead of the database"
  );
  report
      .add_flag(
          "--ranking", options.ranking, "how well the model orders what was measured, by session"
      )
      ->excludes(format)
      ->excludes(knobs)
      ->excludes(from);
  add_database(report, options.database);
  report.callback([&arguments] {
    arguments.command = [&arguments] {
      return run_report(arguments.report, arguments.environment);
    };
  });
}

void add_retime(CLI::App& app, Arguments& arguments) {
  CLI::App& retime = *app.add_subcommand(
      "retime", "Time stored winners again, a block for each line of standard input"
  );
  RetimeOptions& options = arguments.retime;
  add_workload(retime, options.workload, options.dims);
  add_device(retime, options.device);
  add_database(retime, options.database);
  retime
      .add_option(
          "--configuration",
          options.configurations,
          "\"knob=value …\": time this one too; without --db, instead of what is stored"
      )
      ->allow_extra_args(false);
  retime.callback([&arguments] {
    arguments.command = [&arguments] {
      return run_retime(arguments.retime, arguments.environment);
    };
  });
}

void add_compare(CLI::App& app, Arguments& arguments) {
  CLI::App& compare = *app.add_subcommand(
      "compare", "Time two configurations in the same processes: FASTER, SAME, SLOWER or UNDECIDED"
  );
  CompareOptions& options = arguments.compare;
  add_workload(compare, options.workload, options.dims);
  constexpr const char* kForms = "default, stored (the database's winner) or \"knob=value …\"";
  compare.add_option("base", options.base, kForms)->required();
  compare.add_option("candidate", options.candidate, kForms)->required();
  add_device(compare, options.device);
  add_database(compare, options.database);
  compare.add_option("--seed", options.seed, "of the order of blocks");
  compare.add_flag("--json", options.json, "print one JSON document with every sample");
  compare.callback([&arguments] {
    arguments.command = [&arguments] {
      return run_compare(arguments.compare, arguments.environment);
    };
  });
}

void add_replay(CLI::App& app, Arguments& arguments) {
  CLI::App& replay = *app.add_subcommand("replay", "Decide again from stored samples");
  ReplayOptions& options = arguments.replay;
  CLI::Option& files = *replay.add_option(
      "FILE", options.files, "reports with their samples (default: every session of the database)"
  );
  add_database(replay, options.database);
  CLI::Option& simulated = *replay.add_flag(
      "--simulated",
      options.simulated,
      "say how often ways to select err, on timings whose truth is known; takes minutes"
  );
  simulated.excludes(&files);
  replay.add_option("--tunings", options.num_tunings, "of each truth, setting and policy")
      ->check(CLI::PositiveNumber)
      ->needs(&simulated);
  replay.add_option("--seed", options.seed, "of all that is drawn")->needs(&simulated);
  replay.add_flag("--json", options.json, "print one JSON document");
  replay.callback([&arguments] {
    arguments.command = [&arguments] {
      return run_replay(arguments.replay, arguments.environment);
    };
  });
}

void add_db(CLI::App& app, Arguments& arguments) {
  CLI::App& db = *app.add_subcommand("db", "Look after the database");
  db.require_subcommand(1);
  CLI::App& check = *db.add_subcommand("check", "Read everything and report damage");
  add_database(check, arguments.db_check.database);
  check.add_flag("--json", arguments.db_check.json, "print one JSON document");
  check.callback([&arguments] {
    arguments.command = [&arguments] {
      return run_db_check(arguments.db_check, arguments.environment);
    };
  });
}

/// What `tune` and `suite` share.
void add_tuning(CLI::App& app, TuneOptions& options) {
  add_dims(app, options.dims);
  add_device(app, options.device);
  add_database(app, options.database);
  app.add_option("--budget", options.budget, "evaluations (200) or time (90s, 5m) a workload");
  app.add_option(
      "--strategy",
      options.strategy,
      "random, model or exhaustive (default: model on a GPU of known costs, else random)"
  );
  app.add_option("--seed", options.seed, "of the search's order");
  app.add_option("--report-dir", options.report_folder, "where the report goes");
  app.add_flag("--resume", options.resume, "go on with the newest unfinished session");
  app.add_flag("--json", options.json, "print one JSON document");
}

void add_tune(CLI::App& app, Arguments& arguments) {
  CLI::App& tune = *app.add_subcommand("tune", "Find, check, measure and store the fastest kernel");
  tune.add_option("workload", arguments.tune.workloads, "workload files, or shipped ones")
      ->required();
  add_tuning(tune, arguments.tune);
  tune.callback([&arguments] {
    arguments.command = [&arguments] { return run_tune(arguments.tune, arguments.environment); };
  });
}

void add_suite(CLI::App& app, Arguments& arguments) {
  CLI::App& suite = *app.add_subcommand("suite", "Tune every workload of a suite file");
  suite.add_option("suite", arguments.suite.workloads, "a suite file, or a shipped one")
      ->required()
      ->expected(1);
  arguments.suite.is_suite = true;
  add_tuning(suite, arguments.suite);
  suite.callback([&arguments] {
    arguments.command = [&arguments] { return run_tune(arguments.suite, arguments.environment); };
  });
}

void add_subcommands(CLI::App& app, Arguments& arguments) {
  add_tune(app, arguments);
  add_suite(app, arguments);
  add_show(app, arguments);
  add_evaluate(app, arguments);
  add_best(app, arguments);
  add_report(app, arguments);
  add_retime(app, arguments);
  add_replay(app, arguments);
  add_compare(app, arguments);
  add_doctor(app, arguments);
  add_db(app, arguments);
  app.require_subcommand(1);
}

/// Spellings that would have been understood where parsing stopped.
std::vector<std::string> known_words(const CLI::App& app, bool flags) {
  std::vector<std::string> words;
  if (!flags) {
    for (const CLI::App* subcommand : app.get_subcommands({})) {
      words.push_back(subcommand->get_name());
    }
    return words;
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
    }
  }
  return words;
}

/// The first argument that the parser could not place, with the nearest that it knows; empty when
/// the trouble is another one.
std::string describe_unknown_argument(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& place = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> extras = place.remaining(true);
  if (extras.empty()) {
    extras = app.remaining(true);
  }
  if (extras.empty()) {
    return "";
  }
  const std::string word = extras.front().substr(0, extras.front().find('='));
  const bool is_flag = word.starts_with("-");
  const std::vector<std::string> words = known_words(place, is_flag);
  const std::vector<std::string_view> candidates(words.begin(), words.end());
  return fmt::format(
      "{} '{}'{}; `whet{}{} --help` lists them",
      is_flag          ? "unknown flag"
      : chosen.empty() ? "unknown subcommand"
                       : "unexpected argument",
      word,
      suggestion(word, candidates),
      chosen.empty() ? "" : " ",
      chosen.empty() ? "" : place.get_name()
  );
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    return app.exit(error);  // --help, --version
  }
  const std::string unknown = describe_unknown_argument(app);
  fmt::print(stderr, "whet: {}\n", unknown.empty() ? error.what() : unknown);
  return kUserError;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "whet tunes whole training steps: one generated kernel a step, the fastest that is right.",
      "whet"
  );
  app.set_version_flag("--version", std::string("whet ") + WHET_VERSION);
  add_subcommands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  }
  return arguments.command();
}

}  // namespace
}  // namespace whet

int main(int argc, char** argv) {
  try {
    return whet::run(argc, argv);
  } catch (const whet::Error& error) {
    fmt::print(stderr, "whet: {}\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "whet: our bug: {}\n", error.what());
    return whet::kOurBug;
  }
}
