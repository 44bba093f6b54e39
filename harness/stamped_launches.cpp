#include "harness/stamped_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "stats/quantile.hpp"

namespace whet {
namespace {

using Index = std::size_t;
using Slot = StampPlan::Slot;

/// Coarser ticks of the wall clock than this say less than a barrier's release, which a block sees
/// with its next poll: a load from L2, 145 ns on an H200.
constexpr std::uint64_t kFineTickNs = 150;

double difference(std::uint64_t later, std::uint64_t earlier) {
  return later >= earlier ? static_cast<double>(later - earlier)
                          : -static_cast<double>(earlier - later);
}

/// The words of one block of one launch.
class BlockStamps {
 public:
  explicit BlockStamps(const std::uint64_t* words) : words_(words) {}
  std::uint64_t wall_ns() const { return words_[0]; }
  std::uint64_t enter() const { return words_[1]; }
  std::uint64_t processor() const { return words_[2]; }
  std::uint64_t at(Index phase, Slot slot) const {
    return words_
        [StampPlan::kHeaderWords + StampPlan::kPhaseWords * phase + static_cast<Index>(slot)];
  }

 private:
  const std::uint64_t* words_;
};

class StampedLaunches {
 public:
  StampedLaunches(const LaunchPlan& plan, const std::vector<StampWords>& launches)
      : plan_(plan), stamps_(*plan.stamps), launches_(launches) {
    for (const StampWords& words : launches) {
      WHET_CHECK(
          words.size() == num_blocks() * stamps_.words_per_block(),
          "{} words of stamps for {} blocks of {}",
          words.size(),
          num_blocks(),
          stamps_.words_per_block()
      );
    }
  }

  Timeline timeline(double clock_mhz) const {
    const double tick_ns = ns_per_tick(clock_mhz);
    Timeline result;
    result.num_launches = static_cast<int>(launches_.size());
    result.has_time = plan_.target != Target::CudaEmulated;
    const std::optional<Index> release = release_phase();
    result.alignment = describe_alignment(release);
    for (Index p = 0; p < stamps_.phases.size(); ++p) {
      result.phases.push_back(phase(p));
    }
    std::vector<std::vector<double>> starts;  // [launch][block]
    for (Index launch = 0; launch < launches_.size(); ++launch) {
      starts.push_back(block_starts(launch, release, tick_ns));
    }
    for (Index block = 0; block < num_blocks(); ++block) {
      result.blocks.push_back(block_timeline(block, starts, tick_ns));
    }
    return result;
  }

 private:
  Index num_blocks() const { return static_cast<Index>(plan_.blocks); }

  BlockStamps at(Index launch, Index block) const {
    return BlockStamps(launches_[launch].data() + block * stamps_.words_per_block());
  }

  TimelinePhase phase(Index p) const {
    const StampedPhase& stamped = stamps_.phases[p];
    const std::string first = plan_.steps_per_launch > 1 ? "step" : "launch";
    return {
        .tasks = stamped.tasks,
        .edge = p == 0 ? first : std::string(edge_word(stamped.edge_before)),
        .has_teams = stamped.has_teams};
  }

  double ns_per_tick(double clock_mhz) const {
    if (plan_.target != Target::Cuda) {
      return 1.0;
    }
    std::vector<double> rates;
    for (Index block = 0; block < num_blocks(); ++block) {
      const BlockStamps first = at(0, block);
      // The further apart, the less the wall clock's ticks count.
      for (Index launch = launches_.size() - 1; launch > 0; --launch) {
        const BlockStamps last = at(launch, block);
        if (first.processor() == last.processor() && last.enter() > first.enter()) {
          rates.push_back(
              difference(last.wall_ns(), first.wall_ns()) / difference(last.enter(), first.enter())
          );
          break;
        }
      }
    }
    if (!rates.empty()) {
      return median(rates);
    }
    if (clock_mhz <= 0.0) {
      throw EnvironmentError(
          "the timeline needs the SM clock: no block ran twice on the same SM, and the driver "
          "does not say; try again, or install NVML"
      );
    }
    return 1e3 / clock_mhz;
  }

  /// The smallest step between readings of the wall clock; 0 if all are equal.
  std::uint64_t wall_tick_ns() const {
    std::uint64_t tick = 0;
    for (Index launch = 0; launch < launches_.size(); ++launch) {
      std::vector<std::uint64_t> readings;
      for (Index block = 0; block < num_blocks(); ++block) {
        readings.push_back(at(launch, block).wall_ns());
      }
      std::sort(readings.begin(), readings.end());
      for (Index i = 1; i < readings.size(); ++i) {
        const std::uint64_t step = readings[i] - readings[i - 1];
        tick = step != 0 && (tick == 0 || step < tick) ? step : tick;
      }
    }
    return tick;
  }

