#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.hpp"
#include "base/subprocess.hpp"

namespace whet {

/// What whet and its child programs say to each other over pipes: frames of a length (u32, little
/// endian) and that many bytes of JSON, {"protocol": 1, "kind": "…", "body": {…}}. Large tensors
/// travel in files. docs/formats/protocol.md has the conversation.
inline constexpr int kProtocolVersion = 1;
inline constexpr std::uint32_t kMaxFrameBytes = 64u << 20;

/// What a frame holds.
struct Message {
  std::string kind;
  Json body;

  bool operator==(const Message&) const = default;
};

/// Why there is no message.
enum class FrameFault {
  Closed,        ///< the stream ended between frames
  TimedOut,      ///< the deadline passed
  Torn,          ///< the stream ended inside a frame
  Oversized,     ///< the length is beyond the cap: mostly text that is not a frame
  Garbage,       ///< the bytes are not JSON of the expected form
  OtherVersion,  ///< a frame of another protocol version
};

struct FrameFailure {
  FrameFault fault = FrameFault::Closed;
  std::string detail;
};

using FrameOutcome = std::variant<Message, FrameFailure>;

/// The bytes of a frame. Throws InternalError for a message beyond the cap.
std::string encode_frame(const Message& message);
/// The message in the bytes behind a frame's length.
FrameOutcome decode_payload(std::string_view payload);

/// A child's side: reads one frame from a blocking descriptor.
FrameOutcome read_frame(int fd);
/// A child's side. Throws EnvironmentError when the parent is gone.
void write_frame(int fd, const Message& message);

/// The parent's side: reads one frame from a child's standard output. Gives up as at the deadline
/// once `cancelled`, when given, is set.
FrameOutcome read_frame(
    Subprocess& child, Subprocess::Deadline deadline, const std::atomic<bool>* cancelled = nullptr
);
/// The parent's side. Nothing when all bytes were taken.
std::optional<FrameFailure> write_frame(
    Subprocess& child, const Message& message, Subprocess::Deadline deadline
);

}  // namespace whet
