#pragma once

#include <cstdint>
#include <string_view>

namespace whet {

/// CRC-32 of ISO-HDLC, the one of zlib and of Python's `zlib.crc32`: finds a flipped byte, not a
/// forger.
std::uint32_t crc32(std::string_view bytes);

}  // namespace whet
