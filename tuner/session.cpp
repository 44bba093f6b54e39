#include "tuner/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "tuner/looks.hpp"

namespace whet {
namespace {

class Session {
 public:
  Session(
      EvaluatorInterface& evaluator,
      const SearchSpace& space,
      Strategy& strategy,
      RecordStore& store,
      SessionId session,
      const SessionOptions& options,
      SessionEvents& events,
      const std::atomic<bool>& interrupted
  )
      : evaluator_(evaluator),
        strategy_(strategy),
        store_(store),
        session_(session),
        options_(options),
        events_(events),
        interrupted_(interrupted),
        baseline_(space.default_configuration()) {}

  SessionOutcome run() {
    events_.announce("computing the reference");
    evaluator_.prepare();
    recall();
    search();
    search_time_ = std::chrono::steady_clock::now() - start_;
    outcome_.interrupted = interrupted_.load();
    choose_finalists();
    if (finalists_.empty()) {
      outcome_.decision.verdict = Verdict::NoValid;
    } else {
      events_.announce(fmt::format("measuring {} finalists", finalists_.size()));
      decide();
      events_.announce("measuring the winner afresh");
      publish();
    }
    add_counts();
    store_.add_decision(session_, outcome_.decision);
    return std::move(outcome_);
  }

 private:
  /// Takes over what an earlier run of this session has committed.
  void recall() {
    for (EvaluationRecord& record : store_.evaluations(session_)) {
      // Processes of that run do not pair with processes of this one.
      std::erase_if(record.evaluation.blocks, [](const SampleBlock& block) {
        return block.purpose != "screen";
      });
      keep(record.id, std::move(record.evaluation));
    }
  }

  void keep(EvaluationId id, Evaluation evaluation) {
    known_[evaluation.configuration] = outcome_.evaluations.size();
    ids_.push_back(id);
    spend(evaluation);
    strategy_.observe(evaluation);
    events_.observe(evaluation);
    outcome_.evaluations.push_back(std::move(evaluation));
  }

  void spend(const Evaluation& evaluation) {
    if (evaluation.status != Status::ConstraintViolated) {
      ++spent_.num_evaluations;
    }
  }

  void commit(Evaluation evaluation) {
    const EvaluationId id = store_.add_evaluation(session_, evaluation);
    keep(id, std::move(evaluation));
  }

  void submit(const Configuration& configuration) {
    if (known_.contains(configuration)) {
      return;
    }
    evaluator_.submit(configuration);
    known_[configuration] = SIZE_MAX;  // under way
    ++num_under_way_;
  }

  bool may_go_on() {
    spent_.time = std::chrono::steady_clock::now() - start_;
    Spent planned = spent_;
    planned.num_evaluations += num_under_way_;
    return !interrupted_.load() && !is_exhausted(options_.budget, planned);
  }

  void search() {
    start_ = std::chrono::steady_clock::now();
    submit(baseline_);
    bool proposals_left = true;
    while (true) {
      while (proposals_left && num_under_way_ < evaluator_.capacity() && may_go_on()) {
        const std::optional<Configuration> proposal = strategy_.propose();
        proposals_left = proposal.has_value();
        if (proposal) {
          submit(*proposal);
        }
      }
      if (num_under_way_ == 0) {
        return;
      }
      Evaluation evaluation = evaluator_.next();
      --num_under_way_;
      commit(std::move(evaluation));
      if (interrupted_.load()) {
        evaluator_.cancel();
        return;
      }
    }
  }

  /// The baseline, and the fastest others by their screening medians.
  void choose_finalists() {
    std::vector<std::pair<double, std::size_t>> valid;
    for (std::size_t i = 0; i < outcome_.evaluations.size(); ++i) {
      const Evaluation& evaluation = outcome_.evaluations[i];
      const std::optional<double> time = median_time_ns(evaluation, "screen");
      if (evaluation.status != Status::Ok || !time) {
        continue;
      }
      if (evaluation.configuration == baseline_) {
        finalists_.push_back(i);
      } else {
        valid.emplace_back(*time, i);
      }
    }
    // Where the baseline is not valid, the fastest takes its place.
    std::sort(valid.begin(), valid.end());
    for (const auto& [time, index] : valid) {
      if (finalists_.size() <= static_cast<std::size_t>(options_.num_finalists)) {
        finalists_.push_back(index);
      }
    }
  }

