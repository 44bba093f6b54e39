#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace whet {
namespace {

TEST(Sha256, MatchesThePublishedDigests) {
  // Source: FIPS 180-4 example values.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
  );
  EXPECT_EQ(
      sha256_hex(std::string(1'000'000, 'a')),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
  );
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreSplit) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i);
  }
  for (std::size_t size = 0; size <= text.size(); ++size) {
    Sha256 hash;
    for (std::size_t i = 0; i < size; i += 7) {
      hash.update(std::string_view(text).substr(i, std::min<std::size_t>(7, size - i)));
    }
    EXPECT_EQ(hash.hex_digest(), sha256_hex(std::string_view(text).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace whet
