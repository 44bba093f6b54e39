// What the emulation finds out about a kernel: races, deadlocks, barriers that nobody completes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "emulated_kernel.hpp"

namespace whet {
namespace {

using device::u32;
using device::u32x4;
using Order = EmulationOptions::Order;

constexpr u32 kSpinLimit = 1000;

const EmulationOptions kOrders[] = {
    {.order = Order::Forward},
    {.order = Order::Reverse},
    {.order = Order::Random, .seed = 1},
    {.order = Order::Random, .seed = 2},
};

std::size_t grid_thread(int threads_a_block) {
  return static_cast<std::size_t>(device::block_index() * threads_a_block + device::thread_index());
}

/// Each thread of 4 blocks of 64 writes a number and then reads that of the opposite thread.
std::vector<int> exchange_over_grid(const EmulationOptions& options, bool with_barrier) {
  std::vector<int> written(256, -1);
  std::vector<int> read(256, -1);
  u32 control[2] = {};
  const auto fault = run_kernel(
      [&] {
        const std::size_t me = grid_thread(64);
        device::block_barrier();
        written[me] = static_cast<int>(me);
        device::block_barrier();
        if (with_barrier && !device::grid_barrier(control, 4, 0, kSpinLimit)) {
          return;
        }
        read[me] = written[255 - me];
      },
      {.blocks = 4, .threads = 64, .cooperative = true},
      options
  );
  EXPECT_FALSE(fault.has_value()) << fault->detail;
  return read;
}

TEST(Machine, GivesTheSameInEveryOrderWhenBarriersSuffice) {
  for (const EmulationOptions& options : kOrders) {
    const std::vector<int> read = exchange_over_grid(options, true);
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i], static_cast<int>(255 - i));
    }
  }
}

TEST(Machine, ShowsAMissingGridBarrierByDifferingOrders) {
  EXPECT_NE(exchange_over_grid(kOrders[0], false), exchange_over_grid(kOrders[1], false));
}

TEST(Machine, RepeatsARandomOrderBySeed) {
  std::set<std::vector<int>> outcomes;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const EmulationOptions options = {.order = Order::Random, .seed = seed};
    EXPECT_EQ(exchange_over_grid(options, false), exchange_over_grid(options, false));
    outcomes.insert(exchange_over_grid(options, false));
  }
  EXPECT_GT(outcomes.size(), 4u);
}

TEST(Machine, ShowsAMissingBlockBarrierByDifferingOrders) {
  const auto run = [](Order order) {
    std::vector<int> read(64, -1);
    run_kernel(
        [&] {
          auto* shared = reinterpret_cast<int*>(device::shared_memory());
          const int me = device::thread_index();
          shared[me] = me;
          read[static_cast<std::size_t>(me)] = shared[63 - me];
        },
        {.threads = 64, .shared_bytes = 256},
        {.order = order}
    );
    return read;
  };
  EXPECT_NE(run(Order::Forward), run(Order::Reverse));
}

// A copy into a stage that other threads still read: early landing shows it.
TEST(Machine, ShowsAnAsyncCopyOverALiveStageByDifferingOrders) {
  const auto run = [](Order order) {
    alignas(16) static constexpr u32 kSource[4] = {9, 9, 9, 9};
    std::vector<u32> read(64);
    run_kernel(
        [&] {
          auto* shared = reinterpret_cast<u32*>(device::shared_memory());
          const int me = device::thread_index();
          if (me < 4) {
            shared[me] = 1;
          }
          device::block_barrier();
          if (me == 63) {
            device::cp_async_16(shared, kSource, true);
            device::cp_async_commit();
          }
          read[static_cast<std::size_t>(me)] = shared[me % 4];
          device::block_barrier();
          device::cp_async_wait<0>();
        },
        {.threads = 64, .shared_bytes = 16},
        {.order = order}
    );
    return read;
  };
  EXPECT_NE(run(Order::Forward), run(Order::Reverse));
}

TEST(Machine, PoisonsSharedMemoryWithNan) {
  bool all_nan = true;
  run_kernel(
      [&] {
        const auto* shared = reinterpret_cast<const device::bf16*>(device::shared_memory());
        all_nan = all_nan && std::isnan(device::to_f32(shared[device::thread_index()]));
      },
      {.shared_bytes = 64}
  );
  EXPECT_TRUE(all_nan);
}

