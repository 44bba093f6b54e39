#include "jit/emulation_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace whet {
namespace {

constexpr unsigned char kGuard = 0xa5;
// NaN in f32, bf16 and f16; not all ones, which flags unwritten data.
constexpr std::uint16_t kPoison = 0x7fff;

/// Distance from the buffer of the farthest byte that is no longer a guard; 0 if all are.
std::size_t overrun_bytes(const char* guard, bool is_behind) {
  std::size_t farthest = 0;
  for (std::size_t i = 0; i < EmulatedMemory::kGuardBytes; ++i) {
    if (static_cast<unsigned char>(guard[i]) != kGuard) {
      farthest = std::max(farthest, is_behind ? i + 1 : EmulatedMemory::kGuardBytes - i);
    }
  }
  return farthest;
}

}  // namespace

void EmulatedMemory::Free::operator()(char* memory) const noexcept { std::free(memory); }

EmulatedRegion& EmulatedMemory::allocate(std::size_t bytes, std::string name) {
  const std::size_t padded = (bytes + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  std::unique_ptr<char, Free> memory(
      static_cast<char*>(std::aligned_alloc(kGuardBytes, padded + 2 * kGuardBytes))
  );
  if (!memory) {
    throw std::bad_alloc();
  }
  char* begin = memory.get() + kGuardBytes;
  std::memset(begin - kGuardBytes, kGuard, kGuardBytes);
  poison(begin, bytes);
  std::memset(begin + bytes, kGuard, kGuardBytes);
  Allocation& kept = allocations_[begin];
  kept.memory = std::move(memory);
  kept.region = {.begin = begin, .bytes = bytes, .name = std::move(name)};
  return kept.region;
}

bool EmulatedMemory::release(void* memory) {
  const auto found = allocations_.find(static_cast<const char*>(memory));
  if (found == allocations_.end()) {
    return false;
  }
  check(found->second);
  allocations_.erase(found);
  return true;
}

const EmulatedRegion* EmulatedMemory::find(const void* address) const {
  const auto* byte = static_cast<const char*>(address);
  auto next = allocations_.upper_bound(byte + kGuardBytes);
  if (next == allocations_.begin()) {
    return nullptr;
  }
  const EmulatedRegion& region = std::prev(next)->second.region;
  return byte < region.begin + region.bytes + kGuardBytes ? &region : nullptr;
}

std::optional<std::string> EmulatedMemory::check_guards() {
  for (auto& [begin, allocation] : allocations_) {
    check(allocation);
  }
  if (overruns_.empty()) {
    return std::nullopt;
  }
  return fmt::format("{}", fmt::join(std::exchange(overruns_, {}), "; "));
}

void EmulatedMemory::check(Allocation& allocation) {
  const EmulatedRegion& region = allocation.region;
  char* before = region.begin - kGuardBytes;
  char* behind = region.begin + region.bytes;
  if (const std::size_t bytes = overrun_bytes(before, false); bytes != 0) {
    overruns_.push_back(fmt::format("bytes up to {} before {} were written", bytes, region.name));
    std::memset(before, kGuard, kGuardBytes);
  }
  if (const std::size_t bytes = overrun_bytes(behind, true); bytes != 0) {
    overruns_.push_back(fmt::format("bytes up to {} behind {} were written", bytes, region.name));
    std::memset(behind, kGuard, kGuardBytes);
  }
}

void EmulatedMemory::poison(void* memory, std::size_t bytes) {
  auto* to = static_cast<char*>(memory);
  for (std::size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<char>(i % 2 == 0 ? kPoison & 0xff : kPoison >> 8);
  }
}

}  // namespace whet
