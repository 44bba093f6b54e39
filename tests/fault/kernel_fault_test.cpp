// What becomes of a candidate whose kernel misbehaves, and of those behind it: the generated source
// is edited on its way through the host compiler, all else is real.

#include <filesystem>
#include <string>

#include "fault/evaluator_fixture.hpp"

namespace whet {
namespace {

class KernelFault : public EvaluatorFixture {
 protected:
  void SetUp() override {
    EvaluatorFixture::SetUp();
    // What a kernel's text was compiled to must not be found for the text itself.
    options_.compile.cache_folder = folder_.path() / "cache";
  }

  /// Puts `statements` at the start of the kernel of the candidate that has `knob`. A text without
  /// the place to put them does not compile.
  void begin_kernel_with(const std::string& statements, const std::string& knob = "unroll=2") {
    const std::filesystem::path compiler = folder_.path() / "compiler";
    write_file_atomically(
        compiler,
        "#!/bin/sh\n"
        "case \" $* \" in *\" - \"*) ;; *) exec c++ \"$@\" ;; esac\n"
        "text=$(cat)\n"
        "loop='  for (int step = 0; step < kStepsPerLaunch; ++step) {'\n"
        "case \"$text\" in *' " +
            knob +
            "'*)\n"
            "  case \"$text\" in *\"$loop\"*) ;; *) echo 'no loop over steps' >&2; exit 1 ;; esac\n"
            "  before=${text%%\"$loop\"*}\n"
            "  text=\"$before " +
            statements +
            "\n$loop${text#*\"$loop\"}\" ;;\n"
            "esac\n"
            "printf '%s\\n' \"$text\" | c++ \"$@\"\n"
    );
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    options_.compile.host_compiler = compiler.string();
  }

  const Configuration bad_ = parse_configuration("unroll=2");

 private:
  TemporaryFolder folder_{"whet-kernel-fault-"};
};

TEST_F(KernelFault, EndlessLoopEndsAsTimedOut) {
  begin_kernel_with("for (volatile bool forever = true; forever;) {}");
  options_.worker_deadlines.validate = std::chrono::seconds(3);
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, bad_);

  EXPECT_EQ(evaluation.status, Status::TimedOut);
  expect_says(evaluation.detail, "gave no answer within 3.0 s");
  expect_goes_on();
}

TEST_F(KernelFault, WriteToNowhereEndsAsCrashed) {
  begin_kernel_with("*reinterpret_cast<volatile int*>(8) = 1;");
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, bad_);

  EXPECT_EQ(evaluation.status, Status::Crashed);
  expect_says(evaluation.detail, "killed by signal 11");
  expect_goes_on();
}

// The good candidate before it proves that the second try was in a worker of its own.
TEST_F(KernelFault, IsBlamedOnItsCandidateAfterASecondTryAlone) {
  begin_kernel_with("*reinterpret_cast<volatile int*>(8) = 1;");
  start();
  expect_goes_on();

  const Evaluation evaluation = evaluate(*evaluator_, bad_);
  const Evaluation next = evaluate(*evaluator_, {});

  EXPECT_EQ(evaluation.status, Status::Crashed);
  ASSERT_EQ(next.status, Status::Ok) << next.detail;
  EXPECT_EQ(next.blocks.at(0).process, 2);
}

TEST_F(KernelFault, WriteBesideATensorEndsAsWrongResult) {
  begin_kernel_with("static_cast<char*>(args.tensors[0])[-1] = 0;");
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, bad_);

  EXPECT_EQ(evaluation.status, Status::WrongResult);
  expect_says(evaluation.detail, "the kernel wrote before the start of");
  expect_goes_on();
}

TEST_F(KernelFault, BlockThatNeverArrivesEndsAsBarrierHang) {
  if (host_limits(0).num_sms < 2) {
    GTEST_SKIP() << "a barrier needs two cores";
  }
  begin_kernel_with("if (block == 1) return;");
  Evaluator& evaluator = start();

  const Evaluation evaluation =
      evaluate(evaluator, parse_configuration("partition=grid blocks=2 unroll=2"));

  EXPECT_EQ(evaluation.status, Status::BarrierHang);
  expect_says(evaluation.detail, "a block gave up waiting at barrier");
  expect_goes_on();
}

TEST_F(KernelFault, EmulatedBlockThatNeverArrivesEndsAsBarrierHang) {
  options_.limits = emulated_limits();
  options_.num_screen_blocks = 0;
  begin_kernel_with("if (block_index() == 1) return;", "split_k=2");
  Evaluator& evaluator = start();

  const Evaluation bad =
      evaluate(evaluator, parse_configuration("partition=grid blocks=4 split_k=2"));
  const Evaluation good =
      evaluate(evaluator, parse_configuration("partition=grid blocks=4 split_k=1"));

  EXPECT_EQ(bad.status, Status::BarrierHang);
  expect_says(bad.detail, "a block gave up waiting at barrier");
  EXPECT_EQ(good.status, Status::Ok) << good.detail;
}

}  // namespace
}  // namespace whet