  /// The phase behind the barrier whose release puts blocks together: one that all wait for at once
  /// if there is one, since a block whose tiles wait may come to a barrier that is open already.
  std::optional<Index> release_phase() const {
    const std::uint64_t tick = wall_tick_ns();
    if (plan_.target != Target::Cuda || plan_.blocks == 1 || (tick != 0 && tick <= kFineTickNs)) {
      return std::nullopt;
    }
    std::optional<Index> found;
    for (Index p = 1; p < stamps_.phases.size(); ++p) {
      const StampedPhase& phase = stamps_.phases[p];
      const bool better =
          !found || (stamps_.phases[*found].waits_in_tiles && !phase.waits_in_tiles);
      if (is_between_blocks(phase.edge_before) && better) {
        found = p;
      }
    }
    return found;
  }

  std::string describe_alignment(const std::optional<Index>& release) const {
    switch (plan_.target) {
      case Target::Cpu:
        return "one clock for all threads";
      case Target::CudaEmulated:
        return "stamps counted in their order; the emulation has no time";
      case Target::Cuda:
        break;
    }
    if (plan_.blocks == 1) {
      return "the one SM's clock";
    }
    const std::uint64_t tick = wall_tick_ns();
    return release ? fmt::format("SM clocks, equal when phase {} is released", *release + 1)
                   : fmt::format("SM clocks, set by %globaltimer, which ticks in {} ns", tick);
  }

  std::uint64_t ready(const BlockStamps& block, Index p) const {
    return block.at(p, stamps_.phases[p].waits_in_tiles ? Slot::Ready : Slot::Begin);
  }

  /// When each block entered, 0 being the first.
  std::vector<double> block_starts(
      Index launch, const std::optional<Index>& release, double tick_ns
  ) const {
    std::vector<double> starts;
    const BlockStamps first = at(launch, 0);
    for (Index b = 0; b < num_blocks(); ++b) {
      const BlockStamps block = at(launch, b);
      starts.push_back(
          release ? -difference(ready(block, *release), block.enter()) * tick_ns
          : plan_.target == Target::Cuda ? difference(block.wall_ns(), first.wall_ns())
                                         : difference(block.enter(), first.enter())
      );
    }
    const double earliest = *std::min_element(starts.begin(), starts.end());
    for (double& start : starts) {
      start -= earliest;
    }
    return starts;
  }

  BlockTimeline block_timeline(
      Index block, const std::vector<std::vector<double>>& starts, double tick_ns
  ) const {
    std::vector<double> times;
    for (Index launch = 0; launch < launches_.size(); ++launch) {
      times.push_back(starts[launch][block]);
    }
    BlockTimeline result{
        .processor = static_cast<std::int64_t>(at(launches_.size() - 1, block).processor()),
        .enter_ns = median(times),
        .phases = {}};
    // Medians of stamps that are in order in every launch are in order.
    const auto time_of = [&](Index p, Slot slot) {
      for (Index launch = 0; launch < launches_.size(); ++launch) {
        const BlockStamps stamps = at(launch, block);
        times[launch] =
            starts[launch][block] + difference(stamps.at(p, slot), stamps.enter()) * tick_ns;
      }
      return median(times);
    };
    for (Index p = 0; p < stamps_.phases.size(); ++p) {
      const bool waits = stamps_.phases[p].waits_in_tiles;
      result.phases.push_back(
          {.begin_ns = time_of(p, Slot::Begin),
           .wait_ns = time_of(p, waits ? Slot::Wait : Slot::Begin),
           .ready_ns = time_of(p, waits ? Slot::Ready : Slot::Begin),
           .end_ns = time_of(p, Slot::End)}
      );
    }
    return result;
  }

  const LaunchPlan& plan_;
  const StampPlan& stamps_;
  const std::vector<StampWords>& launches_;
};

}  // namespace

Timeline make_timeline(
    const LaunchPlan& plan, const std::vector<StampWords>& launches, double clock_mhz
) {
  WHET_CHECK(plan.stamps.has_value(), "a timeline needs a profile build");
  WHET_CHECK(!launches.empty(), "a timeline needs a launch");
  return StampedLaunches(plan, launches).timeline(clock_mhz);
}

}  // namespace whet
