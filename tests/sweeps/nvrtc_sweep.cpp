// Compiles a stratified sample of the space of every seeds workload for GPUs that are not there,
// and writes what each point took and occupies. scripts/sweep_nvrtc.sh builds and runs it.
//
// nvrtc_sweep POINTS OUTPUT: POINTS points a device, spread over the workloads.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "jit/nvrtc.hpp"
#include "stats/quantile.hpp"
#include "support/compile_sweep.hpp"

namespace whet::testing {
namespace {

struct Point {
  std::string device;
  std::string arch;
  std::string workload;
  Configuration configuration;
  CompileResponse response;
};

std::string load_average() {
  std::ifstream file("/proc/loadavg");
  std::string one_minute;
  file >> one_minute;
  return one_minute;
}

std::string cpu_model() {
  const DeviceLimits host = host_limits(0);
  return fmt::format("{}, {} cores", host.name, host.num_sms);
}

std::vector<Point> sweep_device(
    const std::string& device,
    const std::vector<SweepWorkload>& workloads,
    std::size_t num_points,
    int& num_refused
) {
  const std::filesystem::path source_folder = WHET_SOURCE_DIR;
  const DeviceLimits limits = load_device_limits(device, source_folder / "configs/devices");
  const TemporaryFolder cache("whet-sweep-");
  std::vector<SweepOrder> orders;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    orders.emplace_back(workloads[w].workload, limits, w);
  }
  std::vector<Point> points;
  for (std::size_t i = 0; i < num_points; ++i) {
    const auto& [name, workload] = workloads[i % workloads.size()];
    Point point{
        .device = device,
        .arch = limits.arch,
        .workload = name,
        .configuration = orders[i % workloads.size()].next(),
        .response = {}};
    point.response = compile_point(workload, point.configuration, limits, cache.path());
    fmt::print(
        "{} {:3}/{} {:24} {:18} {:6.2f} s  {:3} registers, {} B spilled\n",
        limits.arch,
        i + 1,
        num_points,
        name,
        status_name(point.response.status),
        point.response.compile_s,
        point.response.resources.registers,
        point.response.resources.spill_store_bytes
    );
    std::fflush(stdout);
    points.push_back(std::move(point));
  }
  for (const SweepOrder& order : orders) {
    num_refused += order.num_refused();
  }
  return points;
}

Json to_json(const Point& point) {
  const Resources& resources = point.response.resources;
  Json json{
      {"arch", point.arch},
      {"workload", point.workload},
      {"configuration", to_text(point.configuration)},
      {"status", status_name(point.response.status)},
      {"compile_s", std::stod(fmt::format("{:.3f}", point.response.compile_s))},
      {"registers", resources.registers},
      {"spill_store_bytes", resources.spill_store_bytes},
      {"spill_load_bytes", resources.spill_load_bytes},
      {"static_shared_bytes", resources.static_shared_bytes},
      {"dynamic_shared_bytes", resources.dynamic_shared_bytes},
      {"code_bytes", resources.code_bytes}};
  if (!point.response.detail.empty()) {
    json["detail"] = point.response.detail;
  }
  return json;
}

/// Of the points of one architecture, or of all.
Json summary(const std::vector<Point>& points, const std::string& arch) {
  std::vector<double> times_s;
  std::map<std::string, int> statuses;
  int num_spilling = 0;
  std::int64_t most_registers = 0;
  std::int64_t most_shared_bytes = 0;
  for (const Point& point : points) {
    if (!arch.empty() && point.arch != arch) {
      continue;
    }
    const Resources& resources = point.response.resources;
    times_s.push_back(point.response.compile_s);
    statuses[std::string(status_name(point.response.status))] += 1;
    num_spilling += resources.spill_store_bytes + resources.spill_load_bytes > 0 ? 1 : 0;
    most_registers = std::max(most_registers, resources.registers);
    most_shared_bytes =
        std::max(most_shared_bytes, resources.static_shared_bytes + resources.dynamic_shared_bytes);
  }
  return {
      {"points", times_s.size()},
      {"statuses", statuses},
      {"compile_s_median", quantile(times_s, 0.5)},
      {"compile_s_p95", quantile(times_s, 0.95)},
      {"compile_s_max", quantile(times_s, 1.0)},
      {"points_that_spill", num_spilling},
      {"most_registers", most_registers},
      {"most_shared_bytes", most_shared_bytes}};
}

/// One line a point, so that two results compare line by line.
std::string to_text(const Json& head, const std::vector<Point>& points) {
  std::string text = head.dump(2);
  text.erase(text.rfind("\n}"));
  text += ",\n  \"points\": [";
  for (std::size_t i = 0; i < points.size(); ++i) {
    text += fmt::format("{}\n    {}", i == 0 ? "" : ",", to_json(points[i]).dump());
  }
  return text + "\n  ]\n}\n";
}

int run(std::size_t num_points, const std::filesystem::path& output) {
  const std::vector<SweepWorkload> workloads = seeds_workloads(WHET_SOURCE_DIR);
  const std::string load_before = load_average();
  std::vector<Point> points;
  int num_refused = 0;
  std::vector<std::string> archs;
  for (const char* device : {"a100", "h200", "b200"}) {
    for (Point& point : sweep_device(device, workloads, num_points, num_refused)) {
      points.push_back(std::move(point));
    }
    archs.push_back(points.back().arch);
  }
  Json head{
      {"schema", "whet.nvrtc_sweep/1"},
      {"about", "scripts/sweep_nvrtc.sh: one compilation after another, nothing from a cache"},
      {"nvrtc", find_nvrtc("").version},
      {"cpu", cpu_model()},
      {"load_average", {load_before, load_average()}},
      {"refused_before_compiling", num_refused},
      {"all", summary(points, "")}};
  for (const std::string& arch : archs) {
    head["by_arch"][arch] = summary(points, arch);
  }
  write_file_atomically(output, to_text(head, points));
  fmt::print("{}\n", head.dump(2));
  const Json& statuses = head.at("all").at("statuses");
  return statuses.size() == 1 && statuses.contains("Ok") ? 0 : 1;
}

}  // namespace
}  // namespace whet::testing

int main(int count, char** arguments) {
  const std::size_t points = count == 3 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  if (points == 0) {
    fmt::print(stderr, "usage: nvrtc_sweep POINTS OUTPUT, with at least one point\n");
    return 2;
  }
  try {
    return whet::testing::run(points, arguments[2]);
  } catch (const whet::Error& error) {
    fmt::print(stderr, "nvrtc_sweep: {}\n", error.what());
    return 3;
  }
}
