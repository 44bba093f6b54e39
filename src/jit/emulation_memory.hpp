#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace whet {

/// Bytes that emulated threads may access, and what to call them in a message.
struct EmulatedRegion {
  char* begin = nullptr;
  std::size_t bytes = 0;
  std::string name;  ///< "buffer 3 of 4096 bytes", "shared memory of block 2"

  bool contains(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    return byte >= begin && byte < begin + bytes;
  }
  bool contains(const void* address, std::size_t num_bytes) const {
    return contains(address) &&
           num_bytes <= bytes - static_cast<std::size_t>(static_cast<const char*>(address) - begin);
  }
};

/// Device memory of the emulation: host memory between guard bytes, poisoned when allocated with a
/// NaN of every float type.
class EmulatedMemory {
 public:
  /// Aligned to 256 bytes as cudaMalloc's. Throws std::bad_alloc.
  EmulatedRegion& allocate(std::size_t bytes, std::string name);
  /// False if `memory` is not the beginning of an allocation. Checks its guards first.
  bool release(void* memory);
  /// The allocation that holds the address, or whose guard bytes do.
  const EmulatedRegion* find(const void* address) const;
  /// What was overrun since the last call, with how far; nothing if no guard changed. A guard is
  /// reported once.
  std::optional<std::string> check_guards();

  /// Guard bytes on either side of an allocation.
  static constexpr std::size_t kGuardBytes = 256;
  /// Fills with the poison of new memory.
  static void poison(void* memory, std::size_t bytes);

 private:
  struct Free {
    void operator()(char* memory) const noexcept;
  };
  struct Allocation {
    std::unique_ptr<char, Free> memory;
    EmulatedRegion region;
  };
  void check(Allocation& allocation);

  std::map<const char*, Allocation> allocations_;  ///< by region.begin
  std::vector<std::string> overruns_;              ///< found, not yet reported
};

}  // namespace whet
