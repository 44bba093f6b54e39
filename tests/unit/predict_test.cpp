#include "model/predict.hpp"

#include <gtest/gtest.h>

#include "model/limit.hpp"
#include "model/tile_cost.hpp"
#include "support/programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(WHET_SOURCE_DIR) / "configs";

/// An mlp in bf16 on an H200, or on the host.
struct Fixture {
  Program program = testing::mlp(64, 256, 512, 128, DType::BF16);
  DeviceLimits limits = load_device_limits("h200", kConfigs / "devices");
  DeviceCosts costs = load_device_costs(kConfigs / "costs/h200.json");

  Schedule schedule(const std::string& changes = "") const {
    Configuration configuration = SearchSpace(program, limits).default_configuration();
    for (const auto& [name, value] : parse_configuration(changes).values) {
      configuration.values[name] = value;
    }
    return testing::resolved(program, to_text(configuration), limits);
  }
  double predicted(const std::string& changes = "") const {
    return total_ns(predict(schedule(changes), limits, costs));
  }
};

/// A clock a ns, so that clocks and ns are the same; round figures.
DeviceCosts round_costs() {
  DeviceCosts costs;
  costs.clock_mhz = 1000.0;
  costs.graph_node_ns = 900.0;
  costs.overlapped_node_ns = 700.0;
  costs.grid_barriers = {{1, 400.0}, {100, 1000.0}};
  costs.block_barrier_ns = 10.0;
  costs.l2_latency_ns = 100.0;
  costs.l2_bytes_per_ns = 1000.0;
  costs.sm_l2_bytes_per_ns = 64.0;
  costs.shared_latency_ns = 20.0;
  costs.shared_bytes_per_clk = 128.0;
  costs.mma_flops_per_clk = 2048.0;
  costs.fma_flops_per_clk = 256.0;
  return costs;
}

/// A schedule of one map without loads or ops that stores `tiles` tiles of 1024 f32 by 256 threads.
Schedule map_schedule(std::int64_t tiles) {
  Task task;
  task.domain = {tiles * 1024};
  task.tile_elements = 1024;
  task.num_tiles = tiles;
  task.num_warps = 8;
  task.stores.push_back(
      {.node = 0, .access = {.buffer = 0, .offset = 0, .strides = {1}, .guard = {}}}
  );
  Schedule schedule;
  schedule.target = Target::Cuda;
  schedule.threads = 256;
  schedule.buffers.push_back({.symbol = "t0", .num_elements = tiles * 1024});
  schedule.phases.push_back({.tasks = {task}});
  return schedule;
}

TEST(TileCost, OfAMapIsThatOfItsAccesses) {
  const Schedule schedule = map_schedule(1);
  const TileCost cost = tile_cost(schedule.phases[0].tasks[0], schedule, round_costs());
  EXPECT_DOUBLE_EQ(cost.l2_bytes, 4096.0);
  EXPECT_DOUBLE_EQ(cost.load_clk, 4096.0 / 64.0);   // more than its 32 lines take
  EXPECT_DOUBLE_EQ(cost.issue_clk, 1024.0 / 32.0);  // four instructions, four schedulers
  EXPECT_DOUBLE_EQ(cost.wait_clk, 0.0);             // nobody waits for a store
}

TEST(TileCost, OfOneBlockWhatWasReadBeforeIsNear) {
  Schedule schedule = map_schedule(1);
  Task& task = schedule.phases[0].tasks[0];
  ExprNode load;
  load.kind = ExprNode::Kind::Load;
  load.access = {.buffer = 1, .offset = 0, .strides = {1}, .guard = {}};
  task.nodes.push_back(load);
  schedule.buffers.push_back(schedule.buffers[0]);
  schedule.phases.push_back(schedule.phases[0]);
  const auto l2_bytes = [&](std::size_t phase) {
    return tile_cost(schedule.phases[phase].tasks[0], schedule, round_costs()).l2_bytes;
  };
  schedule.partition = Partition::Grid;
  EXPECT_DOUBLE_EQ(l2_bytes(1), l2_bytes(0));
  schedule.partition = Partition::Block;
  EXPECT_DOUBLE_EQ(l2_bytes(0), 8192.0);
  EXPECT_DOUBLE_EQ(l2_bytes(1), 4096.0);  // what it stores
}

TEST(Predict, AddsLaunchEdgesAndTheSlowestBlock) {
  Schedule schedule = map_schedule(3);
  schedule.blocks = 2;
  schedule.steps_per_launch = 2;
  schedule.step_edge = Edge::Grid;
  const DeviceLimits limits{.name = "", .target = Target::Cuda, .arch = "", .num_sms = 4};
  const Prediction prediction = predict(schedule, limits, round_costs());
  EXPECT_DOUBLE_EQ(prediction.launch_ns, 450.0);
  // Half a barrier of two blocks, with the drain of three round trips.
  EXPECT_DOUBLE_EQ(prediction.edges_ns.at(0), (400.0 + 600.0 / 99.0 + 300.0) / 2);
  EXPECT_DOUBLE_EQ(prediction.phases_ns.at(0), 2 * (64.0 + 32.0));  // of three tiles two
  EXPECT_DOUBLE_EQ(
      total_ns(prediction), prediction.launch_ns + prediction.edges_ns[0] + prediction.phases_ns[0]
  );
}

