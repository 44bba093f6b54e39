#include "schedule/constraints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/early_reads.hpp"

namespace whet {
namespace {

std::optional<ConstraintViolation> at_most(
    const char* name, const char* what, std::int64_t found, std::int64_t limit
) {
  if (found <= limit) {
    return std::nullopt;
  }
  return ConstraintViolation{
      name, fmt::format("{} is {}, the device allows {}", what, found, limit)};
}

}  // namespace

std::optional<ConstraintViolation> first_violation(
    const Schedule& schedule, const DeviceLimits& limits
) {
  if (schedule.partition == Partition::Block && schedule.blocks != 1) {
    return ConstraintViolation{
        "partition_blocks",
        fmt::format("partition block needs blocks 1, found {}", schedule.blocks)};
  }
  constexpr int kMaxClusterBlocks = 16;
  if (schedule.partition == Partition::Cluster &&
      (schedule.blocks < 2 || schedule.blocks > kMaxClusterBlocks)) {
    return ConstraintViolation{
        "cluster_blocks",
        fmt::format(
            "partition cluster needs blocks 2 to {}, found {}", kMaxClusterBlocks, schedule.blocks
        )};
  }
  if (limits.target == Target::Cpu) {
    return at_most("cores", "the number of threads", schedule.blocks, limits.num_sms);
  }
  if (auto v =
          at_most("threads_per_block", "threads", schedule.threads, limits.max_threads_per_block)) {
    return v;
  }
  const std::int64_t shared =
      schedule.shared_arena_bytes + schedule.scratch_bytes + warming_bytes(schedule);
  if (auto v = at_most(
          "shared_memory", "shared memory in bytes", shared, limits.max_shared_bytes_per_block
      )) {
    return v;
  }
  const std::int64_t per_sm = schedule.blocks_per_sm;
  if (auto v = at_most(
          "threads_per_sm",
          "threads of the co-resident blocks",
          per_sm * schedule.threads,
          limits.max_threads_per_sm
      )) {
    return v;
  }
  // On sm_80 and later the system keeps 1 KiB of shared memory a block. Source: CUDA C++
  // programming guide, compute capabilities.
  constexpr std::int64_t kReservedShared = 1024;
  if (auto v = at_most(
          "shared_memory_per_sm",
          "shared memory of the co-resident blocks in bytes",
          per_sm * (shared + kReservedShared),
          limits.max_shared_bytes_per_sm
      )) {
    return v;
  }
  return at_most("co_residency", "blocks", schedule.blocks, per_sm * limits.num_sms);
}

}  // namespace whet
