#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <vector>

#include "harness/reference_bundle.hpp"
#include "ir/workload.hpp"

namespace whet {

/// Bundles of one workload, read once while they are small enough to keep.
class BundleCache {
 public:
  /// `workload` must outlive the cache.
  explicit BundleCache(const Workload& workload) : workload_(workload) {}
  /// The bundles of `paths`, valid until the next call. Throws EnvironmentError.
  std::vector<const ReferenceBundle*> get(const std::vector<std::filesystem::path>& paths);

 private:
  const Workload& workload_;
  std::map<std::filesystem::path, ReferenceBundle> bundles_;
  std::uintmax_t num_bytes_ = 0;
};

}  // namespace whet
