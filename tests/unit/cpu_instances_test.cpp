// Instances of generated kernels of the CPU target.
#include "support/instance_checks.hpp"

namespace whet {
namespace {

class CpuInstances : public ::testing::Test {
 protected:
  void SetUp() override {
    if (limits_.num_sms < 2) {
      GTEST_SKIP() << "a barrier needs two cores";
    }
  }

  const DeviceLimits limits_ = host_limits(0);
  const std::unique_ptr<Executor> executor_ = make_cpu_executor(limits_.num_sms);
};

TEST_F(CpuInstances, KeepApartWhenTheirLaunchesTakeTurns) {
  testing::expect_instances_keep_apart(*executor_, *executor_, limits_, "partition=grid blocks=2");
}

TEST_F(CpuInstances, GoOnInTheRingByThemselves) {
  for (const std::string& configuration :
       {"partition=grid blocks=2", "partition=block steps_per_launch=4"}) {
    testing::expect_captured_launch_to_go_on(*executor_, limits_, configuration);
  }
}

TEST_F(CpuInstances, EndASpinForABlockThatNeverArrives) {
  testing::expect_spin_to_end(
      *executor_,
      limits_,
      "partition=grid blocks=2",
      "if (args.first_batch == 1u && block == 1) return;"
  );
}

}  // namespace
}  // namespace whet
