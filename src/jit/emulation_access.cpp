#include "jit/emulation_access.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <utility>

namespace whet {
namespace {

constexpr std::uint32_t kPending = UINT32_MAX;
constexpr std::size_t kCellBytes = 2;

/// The memory images of the program and its libraries: constants of a kernel lie there.
std::vector<EmulatedRegion> loaded_images() {
  std::vector<EmulatedRegion> images;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type == PT_LOAD) {
            static_cast<std::vector<EmulatedRegion>*>(out)->push_back(
                {.begin = reinterpret_cast<char*>(info->dlpi_addr + header.p_vaddr),
                 .bytes = header.p_memsz,
                 .name = {}}
            );
          }
        }
        return 0;
      },
      &images
  );
  return images;
}

std::ptrdiff_t offset_of(const EmulatedRegion& region, const void* address) {
  return static_cast<const char*>(address) - region.begin;
}

}  // namespace

void AccessChecker::begin_launch(
    const EmulatedMemory* global, int num_blocks, int threads_a_block
) {
  global_ = global;
  threads_a_block_ = threads_a_block;
  tick_ = 1;
  grid_tick_ = 0;
  block_ticks_.assign(static_cast<std::size_t>(num_blocks), 0u);
  warp_ticks_.assign(static_cast<std::size_t>(num_blocks * threads_a_block / 32), 0u);
  team_meetings_.assign(warp_ticks_.size(), {});
  shadows_.clear();
  latest_ = nullptr;
  shared_.assign(static_cast<std::size_t>(num_blocks), {});
  exempt_ = global == nullptr ? std::vector<EmulatedRegion>{} : loaded_images();
}

void AccessChecker::add_shared(int block, const EmulatedRegion& region) {
  shared_[static_cast<std::size_t>(block)] = region;
}

void AccessChecker::add_exempt(const void* begin, std::size_t bytes) {
  exempt_.push_back(
      {.begin = const_cast<char*>(static_cast<const char*>(begin)), .bytes = bytes, .name = {}}
  );
}

AccessChecker::Complaint AccessChecker::read(int thread, const EmulatedAccess& access) {
  Shadow* shadow = find_shadow(access.address);
  if (Complaint complaint = refuse(thread, access, shadow)) {
    return complaint;
  }
  for (Cell& cell : cells(shadow, access)) {
    if (!is_ordered(cell.write, thread)) {
      return describe_race(cell, thread, "reads", cell.write, "wrote");
    }
    keep_read(cell, thread);
  }
  return std::nullopt;
}

void AccessChecker::team_met(int first_warp, int num_warps) {
  ++tick_;
  for (int warp = first_warp; warp < first_warp + num_warps; ++warp) {
    team_meetings_[static_cast<std::size_t>(warp)] = {first_warp, num_warps, tick_};
  }
}

AccessChecker::Complaint AccessChecker::write(int thread, const EmulatedAccess& access) {
  return write_cells(thread, access, tick_);
}

AccessChecker::Complaint AccessChecker::begin_write(int thread, const EmulatedAccess& access) {
  return write_cells(thread, access, kPending);
}

void AccessChecker::end_write(int thread, const EmulatedAccess& access) {
  Shadow* shadow = find_shadow(access.address);
  if (!refuse(thread, access, shadow)) {
    for (Cell& cell : cells(shadow, access)) {
      cell.write.tick = tick_;
    }
  }
}

AccessChecker::Complaint AccessChecker::write_cells(
    int thread, const EmulatedAccess& access, std::uint32_t tick
) {
  Shadow* shadow = find_shadow(access.address);
  if (Complaint complaint = refuse(thread, access, shadow)) {
    return complaint;
  }
  for (Cell& cell : cells(shadow, access)) {
    if (!is_ordered(cell.write, thread)) {
      return describe_race(cell, thread, "writes", cell.write, "wrote");
    }
    for (const Mark& mark : cell.reads) {
      if (!is_ordered(mark, thread)) {
        return describe_race(cell, thread, "writes", mark, "read");
      }
    }
    cell = {
        .write = {.thread = static_cast<std::uint32_t>(thread) + 1u, .tick = tick}, .reads = {}};
  }
  return std::nullopt;
}

/// The shadow of the buffer that holds the address, or whose guard bytes do; null elsewhere.
AccessChecker::Shadow* AccessChecker::find_shadow(const void* address) {
  // Most accesses hit the buffer of the one before.
  if (latest_ != nullptr && latest_->region.contains(address)) {
    return latest_;
  }
  const auto shared = std::find_if(shared_.begin(), shared_.end(), [&](const auto& region) {
    return region.contains(address);
  });
  const EmulatedRegion* region = nullptr;
  if (shared != shared_.end()) {
    region = &*shared;
  } else if (global_ != nullptr) {
    region = global_->find(address);
  }
  if (region == nullptr) {
    return nullptr;
  }
  Shadow& shadow = shadows_[region->begin];
  if (shadow.cells.empty()) {
    shadow.region = *region;
    shadow.block = shared == shared_.end() ? -1 : static_cast<int>(shared - shared_.begin());
    shadow.cells.resize((region->bytes + kCellBytes - 1) / kCellBytes);
  }
  latest_ = &shadow;
  return latest_;
}