TEST(Machine, ReportsAWriteBehindSharedMemory) {
  const auto fault = run_kernel(
      [] {
        if (device::block_index() == 1 && device::thread_index() == 0) {
          device::shared_memory()[66] = 0;
        }
      },
      {.blocks = 2, .shared_bytes = 64}
  );
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::Crashed);
  EXPECT_EQ(fault->detail, "bytes up to 3 behind the shared memory of block 1 were written");
}

TEST(Machine, ReportsABlockBarrierThatSomeThreadsSkip) {
  const auto fault = run_kernel(
      [] {
        if (device::thread_index() != 7) {
          device::block_barrier();
        }
      },
      {.threads = 64}
  );
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::TimedOut);
  EXPECT_EQ(
      fault->detail,
      "deadlock: no thread can go on. block 0: 1 threads ended; block 0: 63 threads in "
      "block_barrier"
  );
}

TEST(Machine, ReportsLanesInDifferentCollectives) {
  const auto fault = run_kernel([] {
    if (device::lane_index() < 16) {
      device::warp_sum(1.0f);
    } else {
      device::shuffle_xor(1.0f, 1);
    }
  });
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(
      fault->detail,
      "thread 16 of block 0 is in shuffle_xor while others of its warp are in warp_sum"
  );
}

TEST(Machine, LetsAPollFindWhatAnotherBlockStores) {
  u32 flag = 0;
  u32 seen = 0;
  const auto fault = run_kernel(
      [&] {
        if (device::thread_index() != 0) {
          return;
        }
        if (device::block_index() == 1) {
          flag = 5;
        } else {
          while (device::poll_acquire(&flag) == 0) {
          }
          seen = flag;
        }
      },
      {.blocks = 2}
  );
  EXPECT_FALSE(fault.has_value());
  EXPECT_EQ(seen, 5u);
}

TEST(Machine, ReportsPollsThatNobodySatisfies) {
  u32 flags[2] = {};
  for (const int num_words : {1, 2}) {
    const auto fault = run_kernel([&] {
      for (int i = 0; device::poll_acquire(&flags[i % num_words]) == 0; ++i) {
      }
    });
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->status, Status::TimedOut);
    EXPECT_EQ(fault->detail, "deadlock: no thread can go on. block 0: 32 threads in poll_acquire");
  }
}

TEST(GridBarrier, FlipsTheTopBitOfItsWord) {
  u32 control[2] = {};
  std::vector<u32> after;
  const auto fault = run_kernel(
      [&] {
        for (u32 place = 0; place < 3; ++place) {
          ASSERT_TRUE(device::grid_barrier(control, 3, place, kSpinLimit));
          if (device::block_index() == 0 && device::thread_index() == 0) {
            after.push_back(control[0]);
          }
        }
      },
      {.blocks = 3, .cooperative = true}
  );
  EXPECT_FALSE(fault.has_value()) << fault->detail;
  EXPECT_EQ(after, (std::vector<u32>{0x80000000u, 0u, 0x80000000u}));
  EXPECT_EQ(control[1], 0u);
}

TEST(GridBarrier, LeavesItsPlaceWhenABlockDoesNotCome) {
  u32 control[2] = {};
  int num_refused = 0;
  const auto kernel = [&] {
    if (device::block_index() == 2) {
      return;
    }
    if (!device::grid_barrier(control, 3, 6, kSpinLimit)) {
      ++num_refused;
    }
  };
  const EmulatedLaunch launch = {.blocks = 3, .cooperative = true};
  EXPECT_FALSE(run_kernel(kernel, launch).has_value());
  EXPECT_EQ(num_refused, 64);
  EXPECT_EQ(control[1], 7u);

  EXPECT_FALSE(run_kernel(kernel, launch).has_value());
  EXPECT_EQ(num_refused, 128) << "the blocks of a hung instance do not wait again";
}

TEST(ClusterBarrier, NeedsALaunchAsOneCluster) {
  int num_passed = 0;
  const auto kernel = [&] {
    device::cluster_barrier();
    ++num_passed;
  };
  const auto fault = run_kernel(kernel, {.blocks = 3, .cooperative = true});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::LaunchFailed);
  EXPECT_EQ(fault->detail, "a barrier of a cluster in a launch without one");
  EXPECT_EQ(num_passed, 0);

  EXPECT_FALSE(run_kernel(kernel, {.blocks = 3, .cluster = true}).has_value());
  EXPECT_EQ(num_passed, 96);
}

