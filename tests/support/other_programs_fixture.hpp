#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "support/other_programs.hpp"
#include "support/step_runner.hpp"

namespace whet::testing {

/// One of other_programs() in a dtype, run on an executor against the interpreter in double.
class OtherProgram : public ::testing::TestWithParam<std::tuple<int, DType>> {
 protected:
  static DType dtype() { return std::get<1>(GetParam()); }
  static NamedProgram named() {
    return other_programs(dtype())[static_cast<std::size_t>(std::get<0>(GetParam()))];
  }

  /// Runs four steps of each configuration on each executor; executors must agree to the bit.
  static void expect_agreement(
      const std::vector<std::string>& configurations,
      const DeviceLimits& limits,
      const std::vector<Executor*>& executors
  ) {
    const NamedProgram test = named();
    const StepData data = draw_data(test.program, 2);
    const StepResult expected = interpret(test.program, data, kOtherSteps);
    for (const std::string& configuration : configurations) {
      SCOPED_TRACE(test.name + ": " + configuration);
      const auto built = build_step(test.program, configuration, limits);
      ASSERT_TRUE(built.has_value());
      std::optional<StepResult> first;
      for (Executor* executor : executors) {
        StepRunner runner(*executor, test.program, built->artifact, built->source.plan, data);
        const StepResult got = runner.run(kOtherSteps);
        EXPECT_LE(
            largest_error(got, expected, data, built->schedule.steps_per_launch),
            error_limit(dtype())
        );
        EXPECT_EQ(got, first.value_or(got)) << "the result depends on the order of threads";
        first = got;
      }
    }
  }
};

inline std::string other_program_name(const ::testing::TestParamInfo<OtherProgram::ParamType>& info
) {
  const auto [program, dtype] = info.param;
  return other_program_names()[static_cast<std::size_t>(program)] + "_" +
         std::string(dtype_name(dtype));
}

/// Every program in every dtype that products compute in.
inline auto every_other_program() {
  const int count = static_cast<int>(other_program_names().size());
  return ::testing::Combine(
      ::testing::Range(0, count), ::testing::Values(DType::F32, DType::BF16, DType::F16)
  );
}

}  // namespace whet::testing
