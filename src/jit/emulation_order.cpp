#include "jit/emulation_order.hpp"

#include <bit>

namespace whet {
namespace {

// Chances, one in so many draws, that another warp of the block, or another block, becomes the
// favourite: a warp gets ahead by many steps, and a block by several barriers.
constexpr int kDrawsAWarp = 64;
constexpr int kDrawsABlock = 512;

}  // namespace

ReadyThreads::ReadyThreads(const EmulationOptions& options)
    : order_(options.order), random_(options.seed) {}

void ReadyThreads::reset(int num_blocks, int warps_a_block) {
  warps_a_block_ = warps_a_block;
  lanes_.assign(static_cast<std::size_t>(num_blocks * warps_a_block), 0u);
  favourite_ = random_below(num_blocks * warps_a_block);
}

void ReadyThreads::add(int thread) {
  lanes_[static_cast<std::size_t>(thread / 32)] |= 1u << (thread % 32);
}

std::optional<int> ReadyThreads::take() {
  const std::optional<int> warp = pick_warp();
  if (!warp) {
    return std::nullopt;
  }
  std::uint32_t& lanes = lanes_[static_cast<std::size_t>(*warp)];
  int lane = std::countr_zero(lanes);
  if (order_ == EmulationOptions::Order::Reverse) {
    lane = 31 - std::countl_zero(lanes);
  } else if (order_ == EmulationOptions::Order::Random) {
    std::uint32_t rest = lanes;
    for (int skip = random_below(std::popcount(lanes)); skip > 0; --skip) {
      rest &= rest - 1u;
    }
    lane = std::countr_zero(rest);
  }
  lanes &= ~(1u << lane);
  return *warp * 32 + lane;
}

std::optional<int> ReadyThreads::pick_warp() {
  const int num_warps = static_cast<int>(lanes_.size());
  switch (order_) {
    case EmulationOptions::Order::Forward:
      return nth_ready(0, num_warps, 0);
    case EmulationOptions::Order::Reverse:
      for (int warp = num_warps - 1; warp >= 0; --warp) {
        if (lanes_[static_cast<std::size_t>(warp)] != 0u) {
          return warp;
        }
      }
      return std::nullopt;
    case EmulationOptions::Order::Random:
      return pick_random_warp();
  }
  return std::nullopt;
}

std::optional<int> ReadyThreads::pick_random_warp() {
  const bool keep_warp = random_below(kDrawsAWarp) != 0;
  const bool keep_block = random_below(kDrawsABlock) != 0;
  if (keep_block && keep_warp && lanes_[static_cast<std::size_t>(favourite_)] != 0u) {
    return favourite_;
  }
  int first = keep_block ? favourite_ / warps_a_block_ * warps_a_block_ : 0;
  int end = keep_block ? first + warps_a_block_ : static_cast<int>(lanes_.size());
  int num_ready = count_ready(first, end);
  if (num_ready == 0) {
    first = 0;
    end = static_cast<int>(lanes_.size());
    num_ready = count_ready(first, end);
  }
  if (num_ready == 0) {
    return std::nullopt;
  }
  favourite_ = *nth_ready(first, end, random_below(num_ready));
  return favourite_;
}

int ReadyThreads::random_below(int count) {
  return static_cast<int>(random_() % static_cast<std::uint64_t>(count));
}

int ReadyThreads::count_ready(int first_warp, int end_warp) const {
  int count = 0;
  for (int warp = first_warp; warp < end_warp; ++warp) {
    count += lanes_[static_cast<std::size_t>(warp)] != 0u ? 1 : 0;
  }
  return count;
}

std::optional<int> ReadyThreads::nth_ready(int first_warp, int end_warp, int n) const {
  for (int warp = first_warp; warp < end_warp; ++warp) {
    if (lanes_[static_cast<std::size_t>(warp)] != 0u && n-- == 0) {
      return warp;
    }
  }
  return std::nullopt;
}

}  // namespace whet
