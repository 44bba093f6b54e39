#include "tuner/simulated_timings.hpp"

#include <cmath>
#include <utility>

#include "timing/interleaving.hpp"

namespace whet {
namespace {

constexpr double kTimeNs = 1e5;  // of a candidate whose log time is 0

NoiseSetting typical(const char* name) {
  return {.name = name, .process_sd = 0.007, .block_sd = 0.003, .sample_sd = 0.01};
}

std::vector<NoiseSetting> make_settings() {
  std::vector<NoiseSetting> settings{
      {.name = "quiet", .process_sd = 0.002, .block_sd = 0.001, .sample_sd = 0.004},
      typical("typical"),
      {.name = "noisy", .process_sd = 0.02, .block_sd = 0.01, .sample_sd = 0.03}};
  const auto add = [&](const char* name) -> NoiseSetting& {
    return settings.emplace_back(typical(name));
  };
  NoiseSetting& tails = add("heavy tails");
  tails.tail_share = 0.1;
  tails.tail_scale = 20.0;
  add("autocorrelated").correlation = 0.9;
  add("drifting").drift_sd = 0.02;
  NoiseSetting& steps = add("clock steps");
  steps.step_share = 0.2;
  steps.step = 0.05;
  NoiseSetting& outliers = add("outlier processes");
  outliers.outlier_share = 0.02;
  outliers.outlier = 0.05;
  add("unequal variances").unevenness = 0.7;
  add("skewed processes").skewed = true;
  return settings;
}

}  // namespace

const std::vector<NoiseSetting>& noise_settings() {
  static const std::vector<NoiseSetting> settings = make_settings();
  return settings;
}

SimulatedTimings::SimulatedTimings(
    std::vector<double> log_times,
    const NoiseSetting& setting,
    std::uint64_t seed,
    std::uint64_t stream
)
    : log_times_(std::move(log_times)), setting_(setting), random_(seed, stream), seed_(seed) {
  for (std::size_t i = 0; i < log_times_.size(); ++i) {
    process_sds_.push_back(setting_.process_sd * std::exp(setting_.unevenness * normal()));
  }
}

double SimulatedTimings::exponential() { return -std::log(uniform()); }

double SimulatedTimings::process_shift(std::size_t candidate) {
  const double shift = setting_.skewed ? exponential() - 1.0 : normal();
  const double outlier = uniform() < setting_.outlier_share ? setting_.outlier : 0.0;
  return process_sds_[candidate] * shift + outlier;
}

std::vector<Sample> SimulatedTimings::draw_block(double log_time, int num_samples) {
  std::vector<Sample> samples;
  const double fresh = std::sqrt(1.0 - setting_.correlation * setting_.correlation);
  double noise = normal();
  for (int s = 0; s < num_samples; ++s) {
    noise = s == 0 ? noise : setting_.correlation * noise + fresh * normal();
    const bool is_late = uniform() < setting_.tail_share;
    const double late = is_late ? setting_.tail_scale * exponential() : 0.0;
    samples.push_back(
        {.time_ns = kTimeNs * std::exp(log_time + setting_.sample_sd * (noise + late))}
    );
  }
  num_samples_ += num_samples;
  return samples;
}

std::vector<std::vector<SampleBlock>> SimulatedTimings::run_process(
    const std::vector<std::size_t>& candidates, int num_rounds, int samples_a_block
) {
  const std::int64_t process = num_processes_++;
  std::vector<double> shifts;
  for (const std::size_t candidate : candidates) {
    shifts.push_back(log_times_[candidate] + process_shift(candidate));
  }
  const std::vector<int> order = interleaved_order(
      static_cast<int>(candidates.size()), num_rounds, seed_ + static_cast<std::uint64_t>(process)
  );
  const double drift = setting_.drift_sd * normal();
  const double last = static_cast<double>(order.size());
  // Past the end: the clock stays.
  const double step_at = uniform() < setting_.step_share ? last * uniform() : last;
  std::vector<std::vector<SampleBlock>> blocks(candidates.size());
  double shared = 0.0;
  for (std::size_t position = 0; position < order.size(); ++position) {
    if (position % candidates.size() == 0) {
      shared = setting_.block_sd * normal();
    }
    const auto at = static_cast<double>(position);
    const double clock = drift * at / last + (at >= step_at ? setting_.step : 0.0);
    const auto subject = static_cast<std::size_t>(order[position]);
    blocks[subject].push_back(
        {.process = process,
         .block = static_cast<std::int64_t>(position),
         .num_steps = 20,
         .purpose = "final",
         .samples = draw_block(shifts[subject] + shared + clock, samples_a_block)}
    );
  }
  return blocks;
}

}  // namespace whet
