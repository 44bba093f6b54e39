#include "harness/probes.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <set>

#include "base/error.hpp"

namespace whet {
namespace {

/// Memory of the executor.
class Memory {
 public:
  Memory(Executor& executor, std::size_t bytes)
      : executor_(executor), pointer_(executor.allocate(bytes)) {
    executor.fill(pointer_, 0, bytes);
  }
  ~Memory() { executor_.release(pointer_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* get() const { return pointer_; }

 private:
  Executor& executor_;
  void* pointer_;
};

/// Leads through all words, whose number is a power of two, so irregularly that nothing fetches
/// ahead. Source: Knuth, The Art of Computer Programming, volume 2, section 3.3.4, table 1,
/// line 16.
std::vector<std::uint32_t> chain(std::size_t num_words) {
  std::vector<std::uint32_t> words(num_words);
  for (std::size_t i = 0; i < num_words; ++i) {
    words[i] = static_cast<std::uint32_t>((i * 1664525 + 1013904223) % num_words);
  }
  return words;
}

class Prober {
 public:
  Prober(
      Executor& executor, const DeviceLimits& limits, const CompileOptions& options, int num_samples
  )
      : executor_(executor),
        limits_(limits),
        options_(options),
        num_samples_(num_samples),
        buffer_(executor, probe_buffer_bytes(limits.target)),
        results_(executor, std::size_t{2048} * static_cast<std::size_t>(limits.num_sms) * 4),
        workspace_(executor, LaunchPlan::kControlBytes) {
    const std::vector<std::uint32_t> words = chain(probe_buffer_bytes(limits.target) / 4);
    executor.upload(buffer_.get(), words.data(), words.size() * 4);
  }

  Json run(const std::vector<ProbeSeries>& list) {
    warm_up(list.front());
    Json series = Json::array();
    for (const ProbeSeries& one : list) {
      series.push_back(time_series(one));
    }
    const std::unique_ptr<LoadedKernel> kernel = load(list.front().grid);
    const std::unique_ptr<Replay> replay = record(*kernel, 1, 1);
    return {
        {"schema", "whet.calibration/1"},
        {"device", executor_.description()},
        {"launch_ns", time(*replay)},
        {"series", series}};
  }

 private:
  std::unique_ptr<LoadedKernel> load(const ProbeGrid& grid) {
    const KernelSource source = probe_source(grid, limits_);
    const CompileOutcome outcome = compile(source, options_);
    if (outcome.status != Status::Ok) {
      throw EnvironmentError(fmt::format(
          "probe {} did not compile ({}): {}",
          probe_name(grid.probe),
          status_name(outcome.status),
          outcome.detail
      ));
    }
    return executor_.load(outcome.artifact, source.plan);
  }

  std::unique_ptr<Replay> record(
      const LoadedKernel& kernel, std::uint32_t launches, std::uint32_t repetitions
  ) {
    // Some seconds of polls: a grid that is not resident ends with a status, not never.
    constexpr std::uint32_t kSpinLimit = 1u << 24;
    constexpr std::uint32_t kHalf = 0x3f00;  // 0.5 in bf16: the factor of fma.cuh
    const StepLaunch launch{
        .kernel = &kernel,
        .arguments = {
            .tensors = {buffer_.get(), results_.get()},
            .workspace = workspace_.get(),
            .ring_length = repetitions,
            .first_batch = kHalf,
            .spin_limit = kSpinLimit,
            .refresh = false}};
    return executor_.record(std::vector<StepLaunch>(launches, launch));
  }

  std::vector<double> time(Replay& replay) {
    constexpr int kWarmups = 3;
    std::vector<double> times_ns;
    for (int i = 0; i < num_samples_ + kWarmups; ++i) {
      const double time_ns = executor_.time_replays_ns(replay, 1);
      if (i >= kWarmups) {
        times_ns.push_back(time_ns);
      }
    }
    return times_ns;
  }

  /// Keeps the device busy until its clock has risen.
  void warm_up(const ProbeSeries& series) {
    constexpr std::chrono::milliseconds kBusy{300};
    const std::unique_ptr<LoadedKernel> kernel = load(series.grid);
    const std::unique_ptr<Replay> replay = record(*kernel, series.many, 1);
    const auto end = std::chrono::steady_clock::now() +
                     (limits_.target == Target::Cuda ? kBusy : std::chrono::milliseconds(0));
    do {
      executor_.time_replays_ns(*replay, 1);
    } while (std::chrono::steady_clock::now() < end);
  }

  Json time_series(const ProbeSeries& series) {
    const bool counts_launches = series.grid.probe == Probe::Node;
    const std::unique_ptr<LoadedKernel> kernel = load(series.grid);
    Json times_ns = Json::array();
    for (const std::uint32_t count : {series.few, series.many}) {
      const std::unique_ptr<Replay> replay =
          counts_launches ? record(*kernel, count, 1) : record(*kernel, 1, count);
      times_ns.push_back(time(*replay));
    }
    check_status(series.grid);
    return {
        {"probe", probe_name(series.grid.probe)},
        {"blocks", series.grid.blocks},
        {"threads", series.grid.threads},
        {"overlaps", series.grid.overlaps},
        {"work", probe_work(series.grid, limits_)},
        {"counts", {series.few, series.many}},
        {"times_ns", times_ns},
        {"clock_mhz", executor_.conditions().clock_mhz}};
  }

  void check_status(const ProbeGrid& grid) {
    std::uint32_t control[2] = {};
    executor_.download(control, workspace_.get(), sizeof control);
    if (control[1] != 0) {
      throw DeviceFault(
          Status::BarrierHang,
          fmt::format(
              "a barrier of {} blocks gave up in repetition {}", grid.blocks, control[1] - 1
          )
      );
    }
    executor_.fill(workspace_.get(), 0, LaunchPlan::kControlBytes);
  }

  Executor& executor_;
  const DeviceLimits& limits_;
  const CompileOptions& options_;
  int num_samples_;
  Memory buffer_;
  Memory results_;
  Memory workspace_;
};

/// Of the CPU target: threads of the pool instead of blocks.
std::vector<ProbeSeries> host_series(const DeviceLimits& limits) {
  const int all = limits.num_sms;
  const auto loop = [&](Probe probe, int blocks, std::uint32_t few) {
    return ProbeSeries{
        .grid = {.probe = probe, .blocks = blocks, .threads = 1}, .few = few, .many = 10 * few};
  };
  std::vector<ProbeSeries> list{loop(Probe::Node, all, 20)};
  for (int blocks = 1; blocks < all; blocks *= 2) {
    list.push_back(loop(Probe::GridBarrier, blocks, 200));
  }
  list.push_back(loop(Probe::GridBarrier, all, 200));
  list.push_back(loop(Probe::L2Latency, 1, 10'000));
  list.push_back(loop(Probe::L2Rate, 1, 20));
  if (all > 1) {
    list.push_back(loop(Probe::L2Rate, all, 20));
  }
  list.push_back(loop(Probe::SharedLatency, 1, 10'000));
  list.push_back(loop(Probe::SharedRate, 1, 200));
  list.push_back(loop(Probe::Fma, 1, 10'000));
  list.push_back(loop(Probe::Clock, 1, 2'000));
  return list;
}

std::vector<ProbeSeries> gpu_series(const DeviceLimits& limits) {
  const bool emulated = limits.target == Target::CudaEmulated;
  const int all = limits.num_sms;
  const auto loop = [&](Probe probe, int blocks, int threads) {
    return ProbeSeries{
        .grid = {.probe = probe, .blocks = blocks, .threads = threads},
        .few = emulated ? 2u : 200u,
        .many = emulated ? 4u : 1200u};
  };
  const auto nodes = [&](bool overlaps) {
    return ProbeSeries{
        .grid = {.probe = Probe::Node, .blocks = all, .threads = 256, .overlaps = overlaps},
        .few = emulated ? 1u : 20u,
        .many = emulated ? 2u : 120u};
  };
  std::vector<ProbeSeries> list{nodes(false)};
  if (has_clusters(limits)) {
    list.push_back(nodes(true));
  }
  for (const int blocks : std::set<int>{1, 2, 4, 8, 16, 32, all / 2, all, 2 * all}) {
    if (blocks > 2 * all) {
      continue;  // would not all be resident
    }
    list.push_back(loop(Probe::GridBarrier, blocks, 256));
  }
  list.push_back(loop(Probe::BlockBarrier, 1, 256));
  if (has_clusters(limits)) {
    list.push_back(loop(Probe::ClusterBarrier, 8, 256));
  }
  list.push_back(loop(Probe::L2Latency, 1, 32));
  list.push_back(loop(Probe::L2Rate, 1, 256));
  list.push_back(loop(Probe::L2Rate, all, 256));
  list.push_back(loop(Probe::SharedLatency, 1, 32));
  list.push_back(loop(Probe::SharedRate, 1, 256));
  list.push_back(loop(Probe::Mma, 1, 256));
  list.push_back(loop(Probe::Fma, 1, 512));
  return list;
}

}  // namespace

std::vector<ProbeSeries> calibration_series(const DeviceLimits& limits) {
  return limits.target == Target::Cpu ? host_series(limits) : gpu_series(limits);
}

Json run_probes(
    Executor& executor, const DeviceLimits& limits, const CompileOptions& options, int num_samples
) {
  return Prober(executor, limits, options, num_samples).run(calibration_series(limits));
}

}  // namespace whet
