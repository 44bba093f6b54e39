#include "store/sample_blob.hpp"

#include <gtest/gtest.h>

#include "store/crc32.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

TEST(Crc32, AgreesWithZlib) {
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
}

TEST(SampleBlob, ReturnsTheSamplesBitByBit) {
  const std::vector<Sample> samples = records::sample_block(0, 1234.5678901234567).samples;
  EXPECT_EQ(decode_samples(encode_samples(samples)), samples);
}

TEST(SampleBlob, IsEmptyWithoutSamples) { EXPECT_EQ(encode_samples({}), ""); }

TEST(SampleBlob, PutsTheTimeFirstInLittleEndian) {
  const std::string blob = encode_samples({{.time_ns = 1.0}});
  EXPECT_EQ(blob.size(), kSampleBytes);
  EXPECT_EQ(blob.substr(0, 8), std::string("\0\0\0\0\0\0\xf0\x3f", 8));
}

TEST(SampleBlob, RefusesAPartOfASample) {
  EXPECT_EQ(decode_samples(std::string(kSampleBytes + 1, '\0')), std::nullopt);
}

}  // namespace
}  // namespace whet