/// What is wrong with the place of an access.
AccessChecker::Complaint AccessChecker::refuse(
    int thread, const EmulatedAccess& access, const Shadow* shadow
) const {
  if (shadow == nullptr) {
    if (global_ == nullptr || is_exempt(access.address)) {
      return std::nullopt;
    }
    return fmt::format(
        "{} accesses {} bytes at {}, outside of every buffer",
        describe(thread),
        access.bytes,
        access.address
    );
  }
  const EmulatedRegion& region = shadow->region;
  const std::ptrdiff_t offset = offset_of(region, access.address);
  const char* problem = nullptr;
  if (!region.contains(access.address, access.bytes)) {
    problem = "outside of it";
  } else if (shadow->block >= 0 && shadow->block != thread / threads_a_block_) {
    problem = "which is another block's";
  } else if (reinterpret_cast<std::uintptr_t>(access.address) % access.alignment != 0) {
    problem = "which is not aligned";
  }
  if (problem == nullptr) {
    return std::nullopt;
  }
  return fmt::format(
      "{} accesses {} bytes at byte {} of {}, {}",
      describe(thread),
      access.bytes,
      offset,
      region.name,
      problem
  );
}

/// The cells that an access touches; none without a shadow.
std::span<AccessChecker::Cell> AccessChecker::cells(Shadow* shadow, const EmulatedAccess& access)
    const {
  if (shadow == nullptr) {
    return {};
  }
  const auto first = static_cast<std::size_t>(offset_of(shadow->region, access.address));
  return std::span(shadow->cells).subspan(first / kCellBytes, access.bytes / kCellBytes);
}

bool AccessChecker::is_exempt(const void* address) const {
  return std::any_of(exempt_.begin(), exempt_.end(), [&](const EmulatedRegion& region) {
    return region.contains(address);
  });
}

bool AccessChecker::is_ordered(const Mark& mark, int thread) const {
  if (mark.thread == 0u) {
    return true;
  }
  const int other = static_cast<int>(mark.thread - 1u);
  if (mark.tick == kPending || other == thread) {
    return mark.tick != kPending;
  }
  if (grid_tick_ > mark.tick) {
    return true;
  }
  const int block = thread / threads_a_block_;
  if (other / threads_a_block_ != block) {
    return false;
  }
  const TeamMeeting& team = team_meetings_[static_cast<std::size_t>(thread / 32)];
  if (team.tick > mark.tick && other / 32 >= team.first_warp &&
      other / 32 < team.first_warp + team.num_warps) {
    return true;
  }
  return block_ticks_[static_cast<std::size_t>(block)] > mark.tick ||
         (other / 32 == thread / 32 &&
          warp_ticks_[static_cast<std::size_t>(thread / 32)] > mark.tick);
}

// Keeps two reads that a later write could race with, of different threads and if possible blocks.
void AccessChecker::keep_read(Cell& cell, int thread) const {
  const Mark mark = {.thread = static_cast<std::uint32_t>(thread) + 1u, .tick = tick_};
  for (Mark& kept : cell.reads) {
    if (is_ordered(kept, thread)) {
      kept = mark;
      return;
    }
  }
  const int block = thread / threads_a_block_;
  const bool first_is_ours =
      static_cast<int>(cell.reads[0].thread - 1u) / threads_a_block_ == block;
  cell.reads[first_is_ours ? 0 : 1] = mark;
}

std::string AccessChecker::describe(int thread) const {
  return fmt::format("thread {} of block {}", thread % threads_a_block_, thread / threads_a_block_);
}

std::string AccessChecker::describe_race(
    const Cell& cell, int thread, const char* does, const Mark& other, const char* did
) const {
  const std::string who = describe(thread);
  const std::string whom = describe(static_cast<int>(other.thread - 1u));
  const auto byte = (&cell - latest_->cells.data()) * static_cast<std::ptrdiff_t>(kCellBytes);
  const std::string where = fmt::format("byte {} of {}", byte, latest_->region.name);
  if (other.tick == kPending) {
    return fmt::format(
        "race: {} {} {} while an asynchronous copy of {} is under way", who, does, where, whom
    );
  }
  return fmt::format(
      "race: {} {} {}, which {} {} with no barrier in between", who, does, where, whom, did
  );
}

}  // namespace whet
