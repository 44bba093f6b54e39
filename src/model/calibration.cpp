#include "model/calibration.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace whet {
namespace {

/// `times` are not empty.
double middle(const JsonCursor& times) {
  std::vector<double> values;
  for (const JsonCursor& time : times.items()) {
    values.push_back(time.as_number());
  }
  if (values.empty()) {
    times.fail("at least one time");
  }
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// One series of the document.
struct Series {
  JsonCursor json;
  std::int64_t blocks;
  double work;  ///< of a repetition

  /// What one more repetition, or kernel, takes.
  double slope_ns() const {
    const auto counts = json.at("counts").items();
    const auto times = json.at("times_ns").items();
    if (counts.size() != 2 || times.size() != 2) {
      json.at("times_ns").fail("two lists of times, as there are two counts");
    }
    const double more = counts[1].as_number() - counts[0].as_number();
    const double slope = (middle(times[1]) - middle(times[0])) / more;
    if (!(slope > 0.0)) {
      json.at("times_ns").fail("more time for more work");
    }
    return slope;
  }
};

std::vector<Series> find_series(
    const JsonCursor& document, std::string_view probe, bool overlaps = false
) {
  std::vector<Series> found;
  for (const JsonCursor& series : document.at("series").items()) {
    if (series.at("probe").as_string() == probe && series.at("overlaps").as_bool() == overlaps) {
      found.push_back(
          {.json = series,
           .blocks = series.at("blocks").as_integer(1),
           .work = series.at("work").as_number()}
      );
    }
  }
  return found;
}

/// The series of a probe with the most blocks, or the fewest.
Series only(const JsonCursor& document, std::string_view probe, bool most_blocks = true) {
  const std::vector<Series> found = find_series(document, probe);
  if (found.empty()) {
    document.at("series").fail("a series of probe " + std::string(probe));
  }
  return most_blocks ? found.back() : found.front();
}

/// Of the probe that counts clocks, else as the device says.
double read_clock_mhz(const JsonCursor& document) {
  const std::vector<Series> counted = find_series(document, "clock");
  if (!counted.empty()) {
    return counted.front().work / counted.front().slope_ns() * 1e3;
  }
  double clock_mhz = 0.0;
  for (const JsonCursor& series : document.at("series").items()) {
    clock_mhz = std::max(clock_mhz, series.at("clock_mhz").as_number());
  }
  if (!(clock_mhz > 0.0)) {
    document.at("series").fail("a clock_mhz above 0 (is NVML missing?)", "none");
  }
  return clock_mhz;
}

}  // namespace

DeviceCosts costs_from_samples(const JsonCursor& document, const std::string& device_name) {
  const double clock_mhz = read_clock_mhz(document);
  const auto clk = [&](double ns) { return ns * clock_mhz * 1e-3; };
  const auto bytes_per_ns = [](const Series& series) { return series.work / series.slope_ns(); };
  const auto work_per_clk = [&](const Series& series) {
    return series.work / clk(series.slope_ns());
  };
  DeviceCosts costs;
  costs.name = device_name;
  costs.about = "measured by whet doctor --calibrate on " + document.at("device").as_string();
  costs.clock_mhz = clock_mhz;
  costs.launch_ns = middle(document.at("launch_ns"));
  costs.graph_node_ns = only(document, "node").slope_ns();
  const std::vector<Series> overlapped = find_series(document, "node", true);
  costs.overlapped_node_ns =
      overlapped.empty() ? costs.graph_node_ns : overlapped.front().slope_ns();
  for (const Series& series : find_series(document, "grid_barrier")) {
    costs.grid_barriers.push_back({static_cast<int>(series.blocks), series.slope_ns()});
  }
  if (costs.grid_barriers.empty()) {
    document.at("series").fail("a series of probe grid_barrier");
  }
  // The CPU target has none: a block is a thread.
  const std::vector<Series> block_barrier = find_series(document, "block_barrier");
  costs.block_barrier_ns =
      block_barrier.empty() ? 1e3 / clock_mhz : block_barrier.front().slope_ns();
  const std::vector<Series> cluster_barrier = find_series(document, "cluster_barrier");
  costs.cluster_barrier_ns = cluster_barrier.empty() ? 0.0 : cluster_barrier.front().slope_ns();
  costs.l2_latency_ns = only(document, "l2_latency").slope_ns();
  costs.l2_bytes_per_ns = bytes_per_ns(only(document, "l2_rate"));
  costs.sm_l2_bytes_per_ns = bytes_per_ns(only(document, "l2_rate", false));
  costs.shared_latency_ns = only(document, "shared_latency").slope_ns();
  costs.shared_bytes_per_clk = work_per_clk(only(document, "shared_rate"));
  const std::vector<Series> mma = find_series(document, "mma");  // none on the CPU target
  costs.mma_flops_per_clk = mma.empty() ? 0.0 : work_per_clk(mma.front());
  costs.fma_flops_per_clk = work_per_clk(only(document, "fma"));
  costs.samples = document.value();
  return costs;
}

}  // namespace whet
