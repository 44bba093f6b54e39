// Instances of generated CUDA kernels on the emulation.
#include "support/instance_checks.hpp"

namespace whet {
namespace {

TEST(EmulatedInstances, KeepApartWhenTheirLaunchesTakeTurns) {
  const auto executor = make_emulated_executor({});
  for (const std::string& configuration :
       {"partition=grid blocks=4 shadows=on", "partition=block", "blocks=4 steps_per_launch=4"}) {
    testing::expect_instances_keep_apart(*executor, *executor, emulated_limits(), configuration);
  }
}

TEST(EmulatedInstances, FollowRefreshInACapturedSequence) {
  const auto executor = make_emulated_executor({});
  for (const std::string& configuration :
       {"partition=grid blocks=4 shadows=on", "partition=block shadows=on"}) {
    testing::expect_captured_steps_follow_refresh(*executor, emulated_limits(), configuration);
  }
}

TEST(EmulatedInstances, GoOnInTheRingByThemselves) {
  const auto executor = make_emulated_executor({EmulationOptions::Order::Random, 5});
  for (const std::string& configuration :
       {"partition=grid blocks=4",
        "partition=cluster blocks=4 operands=staged",
        "partition=block",
        "partition=block weights=resident",
        "partition=block weights=registers steps_per_launch=4"}) {
    testing::expect_captured_launch_to_go_on(*executor, emulated_limits(), configuration);
  }
}

TEST(EmulatedInstances, EndASpinForABlockThatNeverArrives) {
  for (const EmulationOptions& order :
       {EmulationOptions{EmulationOptions::Order::Forward, 0},
        EmulationOptions{EmulationOptions::Order::Random, 3}}) {
    const auto executor = make_emulated_executor(order);
    testing::expect_spin_to_end(
        *executor,
        emulated_limits(),
        "partition=grid blocks=4 shadows=off",
        "if (args.first_batch == 1u && block_index() == 1) return;"
    );
  }
}

}  // namespace
}  // namespace whet
