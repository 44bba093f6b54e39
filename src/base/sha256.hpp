#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace whet {

/// SHA-256 over bytes given piece by piece. Source: FIPS 180-4.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits; the object must not be used afterwards.
  std::string hex_digest();

 private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, 64> pending_{};
  std::size_t num_pending_ = 0;
  std::uint64_t num_bytes_ = 0;
};

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace whet