TEST(Predict, BlocksOfOneMultiprocessorShareItsPipes) {
  Schedule schedule = map_schedule(2);
  schedule.blocks = 2;
  DeviceLimits limits{.name = "", .target = Target::Cuda, .arch = "", .num_sms = 2};
  const double apart = predict(schedule, limits, round_costs()).phases_ns.at(0);
  limits.num_sms = 1;
  EXPECT_DOUBLE_EQ(predict(schedule, limits, round_costs()).phases_ns.at(0), 2 * apart);
}

TEST(Predict, MoreBarriersCostMore) {
  const Fixture fixture;
  const double fewest = fixture.predicted("repeat_cheap=off");
  const double more = fixture.predicted("repeat_cheap=off fuse_epilogue=off");
  EXPECT_GT(more, fewest);
  EXPECT_GT(fixture.predicted("repeat_cheap=off fuse_epilogue=off fuse_pointwise=off"), more);
}

TEST(Predict, APhaseThatEveryBlockRepeatsSparesABarrier) {
  Fixture fixture;
  fixture.program = testing::mlp(16, 64, 128, 16, DType::BF16);
  const auto edges = [&](const std::string& changes) {
    return predict(fixture.schedule(changes), fixture.limits, fixture.costs).edges_ns;
  };
  const std::vector<double> off = edges("partition=cluster blocks=8 repeat_cheap=off");
  const std::vector<double> on = edges("partition=cluster blocks=8");
  ASSERT_EQ(on.size(), off.size());
  EXPECT_EQ(std::ranges::count_if(off, [](double ns) { return ns > 100.0; }), 3);
  EXPECT_EQ(std::ranges::count_if(on, [](double ns) { return ns > 100.0; }), 2);
}

TEST(Predict, CostlierBarriersAndLaunchesCostMore) {
  Fixture fixture;
  const double before = fixture.predicted();
  for (BarrierCost& barrier : fixture.costs.grid_barriers) {
    barrier.time_ns += 500.0;
  }
  EXPECT_NEAR(fixture.predicted(), before + 3 * 500.0, 1.0);  // four phases
  fixture.costs.overlapped_node_ns += 100.0;
  EXPECT_NEAR(fixture.predicted(), before + 3 * 500.0 + 100.0, 1.0);
}

TEST(Predict, TwiceTheBatchDoesNotCostLess) {
  for (const DType dtype : {DType::BF16, DType::F32}) {
    double before = 0.0;
    for (std::int64_t batch = 16; batch <= 512; batch *= 2) {
      Fixture fixture;
      fixture.program = testing::mlp(batch, 256, 512, 128, dtype);
      const double time_ns = fixture.predicted("blocks=128 tile_m=32 tile_n=32");
      EXPECT_GE(time_ns, before) << "batch " << batch;
      before = time_ns;
    }
  }
}

TEST(Predict, OneBlockLosesWhereThereIsWorkForAll) {
  Fixture fixture;
  EXPECT_GT(fixture.predicted("partition=block"), 2 * fixture.predicted());
  fixture.program = testing::mlp(1, 16, 16, 1, DType::BF16);
  EXPECT_LT(fixture.predicted("partition=block"), fixture.predicted("partition=grid"));
}

TEST(Predict, KnowsTheHostToo) {
  Fixture fixture;
  fixture.limits = host_limits(0);
  const double two_rows = fixture.predicted("unroll=2");
  EXPECT_GT(two_rows, fixture.predicted("unroll=6"));
}

TEST(Limit, OfAProductIsWrittenDown) {
  testing::ProgramBuilder builder;
  const ValueId x = builder.input("x", {64, 32}, DType::BF16);
  const ValueId w = builder.input("w", {32, 16}, DType::BF16);
  builder.program.outputs.push_back(builder.op(OpKind::Mm, {x, w}));
  const DeviceLimits limits{.name = "", .target = Target::Cuda, .arch = "", .num_sms = 4};
  const Limit limit = find_limit(builder.program, limits, round_costs(), 1);
  EXPECT_DOUBLE_EQ(limit.launch_ns, 700.0);
  EXPECT_DOUBLE_EQ(limit.bytes_ns, 2.0 * (64 * 32 + 32 * 16 + 64 * 16) / 1000.0);
  EXPECT_DOUBLE_EQ(limit.math_ns, 2.0 * 64 * 32 * 16 / 2048.0 / 4);
  EXPECT_DOUBLE_EQ(limit.chain_ns, 20.0);
  EXPECT_DOUBLE_EQ(total_ns(limit), 720.0);
}

TEST(Limit, IsBelowEveryPrediction) {
  const Fixture fixture;
  const SearchSpace space(fixture.program, fixture.limits);
  int num_resolved = 0;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const auto outcome = resolve(fixture.program, space.sample(3, n), fixture.limits);
    if (const auto* schedule = std::get_if<Schedule>(&outcome)) {
      ++num_resolved;
      const Limit limit =
          find_limit(fixture.program, fixture.limits, fixture.costs, schedule->steps_per_launch);
      EXPECT_LT(total_ns(limit), total_ns(predict(*schedule, fixture.limits, fixture.costs)))
          << to_text(schedule->configuration);
    }
  }
  EXPECT_GT(num_resolved, 100);
}

TEST(Limit, CountsStateOnceALaunch) {
  const Fixture fixture;
  const Limit one = find_limit(fixture.program, fixture.limits, fixture.costs, 1);
  const Limit four = find_limit(fixture.program, fixture.limits, fixture.costs, 4);
  EXPECT_DOUBLE_EQ(four.launch_ns, one.launch_ns / 4);
  EXPECT_LT(four.bytes_ns, one.bytes_ns / 3);
  EXPECT_DOUBLE_EQ(four.math_ns, one.math_ns);
}

}  // namespace
}  // namespace whet
