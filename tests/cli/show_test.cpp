#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/whet_program.hpp"

namespace whet {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string show(const WhetProgram& whet, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "show");
  const ProcessResult result = whet.run(arguments);
  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  return result.output;
}

TEST(Show, PrintsTheSourceOfEachTarget) {
  const WhetProgram whet;
  const std::string online = WhetProgram::workload("online.json");

  const std::string cpu = show(whet, {online, "--source"});
  const std::string cuda = show(whet, {online, "--source", "--device", "h200"});

  EXPECT_THAT(cpu, HasSubstr("whet_step"));
  EXPECT_THAT(cuda, HasSubstr("__global__"));
  EXPECT_THAT(cuda, Not(HasSubstr("w1_low")));  // no name of the user reaches a compiler
}

TEST(Show, PrintsTheSameBytesEachTime) {
  const WhetProgram whet;
  const std::vector<std::string> arguments{
      WhetProgram::workload("online.json"), "--source", "--device", "a100"};

  EXPECT_EQ(show(whet, arguments), show(whet, arguments));
}

TEST(Show, ListsKnobsWithTheirValues) {
  const WhetProgram whet;

  const std::string space = show(whet, {WhetProgram::workload("online.json"), "--space"});

  EXPECT_THAT(space, HasSubstr("partition = "));
  EXPECT_THAT(space, HasSubstr("configurations"));
}

TEST(Show, ListsTheOpsOfTheWholeStep) {
  const WhetProgram whet;

  const std::string program = show(whet, {WhetProgram::workload("online.json"), "--program"});

  EXPECT_THAT(program, HasSubstr("threshold_backward"));
}

TEST(Show, FindsShippedWorkloadsByName) {
  const WhetProgram whet;

  EXPECT_EQ(
      show(whet, {"online", "--program"}),
      show(whet, {WhetProgram::workload("online.json"), "--program"})
  );
}

TEST(Help, NamesTheSubcommands) {
  const WhetProgram whet;

  const ProcessResult result = whet.run({"--help"});

  EXPECT_EQ(result.exit.code, 0);
  for (const char* name : {"show", "evaluate", "doctor"}) {
    EXPECT_THAT(result.output, HasSubstr(name));
  }
}

TEST(Doctor, SaysWhatIsThere) {
  const WhetProgram whet;

  const ProcessResult result = whet.run({"doctor", "--json"});

  for (const char* name : {"host compiler", "NVRTC", "CUDA driver", "whet-reference", "SQLite"}) {
    EXPECT_THAT(result.output, HasSubstr(name));
  }
}

}  // namespace
}  // namespace whet