  /// Measures the finalists in so many further processes; the blocks of all so far.
  Finalists measure_finalists(int num_processes) {
    InterleavedRequest request{
        .candidates = {},
        .num_processes = num_processes,
        .num_rounds = 2,
        .purpose = "final",
        .seed = options_.seed + static_cast<std::uint64_t>(num_final_processes_)};
    for (const std::size_t index : finalists_) {
      request.candidates.push_back(outcome_.evaluations[index].configuration);
    }
    absorb(finalists_, evaluator_.measure_interleaved(request));
    num_final_processes_ += num_processes;
    Finalists finalists;
    for (const std::size_t index : finalists_) {
      const Evaluation& evaluation = outcome_.evaluations[index];
      if (evaluation.configuration == baseline_) {
        finalists.baseline = finalists.entries.size();
      }
      finalists.entries.push_back(
          {.configuration = evaluation.configuration,
           .deterministic = evaluation.deterministic,
           .resources = evaluation.resources,
           .blocks = blocks_for(evaluation.blocks, "final")}
      );
    }
    return finalists;
  }

  /// Commits the blocks of a measurement; what failed in it is no finalist any more.
  void absorb(const std::vector<std::size_t>& measured, InterleavedResult result) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      InterleavedEntry& entry = result.candidates.at(i);
      Evaluation& evaluation = outcome_.evaluations[measured[i]];
      store_.add_samples(ids_[measured[i]], entry.blocks);
      evaluation.blocks.insert(evaluation.blocks.end(), entry.blocks.begin(), entry.blocks.end());
      if (entry.status == Status::Ok) {
        left.push_back(measured[i]);
      }
    }
    finalists_ = std::move(left);
    for (PeerEntry& peer : result.peers) {
      if (peer.entry.status == Status::Ok) {
        peers_.push_back(std::move(peer));
      } else {
        outcome_.decision.detail["peer_problem"] = peer.entry.detail;
      }
    }
  }

  static std::vector<SampleBlock> blocks_for(
      const std::vector<SampleBlock>& blocks, const std::string& purpose
  ) {
    std::vector<SampleBlock> result;
    for (const SampleBlock& block : blocks) {
      if (block.purpose == purpose) {
        result.push_back(block);
      }
    }
    return result;
  }

  void decide() {
    const auto start = std::chrono::steady_clock::now();
    const auto may_go_on = [&] {
      const auto taken = std::chrono::steady_clock::now() - start;
      return !interrupted_.load() && taken <= options_.final_share * search_time_;
    };
    Finalists finalists;
    const auto measure = [&](int num_processes) {
      return finalists = measure_finalists(num_processes);
    };
    const auto selection = select_by_looks(measure, may_go_on, options_.selector);
    Decision& decision = outcome_.decision;
    if (!selection) {
      decision.verdict = Verdict::NoValid;
      return;
    }
    decision.verdict = selection->leaves_baseline ? Verdict::Use : Verdict::KeepBaseline;
    decision.winner = finalists.entries[selection->pick].configuration;
    for (const std::size_t tied : selection->tie_set) {
      decision.tie_set.push_back(finalists.entries[tied].configuration);
    }
    decision.detail["num_processes"] = selection->num_processes;
    decision.detail["mean_log_ratio_to_baseline"] = selection->mean_log_ratio;
    decision.detail["alpha"] = options_.selector.alpha;
    decision.detail["indifference"] = options_.selector.indifference;
    if (selection->within) {
      decision.detail["within"] = *selection->within;
    }
    winner_ = finalists_[selection->pick];
    baseline_index_ = finalists_[finalists.baseline];
  }

  /// Times of the winner, the baseline and the peer from processes that the choice has not seen.
  void publish() {
    if (!winner_) {
      return;
    }
    Decision& decision = outcome_.decision;
    std::vector<std::size_t> measured{*winner_};
    if (baseline_index_ && *baseline_index_ != *winner_) {
      measured.push_back(*baseline_index_);
    }
    InterleavedRequest request{
        .candidates = {},
        .with_peers = options_.with_peers,
        .num_processes = options_.num_publish_processes,
        .num_rounds = 2,
        .purpose = "publish",
        .seed = options_.seed + 1};
    for (const std::size_t index : measured) {
      request.candidates.push_back(outcome_.evaluations[index].configuration);
    }
    absorb(measured, evaluator_.measure_interleaved(request));
    const auto time_of = [&](std::size_t index) {
      return summarize(
          blocks_for(outcome_.evaluations[index].blocks, "publish"), options_.selector.alpha
      );
    };
    decision.time_ns = time_of(*winner_);
    if (baseline_index_) {
      confirm(decision.time_ns, time_of(*baseline_index_));
    }
    decision.steps_per_launch = steps_per_launch(*decision.winner);
    if (baseline_index_) {
      if (const auto time = time_of(*baseline_index_)) {
        const Configuration& configuration = outcome_.evaluations[*baseline_index_].configuration;
        decision.baselines.push_back(
            {.name = configuration == baseline_ ? "default configuration" : "fastest screened",
             .time_ns = *time,
             .steps_per_launch = steps_per_launch(configuration)}
        );
      }
    }
    compare_with_peers();
  }

