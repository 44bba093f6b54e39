#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whet {

/// A compiler's log from its first error on, cut at a line's end to about `max_bytes`, with the
/// number of bytes left out.
std::string first_errors(std::string_view log, std::size_t max_bytes = 4096);

/// What ptxas says of one kernel with `--ptxas-options=-v`.
struct PtxasReport {
  std::int64_t registers = 0;
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  std::int64_t static_shared_bytes = 0;

  bool operator==(const PtxasReport&) const = default;
};

/// Nothing if the log does not report on the kernel `entry`.
std::optional<PtxasReport> parse_ptxas_report(std::string_view log, std::string_view entry);

}  // namespace whet