TEST(ClusterBarrier, NamesTheBlocksWhenOneDoesNotCome) {
  const auto fault = run_kernel(
      [] {
        if (device::block_index() != 1) {
          device::cluster_barrier();
        }
      },
      {.blocks = 2, .cluster = true}
  );
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::TimedOut);
  EXPECT_NE(fault->detail.find("block 0: 32 threads in wait_for_cluster"), std::string::npos)
      << fault->detail;
}

TEST(ClusterEdge, LetsABlockWaitInSeveralPlacesAtOnce) {
  int num_passed = 0;
  const auto fault = run_kernel(
      [&] {
        device::ClusterEdge edge;
        if (device::warp_index() == 0) {
          ASSERT_TRUE(edge.wait());
        }
        ASSERT_TRUE(edge.wait());
        ++num_passed;
      },
      {.blocks = 2, .threads = 64, .cluster = true}
  );
  EXPECT_FALSE(fault.has_value()) << fault->detail;
  EXPECT_EQ(num_passed, 128);
}

TEST(GridEdge, LetsABlockWaitInSeveralPlacesAtOnce) {
  u32 control[2] = {};
  int num_passed = 0;
  const auto fault = run_kernel(
      [&] {
        device::GridEdge edge(control, 2, 5, kSpinLimit);
        if (device::thread_index() < 32) {
          num_passed += edge.wait() ? 1 : 0;
        } else {
          num_passed += edge.wait() ? 1 : 0;
        }
        num_passed += edge.wait() ? 1 : 0;
      },
      {.blocks = 2, .threads = 64, .cooperative = true}
  );
  EXPECT_FALSE(fault.has_value()) << fault->detail;
  EXPECT_EQ(num_passed, 2 * 2 * 64);
  EXPECT_EQ(control[0], 0x80000000u) << "the second wait is no barrier";
}

TEST(GridEdge, RefusesAWarpThatWaitsInTwoPlaces) {
  u32 control[2] = {};
  int num_left = 0;
  int num_passed = 0;
  const auto fault = run_kernel(
      [&] {
        device::GridEdge edge(control, 2, 5, kSpinLimit);
        if (device::lane_index() == 7) {
          if (!edge.wait()) {
            ++num_left;
          }
        } else {
          num_passed += edge.wait() ? 2 : 1;
        }
      },
      {.blocks = 2, .threads = 64, .cooperative = true}
  );
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::TimedOut);
  EXPECT_EQ(
      fault->detail,
      "lanes 0 and 7 of warp 0 of block 0 are in grid_barrier at two places of the kernel: on a "
      "GPU that may never end"
  );
}

TEST(GridEdge, SaysEachTimeThatABlockDidNotCome) {
  u32 control[2] = {};
  int num_refused = 0;
  const auto fault = run_kernel(
      [&] {
        if (device::block_index() == 1) {
          return;
        }
        device::GridEdge edge(control, 2, 5, kSpinLimit);
        num_refused += edge.wait() ? 0 : 1;
        num_refused += edge.wait() ? 0 : 1;
      },
      {.blocks = 2, .threads = 64, .cooperative = true}
  );
  EXPECT_FALSE(fault.has_value()) << fault->detail;
  EXPECT_EQ(num_refused, 2 * 64);
  EXPECT_EQ(control[1], 6u);
}

TEST(GridBarrier, RefusesADivergentBlock) {
  u32 control[2] = {};
  const auto fault = run_kernel(
      [&] {
        if (device::thread_index() != 3) {
          device::grid_barrier(control, 2, 0, kSpinLimit);
        }
      },
      {.blocks = 2, .cooperative = true}
  );
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::TimedOut);
  EXPECT_EQ(control[1], 0u);
}

TEST(GridBarrier, RefusesALaunchThatIsNotCooperative) {
  u32 control[2] = {};
  const auto fault =
      run_kernel([&] { device::grid_barrier(control, 2, 0, kSpinLimit); }, {.blocks = 2});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, Status::LaunchFailed);
}

TEST(GridBarrier, RefusesDifferentPlaces) {
  u32 control[2] = {};
  const auto fault = run_kernel(
      [&] {
        device::grid_barrier(control, 2, static_cast<u32>(device::block_index()), kSpinLimit);
      },
      {.blocks = 2, .cooperative = true}
  );
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->detail, "threads meet at places 0 and 1 of grid_barrier");
}

TEST(Machine, RefusesGridsThatItDoesNotRun) {
  for (const EmulatedLaunch& launch :
       {EmulatedLaunch{.blocks = 17},
        EmulatedLaunch{.threads = 48},
        EmulatedLaunch{.threads = 2048}}) {
    const auto fault = run_kernel([] {}, launch);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->status, Status::LaunchFailed);
  }
}

