#include "harness/protocol.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace whet {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::uint32_t decode_length(const std::array<unsigned char, kLengthBytes>& bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8) | bytes[i];
  }
  return length;
}

/// Bytes as a person can read them in an error: text stays text.
std::string printable(std::string_view bytes) {
  constexpr std::size_t kMaxShown = 60;
  std::string text;
  for (const char c : bytes.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f;
    text += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return bytes.size() > kMaxShown ? text + "…" : text;
}

FrameFailure oversized(std::uint32_t length, const std::array<unsigned char, kLengthBytes>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {
      FrameFault::Oversized,
      fmt::format(
          "expected a frame of at most {} bytes, found a length of {} (first bytes \"{}\")",
          kMaxFrameBytes,
          length,
          printable(text)
      )};
}

/// Reads a frame through `read(out, size)`, which gives the number of bytes read before the stream
/// ended, or a failure.
template <typename Read>
FrameOutcome read_frame_with(const Read& read) {
  std::array<unsigned char, kLengthBytes> prefix{};
  const std::variant<std::size_t, FrameFailure> head = read(prefix.data(), prefix.size());
  if (const auto* failure = std::get_if<FrameFailure>(&head)) {
    return *failure;
  }
  const std::size_t num_head = std::get<std::size_t>(head);
  if (num_head == 0) {
    return FrameFailure{FrameFault::Closed, "the stream ended"};
  }
  if (num_head < prefix.size()) {
    return FrameFailure{
        FrameFault::Torn, fmt::format("the stream ended after {} of 4 length bytes", num_head)};
  }
  const std::uint32_t length = decode_length(prefix);
  if (length > kMaxFrameBytes) {
    return oversized(length, prefix);
  }
  std::string payload(length, '\0');
  const std::variant<std::size_t, FrameFailure> body = read(payload.data(), payload.size());
  if (const auto* failure = std::get_if<FrameFailure>(&body)) {
    return *failure;
  }
  if (std::get<std::size_t>(body) < payload.size()) {
    return FrameFailure{
        FrameFault::Torn, fmt::format("the stream ended inside a frame of {} bytes", length)};
  }
  return decode_payload(payload);
}

/// read_exactly in slices, between which `cancelled` is looked at. A slice that ends inside the
/// length loses bytes only of a child that does not write a frame at once, as ours do.
Subprocess::Io read_first(
    Subprocess& child,
    void* out,
    std::size_t size,
    Subprocess::Deadline deadline,
    const std::atomic<bool>* cancelled
) {
  constexpr std::chrono::milliseconds kSlice{50};
  while (cancelled != nullptr && !*cancelled) {
    const Subprocess::Deadline slice_end =
        std::min<Subprocess::Deadline>(std::chrono::steady_clock::now() + kSlice, deadline);
    const Subprocess::Io io = child.read_exactly(out, size, slice_end);
    if (io != Subprocess::Io::TimedOut || slice_end == deadline) {
      return io;
    }
  }
  return cancelled != nullptr ? Subprocess::Io::TimedOut : child.read_exactly(out, size, deadline);
}

}  // namespace

std::string encode_frame(const Message& message) {
  Json frame;
  frame["protocol"] = kProtocolVersion;
  frame["kind"] = message.kind;
  frame["body"] = message.body;
  const std::string payload = frame.dump(-1, ' ', false, Json::error_handler_t::replace);
  WHET_CHECK(
      payload.size() <= kMaxFrameBytes, "a '{}' frame of {} bytes", message.kind, payload.size()
  );
  std::string bytes;
  bytes.reserve(kLengthBytes + payload.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes += static_cast<char>((payload.size() >> (8 * i)) & 0xffu);
  }
  return bytes + payload;
}

FrameOutcome decode_payload(std::string_view payload) {
  try {
    const JsonCursor frame = JsonCursor::parse_text(payload, "frame");
    const std::int64_t version = frame.at("protocol").as_integer();
    if (version != kProtocolVersion) {
      return FrameFailure{
          FrameFault::OtherVersion,
          fmt::format(
              "expected protocol version {}, found {}: the programs are of different builds",
              kProtocolVersion,
              version
          )};
    }
    return Message{.kind = frame.at("kind").as_string(), .body = frame.at("body").value()};
  } catch (const UserError& error) {
    return FrameFailure{
        FrameFault::Garbage, fmt::format("{} (found \"{}\")", error.what(), printable(payload))};
  }
}

FrameOutcome read_frame(int fd) {
  return read_frame_with(
      [fd](void* out, std::size_t size) -> std::variant<std::size_t, FrameFailure> {
        std::size_t num_read = 0;
        while (num_read < size) {
          const ssize_t count = ::read(fd, static_cast<char*>(out) + num_read, size - num_read);
          if (count < 0 && errno == EINTR) {
            continue;
          }
          if (count < 0) {
            return FrameFailure{FrameFault::Torn, fmt::format("read: {}", std::strerror(errno))};
          }
          if (count == 0) {
            break;
          }
          num_read += static_cast<std::size_t>(count);
        }
        return num_read;
      }
  );
}

void write_frame(int fd, const Message& message) {
  const std::string bytes = encode_frame(message);
  std::size_t num_written = 0;
  while (num_written < bytes.size()) {
    const ssize_t count = ::write(fd, bytes.data() + num_written, bytes.size() - num_written);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw EnvironmentError(
          fmt::format("cannot write a '{}' frame: {}", message.kind, std::strerror(errno))
      );
    }
    num_written += static_cast<std::size_t>(count);
  }
}

FrameOutcome read_frame(
    Subprocess& child, Subprocess::Deadline deadline, const std::atomic<bool>* cancelled
) {
  bool is_inside_frame = false;
  return read_frame_with(
      [&](void* out, std::size_t size) -> std::variant<std::size_t, FrameFailure> {
        const Subprocess::Io io = is_inside_frame
                                      ? child.read_exactly(out, size, deadline)
                                      : read_first(child, out, size, deadline, cancelled);
        if (io == Subprocess::Io::TimedOut) {
          return FrameFailure{FrameFault::TimedOut, "no answer within the deadline"};
        }
        if (io == Subprocess::Io::Closed) {
          // How many bytes came is not known here: an end before the length counts as between
          // frames.
          return is_inside_frame ? std::variant<std::size_t, FrameFailure>(std::size_t{0})
                                 : FrameFailure{FrameFault::Closed, "the stream ended"};
        }
        is_inside_frame = true;
        return size;
      }
  );
}

std::optional<FrameFailure> write_frame(
    Subprocess& child, const Message& message, Subprocess::Deadline deadline
) {
  switch (child.write(encode_frame(message), deadline)) {
    case Subprocess::Io::Ok:
      return std::nullopt;
    case Subprocess::Io::Closed:
      return FrameFailure{FrameFault::Closed, "the child no longer reads"};
    case Subprocess::Io::TimedOut:
      break;
  }
  return FrameFailure{FrameFault::TimedOut, "the child did not take a request within the deadline"};
}

}  // namespace whet
