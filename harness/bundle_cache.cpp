#include "harness/bundle_cache.hpp"

#include <algorithm>

namespace whet {
namespace {

/// Beyond this a worker rereads: three seeds of a large model must not crowd out its device's host.
constexpr std::uintmax_t kMaxKeptBytes = std::uintmax_t{4} << 30;

}  // namespace

std::vector<const ReferenceBundle*> BundleCache::get(const std::vector<std::filesystem::path>& paths
) {
  if (num_bytes_ > kMaxKeptBytes) {
    std::erase_if(bundles_, [&paths](const auto& entry) {
      return std::find(paths.begin(), paths.end(), entry.first) == paths.end();
    });
    num_bytes_ = 0;
  }
  std::vector<const ReferenceBundle*> found;
  for (const std::filesystem::path& path : paths) {
    auto entry = bundles_.find(path);
    if (entry == bundles_.end()) {
      entry = bundles_.emplace(path, read_bundle(path, workload_)).first;
      num_bytes_ += std::filesystem::file_size(path);
    }
    found.push_back(&entry->second);
  }
  return found;
}

}  // namespace whet