TEST(Machine, RunsItsLargestGrid) {
  u32 control[2] = {};
  std::vector<int> seen(16 * 1024);
  const auto fault = run_kernel(
      [&] {
        device::block_barrier();
        ASSERT_TRUE(device::grid_barrier(control, 16, 0, kSpinLimit));
        seen[grid_thread(1024)] = 1;
      },
      {.blocks = 16, .threads = 1024, .cooperative = true}
  );
  EXPECT_FALSE(fault.has_value());
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 16 * 1024);
}

/// Threads 0 and 1 of a block access the same 16 bytes, `between` them.
std::optional<EmulationFault> access_twice(
    const std::function<void(u32x4*)>& first,
    const std::function<void()>& between,
    const std::function<void(u32x4*)>& second
) {
  EmulatedMemory memory;
  auto* shared = reinterpret_cast<u32x4*>(memory.allocate(16, "buffer 0 of 16 bytes").begin);
  return run_kernel(
      [&] {
        if (device::thread_index() == 0) {
          first(shared);
        }
        between();
        if (device::thread_index() == 1) {
          second(shared);
        }
      },
      {},
      {},
      &memory
  );
}

const auto kStore = [](u32x4* to) { device::store_16(to, {}); };
const auto kLoad = [](const u32x4* from) { device::load_16(from); };

TEST(AccessChecks, AcceptAccessesOrderedByABarrier) {
  for (const auto& barrier : {device::warp_barrier, device::block_barrier}) {
    EXPECT_FALSE(access_twice(kStore, barrier, kLoad).has_value());
    EXPECT_FALSE(access_twice(kLoad, barrier, kStore).has_value());
    EXPECT_FALSE(access_twice(kStore, barrier, kStore).has_value());
  }
  EXPECT_FALSE(access_twice(
                   kLoad, [] {}, kLoad
  )
                   .has_value());
}

TEST(AccessChecks, FindRacesWithinOneRun) {
  const auto nothing = [] {};
  EXPECT_EQ(
      access_twice(kStore, nothing, kLoad)->detail,
      "race: thread 1 of block 0 reads byte 0 of buffer 0 of 16 bytes, which thread 0 of block 0 "
      "wrote with no barrier in between"
  );
  EXPECT_TRUE(access_twice(kLoad, nothing, kStore).has_value());
  EXPECT_TRUE(access_twice(kStore, nothing, kStore).has_value());
}

TEST(AccessChecks, DoNotTakeACollectiveForABarrier) {
  EXPECT_TRUE(access_twice(
                  kStore, [] { device::warp_sum(0.0f); }, kLoad
  )
                  .has_value());
}

TEST(AccessChecks, RefuseWhatLiesOutsideOfABuffer) {
  EmulatedMemory memory;
  char* buffer = memory.allocate(24, "buffer 0 of 24 bytes").begin;
  const auto run = [&](const void* address) {
    return run_kernel([&] { device::load_16(address); }, {}, {}, &memory);
  };
  EXPECT_FALSE(run(buffer).has_value());
  EXPECT_EQ(
      run(buffer + 16)->detail,
      "thread 0 of block 0 accesses 16 bytes at byte 16 of buffer 0 of 24 bytes, outside of it"
  );
  EXPECT_EQ(
      run(buffer + 4)->detail,
      "thread 0 of block 0 accesses 16 bytes at byte 4 of buffer 0 of 24 bytes, which is not "
      "aligned"
  );
}

TEST(AccessChecks, FindReadsUnderAnAsyncCopy) {
  EmulatedMemory memory;
  char* source = memory.allocate(512, "buffer 0 of 512 bytes").begin;
  const auto run = [&](bool with_barrier) {
    return run_kernel(
        [&] {
          const int thread = device::thread_index();
          char* shared = device::shared_memory();
          device::cp_async_16(shared + 16 * thread, source + 16 * thread, true);
          device::cp_async_commit();
          device::cp_async_wait<0>();
          if (with_barrier) {
            device::block_barrier();
          }
          device::load_16(shared + 16 * (31 - thread));
        },
        {.shared_bytes = 512},
        {},
        &memory
    );
  };
  EXPECT_FALSE(run(true).has_value());
  EXPECT_TRUE(run(false).has_value());
}

}  // namespace
}  // namespace whet
