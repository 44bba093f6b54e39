#include "store/sample_blob.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace whet {

static_assert(std::endian::native == std::endian::little, "blobs are copied byte by byte");

std::string encode_samples(const std::vector<Sample>& samples) {
  std::string blob;
  blob.reserve(samples.size() * kSampleBytes);
  for (const Sample& sample : samples) {
    const std::array<double, 4> values{
        sample.time_ns, sample.clock_mhz, sample.temperature_c, sample.throttled ? 1.0 : 0.0};
    std::array<char, kSampleBytes> bytes;
    std::memcpy(bytes.data(), values.data(), kSampleBytes);
    blob.append(bytes.data(), kSampleBytes);
  }
  return blob;
}

std::optional<std::vector<Sample>> decode_samples(std::string_view blob) {
  if (blob.size() % kSampleBytes != 0) {
    return std::nullopt;
  }
  std::vector<Sample> samples;
  samples.reserve(blob.size() / kSampleBytes);
  for (; !blob.empty(); blob.remove_prefix(kSampleBytes)) {
    std::array<double, 4> values;
    std::memcpy(values.data(), blob.data(), kSampleBytes);
    samples.push_back(
        {.time_ns = values[0],
         .clock_mhz = values[1],
         .temperature_c = values[2],
         .throttled = values[3] != 0.0}
    );
  }
  return samples;
}

}  // namespace whet
