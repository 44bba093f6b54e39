#include "jit/emulation_fibers.hpp"

#include <fmt/format.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

// boost::context::fiber unwinds an unfinished fiber by throwing through its frames. Those of a
// kernel hold nothing to destroy and need not be built for exceptions, so the level below is used,
// where an unfinished fiber is simply forgotten.
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t kPageBytes = 4096;
// Frames of emitted kernels hold a few KiB of accumulators; untouched pages take no memory.
constexpr std::size_t kStackBytes = std::size_t{64} * 1024;
// Below each stack, a page without access turns an overflow into a fault.
constexpr std::size_t kStrideBytes = kStackBytes + kPageBytes;

}  // namespace

/// Where a fiber begins.
struct FiberStart {
  static void run(transfer_t from) {
    auto& fibers = *static_cast<Fibers*>(from.data);
    fibers.caller_ = from.fctx;
    const int self = fibers.current_;
    fibers.body_(self);
    fibers.fibers_[static_cast<std::size_t>(self)].ended = true;
    jump_fcontext(fibers.caller_, nullptr);
  }
};

Fibers::~Fibers() { release_stacks(); }

void Fibers::prepare(int num_fibers, std::function<void(int)> body) {
  const auto count = static_cast<std::size_t>(num_fibers);
  reserve_stacks(count);
  body_ = std::move(body);
  fibers_.assign(count, {});
  // Abandoned frames leave their red zones behind. Without AddressSanitizer this is nothing.
  ASAN_UNPOISON_MEMORY_REGION(stacks_, num_stacks_ * kStrideBytes);
  for (std::size_t i = 0; i < count; ++i) {
    char* top = stacks_ + (i + 1) * kStrideBytes;
    fibers_[i].context = make_fcontext(top, kStackBytes, &FiberStart::run);
  }
}

bool Fibers::resume(int fiber) {
  Fiber& next = fibers_[static_cast<std::size_t>(fiber)];
  current_ = fiber;
  const transfer_t from = jump_fcontext(next.context, this);
  next.context = from.fctx;
  current_ = -1;
  return next.ended;
}

void Fibers::suspend() {
  const transfer_t from = jump_fcontext(caller_, nullptr);
  caller_ = from.fctx;
}

bool Fibers::owns(const void* address) const {
  const auto* byte = static_cast<const char*>(address);
  return byte >= stacks_ && byte < stacks_ + num_stacks_ * kStrideBytes;
}

void Fibers::reserve_stacks(std::size_t num_stacks) {
  if (num_stacks <= num_stacks_) {
    return;
  }
  release_stacks();
  void* memory = mmap(
      nullptr,
      num_stacks * kStrideBytes,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
      -1,
      0
  );
  if (memory == MAP_FAILED) {
    throw EnvironmentError(fmt::format(
        "cannot reserve {} stacks of {} KiB for emulated threads: {}",
        num_stacks,
        kStackBytes / 1024,
        std::strerror(errno)
    ));
  }
  stacks_ = static_cast<char*>(memory);
  num_stacks_ = num_stacks;
  for (std::size_t i = 0; i < num_stacks; ++i) {
    if (mprotect(stacks_ + i * kStrideBytes, kPageBytes, PROT_NONE) != 0) {
      throw EnvironmentError(
          fmt::format("cannot protect the stack of an emulated thread: {}", std::strerror(errno))
      );
    }
  }
}

void Fibers::release_stacks() noexcept {
  if (stacks_ != nullptr && munmap(stacks_, num_stacks_ * kStrideBytes) != 0) {
    fmt::print(stderr, "whet: cannot release stacks: {}\n", std::strerror(errno));
  }
  stacks_ = nullptr;
  num_stacks_ = 0;
}

}  // namespace whet
