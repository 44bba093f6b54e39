#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "harness/evaluator_interface.hpp"

namespace whet {

/// An evaluator without compilers and devices: `judge` says what becomes of a candidate, and
/// `time_ns` how long a step of a valid one takes.
class FakeEvaluator : public EvaluatorInterface {
 public:
  std::function<Status(const Configuration&)> judge = [](const Configuration&) {
    return Status::Ok;
  };
  std::function<double(const Configuration&)> time_ns = [](const Configuration&) { return 1e3; };
  /// How long it takes in one process, where that differs.
  std::function<double(const Configuration&, int process)> time_in_process;
  /// Called when the oldest candidate ends, before its evaluation is handed over.
  std::function<void()> before_next = [] {};
  int num_slots = 1;

  std::vector<Configuration> submitted;
  std::vector<InterleavedRequest> measured;
  int num_evaluated = 0;
  int num_cancelled = 0;

  void prepare() override {}
  std::string device() const override { return "a fake device"; }
  int capacity() const override { return num_slots; }
  void submit(const Configuration& configuration) override {
    submitted.push_back(configuration);
    under_way_.push_back(configuration);
  }
  Evaluation next() override {
    before_next();
    const Configuration configuration = under_way_.front();
    under_way_.pop_front();
    ++num_evaluated;
    Evaluation evaluation;
    evaluation.configuration = configuration;
    evaluation.status = judge(configuration);
    evaluation.deterministic = true;
    if (evaluation.status == Status::Ok) {
      evaluation.blocks = {block(configuration, 0, 0, "screen")};
    }
    return evaluation;
  }
  void cancel() override {
    num_cancelled += static_cast<int>(under_way_.size());
    under_way_.clear();
  }
  InterleavedResult measure_interleaved(const InterleavedRequest& request) override {
    measured.push_back(request);
    InterleavedResult result;
    for (const Configuration& configuration : request.candidates) {
      InterleavedEntry entry;
      for (int process = 0; process < request.num_processes; ++process) {
        entry.blocks.push_back(block(configuration, num_processes_ + process, 0, request.purpose));
        entry.blocks.push_back(block(configuration, num_processes_ + process, 1, request.purpose));
      }
      result.candidates.push_back(std::move(entry));
    }
    num_processes_ += request.num_processes;
    return result;
  }

 private:
  /// Samples with a noise of a tenth of a percent, which all candidates of a process share.
  SampleBlock block(
      const Configuration& configuration, int process, int number, const std::string& purpose
  ) const {
    const double time = time_in_process ? time_in_process(configuration, process)
                                        : time_ns(configuration) * (1.0 + 1e-3 * (process % 3));
    SampleBlock result{
        .process = process, .block = number, .num_steps = 20, .purpose = purpose, .samples = {}};
    for (int i = 0; i < 3; ++i) {
      result.samples.push_back({.time_ns = time + i});
    }
    return result;
  }

  std::deque<Configuration> under_way_;
  int num_processes_ = 0;
};

}  // namespace whet
