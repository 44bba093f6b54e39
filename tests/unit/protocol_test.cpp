#include "harness/protocol.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace whet {
namespace {

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  return {.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
}

/// What a reader makes of `bytes` followed by the end of the stream.
FrameOutcome read_bytes(const std::string& bytes) {
  Pipe pipe = make_pipe();
  EXPECT_EQ(
      ::write(pipe.write_end.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size())
  );
  pipe.write_end.reset();
  return read_frame(pipe.read_end.get());
}

FrameFailure failure_of(const FrameOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<FrameFailure>(outcome));
  return std::get<FrameFailure>(outcome);
}

Message example() {
  Json body;
  body["numbers"] = {1, 2.5, -3};
  body["text"] = "näme \"x*/\"\n";
  return {.kind = "example", .body = body};
}

/// A frame around a payload that is not ours.
std::string framed(const std::string& payload) {
  std::string bytes;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes += static_cast<char>((payload.size() >> (8 * i)) & 0xffu);
  }
  return bytes + payload;
}

TEST(Protocol, ReadsWhatItWrote) {
  EXPECT_EQ(std::get<Message>(read_bytes(encode_frame(example()))), example());
}

TEST(Protocol, ReadsAFrameThatArrivesInPieces) {
  Pipe pipe = make_pipe();
  Message large = example();
  large.body["padding"] = std::string(300'000, 'x');
  std::thread writer([&] { write_frame(pipe.write_end.get(), large); });
  EXPECT_EQ(std::get<Message>(read_frame(pipe.read_end.get())), large);
  writer.join();
}

TEST(Protocol, CallsTheEndBetweenFramesClosed) {
  EXPECT_EQ(failure_of(read_bytes("")).fault, FrameFault::Closed);
}

TEST(Protocol, CallsTheEndInsideAFrameTorn) {
  const std::string bytes = encode_frame(example());
  for (const std::size_t size : {std::size_t{2}, std::size_t{4}, bytes.size() - 1}) {
    const FrameFailure failure = failure_of(read_bytes(bytes.substr(0, size)));
    EXPECT_EQ(failure.fault, FrameFault::Torn) << "after " << size << " bytes";
  }
}

TEST(Protocol, RefusesALengthBeyondTheCapAndShowsTheBytes) {
  const FrameFailure failure = failure_of(read_bytes("hello world"));
  EXPECT_EQ(failure.fault, FrameFault::Oversized);
  EXPECT_NE(failure.detail.find("67108864"), std::string::npos) << failure.detail;
  EXPECT_NE(failure.detail.find("\"hell\""), std::string::npos) << failure.detail;
}

TEST(Protocol, CallsBytesThatAreNoJsonGarbage) {
  const FrameFailure failure = failure_of(read_bytes(framed("not \x01 json")));
  EXPECT_EQ(failure.fault, FrameFault::Garbage);
  EXPECT_NE(failure.detail.find("not \\x01 json"), std::string::npos) << failure.detail;
}

TEST(Protocol, CallsJsonOfAnotherFormGarbage) {
  EXPECT_EQ(failure_of(read_bytes(framed("[1, 2]"))).fault, FrameFault::Garbage);
  EXPECT_EQ(failure_of(read_bytes(framed(R"({"protocol": 1})"))).fault, FrameFault::Garbage);
  EXPECT_EQ(
      failure_of(read_bytes(framed(R"({"protocol": 1, "kind": 3, "body": {}})"))).fault,
      FrameFault::Garbage
  );
}

TEST(Protocol, NamesBothVersionsWhenTheyDiffer) {
  const FrameFailure failure =
      failure_of(read_bytes(framed(R"({"protocol": 2, "kind": "x", "body": {}})")));
  EXPECT_EQ(failure.fault, FrameFault::OtherVersion);
  EXPECT_NE(failure.detail.find("expected protocol version 1, found 2"), std::string::npos);
}

TEST(Protocol, SurvivesTextThatIsNotUtf8) {
  Message message = example();
  message.body["text"] = std::string("compiler said \xff\xfe");
  const FrameOutcome outcome = read_bytes(encode_frame(message));
  ASSERT_TRUE(std::holds_alternative<Message>(outcome));
  EXPECT_EQ(std::get<Message>(outcome).kind, "example");
}

TEST(Protocol, RefusesToWriteToAParentThatIsGone) {
  Pipe pipe = make_pipe();
  pipe.read_end.reset();
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_THROW(write_frame(pipe.write_end.get(), example()), EnvironmentError);
}

/// `cat` answers every frame with itself.
Subprocess echo_child() {
  ProcessOptions options;
  options.arguments = {"cat"};
  return Subprocess(options);
}

Subprocess::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(Protocol, TalksToAChild) {
  Subprocess child = echo_child();
  ASSERT_FALSE(write_frame(child, example(), in(std::chrono::seconds(20))));
  EXPECT_EQ(std::get<Message>(read_frame(child, in(std::chrono::seconds(20)))), example());
}

TEST(Protocol, GivesUpOnASilentChildAtTheDeadline) {
  Subprocess child = echo_child();
  const FrameFailure failure = failure_of(read_frame(child, in(std::chrono::milliseconds(30))));
  EXPECT_EQ(failure.fault, FrameFault::TimedOut);
}

TEST(Protocol, GivesUpOnASilentChildWhenCancelled) {
  Subprocess child = echo_child();
  const std::atomic<bool> cancelled = true;
  const FrameFailure failure =
      failure_of(read_frame(child, in(std::chrono::seconds(60)), &cancelled));
  EXPECT_EQ(failure.fault, FrameFault::TimedOut);
}

TEST(Protocol, NoticesAChildThatNoLongerReads) {
  ProcessOptions options;
  options.arguments = {"true"};
  Subprocess child(options);
  ASSERT_TRUE(child.wait(in(std::chrono::seconds(20))));
  const auto failure = write_frame(child, example(), in(std::chrono::seconds(20)));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->fault, FrameFault::Closed);
}

}  // namespace
}  // namespace whet
