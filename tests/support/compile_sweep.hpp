#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/compile_candidate.hpp"
#include "ir/workload.hpp"
#include "schedule/resolve.hpp"
#include "schedule/search_space.hpp"

namespace whet::testing {

struct SweepWorkload {
  std::string name;
  Workload workload;
};

/// The ten entries of the shipped suite.
inline std::vector<SweepWorkload> seeds_workloads(const std::filesystem::path& source_folder) {
  std::vector<SweepWorkload> workloads;
  for (const SuiteEntry& entry : load_suite(source_folder / "workloads/seeds.json").entries) {
    workloads.push_back({entry.name, load_workload(entry.workload, entry.dims)});
  }
  return workloads;
}

/// Walks the stratified order of a space, past points that are refused or were given before.
class SweepOrder {
 public:
  SweepOrder(const Workload& workload, const DeviceLimits& limits, std::uint64_t seed)
      : workload_(workload), limits_(limits), space_(workload.step, limits), seed_(seed) {}

  Configuration next() {
    for (;;) {
      Configuration configuration = space_.sample(seed_, next_++);
      if (std::find(given_.begin(), given_.end(), configuration) != given_.end()) {
        continue;
      }
      given_.push_back(configuration);
      if (std::holds_alternative<Schedule>(resolve(workload_.step, configuration, limits_))) {
        return configuration;
      }
      ++num_refused_;
    }
  }
  /// By a constraint, before compiling.
  int num_refused() const { return num_refused_; }

 private:
  const Workload& workload_;
  DeviceLimits limits_;
  SearchSpace space_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  std::vector<Configuration> given_;
  int num_refused_ = 0;
};

/// Compiles a point as a session would, into a cache of its own.
inline CompileResponse compile_point(
    const Workload& workload,
    const Configuration& configuration,
    const DeviceLimits& limits,
    const std::filesystem::path& cache
) {
  CompileRequest request;
  request.limits = limits;
  request.configuration = configuration;
  request.options.cache_folder = cache;
  return compile_candidate(workload, request);
}

}  // namespace whet::testing
