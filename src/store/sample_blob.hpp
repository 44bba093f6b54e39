#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/evaluation.hpp"

namespace whet {

/// Bytes of one sample in a blob: time_ns, clock_mhz, temperature_c, throttled (0 or 1), each a
/// little-endian f64.
inline constexpr std::size_t kSampleBytes = 4 * sizeof(double);

std::string encode_samples(const std::vector<Sample>& samples);

/// Nothing if `blob` is not a whole number of samples.
std::optional<std::vector<Sample>> decode_samples(std::string_view blob);

}  // namespace whet
