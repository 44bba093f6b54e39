// Generated CUDA text of steps of other shapes than the seeds', on the CPU in two thread orders,
// against an interpreter in double.
#include "support/other_programs_fixture.hpp"

namespace whet {
namespace {

class EmulatedProgram : public testing::OtherProgram {};

TEST_P(EmulatedProgram, AgreesWithTheInterpreterInEveryThreadOrder) {
  const DeviceLimits limits = emulated_limits();
  using Order = EmulationOptions::Order;
  const auto forward = make_emulated_executor({Order::Forward, 0});
  const auto random = make_emulated_executor({Order::Random, 1});
  // The other dtypes take the ways of bf16, or fewer.
  const int num_sampled = dtype() == DType::BF16 ? 2 : 0;
  expect_agreement(
      testing::tried_configurations(named().program, limits, num_sampled),
      limits,
      {forward.get(), random.get()}
  );
}

INSTANTIATE_TEST_SUITE_P(
    Other, EmulatedProgram, testing::every_other_program(), testing::other_program_name
);

}  // namespace
}  // namespace whet
