#include "tuner/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "tuner/deciding.hpp"
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
    finalists_ = choose_finalists(outcome_.evaluations, baseline_, options_.num_finalists);
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
      for (const SampleBlock& block : record.evaluation.blocks) {
        first_process_ = std::max(first_process_, block.process + 1);
      }
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

  /// Numbers processes of this run after those of earlier ones.
  void number(std::vector<SampleBlock>& blocks) const {
    for (SampleBlock& block : blocks) {
      block.process += first_process_;
    }
  }

  void commit(Evaluation evaluation) {
    number(evaluation.blocks);
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
    return finalists_with_blocks(outcome_.evaluations, finalists_, baseline_, first_process_);
  }

  /// Commits the blocks of a measurement; what failed in it is no finalist any more.
  void absorb(const std::vector<std::size_t>& measured, InterleavedResult result) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      InterleavedEntry& entry = result.candidates.at(i);
      Evaluation& evaluation = outcome_.evaluations[measured[i]];
      number(entry.blocks);
      store_.add_samples(ids_[measured[i]], entry.blocks);
      evaluation.blocks.insert(evaluation.blocks.end(), entry.blocks.begin(), entry.blocks.end());
      if (entry.status == Status::Ok) {
        left.push_back(measured[i]);
      }
    }
    finalists_ = std::move(left);
    for (PeerEntry& peer : result.peers) {
      if (peer.entry.status == Status::Ok) {
        number(peer.entry.blocks);
        peers_.push_back({.name = peer.name, .blocks = std::move(peer.entry.blocks)});
      } else {
        outcome_.decision.detail["peer_problem"] = peer.entry.detail;
      }
    }
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
    const auto choice = select_by_looks(measure, may_go_on, options_.selector);
    if (!choice) {
      return;
    }
    Decision decision = advise(*choice, finalists, options_.selector);
    decision.detail["first_process"] = first_process_;
    // What went wrong on the way stays in it.
    decision.detail.update(outcome_.decision.detail);
    outcome_.decision = std::move(decision);
    winner_ = finalists_[choice->selection.pick];
    baseline_index_ = finalists_[finalists.baseline];
  }

  /// Times of the winner, the baseline and the peers from processes that the choice has not seen.
  void publish() {
    if (!winner_) {
      return;
    }
    std::vector<std::size_t> measured{*winner_};
    if (*baseline_index_ != *winner_) {
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
    const auto fresh_blocks = [&](std::size_t index) {
      return blocks_for(outcome_.evaluations[index], "publish", first_process_);
    };
    const Configuration& baseline = outcome_.evaluations[*baseline_index_].configuration;
    whet::publish(
        outcome_.decision,
        {.winner = fresh_blocks(*winner_),
         .baseline = baseline,
         .is_default = baseline == baseline_,
         .baseline_blocks = fresh_blocks(*baseline_index_),
         .peers = peers_},
        options_.selector
    );
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
    for (const FreshSamples::Peer& peer : peers_) {
      for (const SampleBlock& block : peer.blocks) {
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
  std::int64_t first_process_ = 0;         ///< after those of earlier runs of this session
  std::vector<FreshSamples::Peer> peers_;  ///< those that were measured
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