  /// A winner that fresh processes do not find faster than the baseline is no winner.
  void confirm(const std::optional<TimeSummary>& winner, std::optional<TimeSummary> baseline) {
    Decision& decision = outcome_.decision;
    if (decision.verdict != Verdict::Use || !winner || !baseline ||
        winner->median < baseline->median) {
      return;
    }
    decision.detail["unconfirmed"] = {
        {"configuration", to_text(*decision.winner)}, {"median_ns", winner->median}};
    decision.verdict = Verdict::KeepBaseline;
    winner_ = baseline_index_;
    decision.winner = outcome_.evaluations[*winner_].configuration;
    decision.time_ns = std::move(baseline);
  }

  /// The peers' times, and the fastest peer that is surely faster than the winner.
  void compare_with_peers() {
    Decision& decision = outcome_.decision;
    const std::vector<SampleBlock> winner =
        blocks_for(outcome_.evaluations[*winner_].blocks, "publish");
    double fastest_ns = 0.0;
    for (const PeerEntry& peer : peers_) {
      const std::vector<SampleBlock>& blocks = peer.entry.blocks;
      const auto time = summarize(blocks, options_.selector.alpha);
      if (!time) {
        continue;
      }
      decision.baselines.push_back({.name = peer.name, .time_ns = *time, .steps_per_launch = 1});
      const bool is_fastest = decision.delegate_to.empty() || time->median < fastest_ns;
      if (is_fastest && surely_faster(blocks, winner, options_.selector.alpha)) {
        decision.verdict = Verdict::Delegate;
        decision.delegate_to = peer.name;
        fastest_ns = time->median;
      }
    }
  }

  void add_counts() {
    Json counts = Json::object();
    for (const Evaluation& evaluation : outcome_.evaluations) {
      const std::string name(status_name(evaluation.status));
      counts[name] = counts.value(name, 0) + 1;
    }
    outcome_.decision.detail["counts"] = std::move(counts);
    if (outcome_.interrupted) {
      outcome_.decision.detail["partial"] = true;
    }
    // Peers have no evaluation of their own: their samples go with the decision.
    Json samples = Json::array();
    for (const PeerEntry& peer : peers_) {
      for (const SampleBlock& block : peer.entry.blocks) {
        Json times = Json::array();
        for (const Sample& sample : block.samples) {
          times.push_back(sample.time_ns);
        }
        samples.push_back(
            {{"name", peer.name},
             {"process", block.process},
             {"block", block.block},
             {"purpose", block.purpose},
             {"time_ns", std::move(times)}}
        );
      }
    }
    outcome_.decision.detail["peer_samples"] = std::move(samples);
  }

  EvaluatorInterface& evaluator_;
  Strategy& strategy_;
  RecordStore& store_;
  SessionId session_;
  const SessionOptions& options_;
  SessionEvents& events_;
  const std::atomic<bool>& interrupted_;
  Configuration baseline_;
  SessionOutcome outcome_;
  std::vector<EvaluationId> ids_;
  std::map<Configuration, std::size_t> known_;
  std::vector<std::size_t> finalists_;
  int num_final_processes_ = 0;
  std::vector<PeerEntry> peers_;  ///< those that were measured
  std::optional<std::size_t> winner_;
  std::optional<std::size_t> baseline_index_;
  Spent spent_;
  int num_under_way_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::duration search_time_{};
};

}  // namespace

SessionOutcome run_session(
    EvaluatorInterface& evaluator,
    const SearchSpace& space,
    Strategy& strategy,
    RecordStore& store,
    SessionId session,
    const SessionOptions& options,
    SessionEvents& events,
    const std::atomic<bool>& interrupted
) {
  return Session(evaluator, space, strategy, store, session, options, events, interrupted).run();
}

}  // namespace whet
