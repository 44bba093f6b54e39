// Steps of other shapes than the seeds' on the CPU target, against an interpreter in double.
#include "support/other_programs_fixture.hpp"

namespace whet {
namespace {

class CpuProgram : public testing::OtherProgram {};

TEST_P(CpuProgram, AgreesWithTheInterpreter) {
  const DeviceLimits limits = host_limits(0);
  const auto executor = make_cpu_executor(limits.num_sms);
  // Products of all dtypes take the same way: sampled configurations of one will do.
  const int num_sampled = dtype() == DType::BF16 ? 1 : 0;
  expect_agreement(
      testing::tried_configurations(named().program, limits, num_sampled), limits, {executor.get()}
  );
}

INSTANTIATE_TEST_SUITE_P(
    Other, CpuProgram, testing::every_other_program(), testing::other_program_name
);

}  // namespace
}  // namespace whet
