// Random Programs on the CPU target against LibTorch: values by a walk in double with the declared
// roundings, gradients by autograd. A failure names the seed and the smallest program found.
//
// WHET_PROPERTY_SEED and WHET_PROPERTY_PROGRAMS (a shard) repeat or extend a run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>

#include "harness/libtorch_arithmetic.hpp"
#include "property/kernel_batch.hpp"
#include "property/property_case.hpp"
#include "property/shrink.hpp"

namespace whet::testing {
namespace {

constexpr std::int64_t kNumShards = 6;
/// Six shards make 300 programs.
constexpr std::int64_t kProgramsAShard = 50;
/// Kernels to a file: enough that starting the compiler is a small part.
constexpr std::size_t kKernelsAFile = 25;

std::int64_t number_from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

/// A case with its program, for shrinking.
struct Drawn {
  std::uint64_t index = 0;
  RandomProgram program;
  PropertyCase test;
};

class Shard {
 public:
  Shard(std::uint64_t seed, std::uint64_t number)
      : seed_(seed), next_(number << 32), limits_(host_limits(0)), executor_(make_cpu_executor(0)) {
    use_exact_settings(1);
  }

  void run(std::int64_t num_programs) {
    std::vector<Drawn> batch;
    for (std::int64_t i = 0; i < num_programs; ++i) {
      batch.push_back(draw());
      if (batch.size() == kKernelsAFile || i + 1 == num_programs) {
        run_batch(batch);
        batch.clear();
      }
    }
  }

  void report() const {
    std::cout << fmt::format(
        "{} programs of {} forward ops; {} of {} drawn ops rejected, {} of {} programs\n",
        num_programs_,
        num_ops_,
        op_rejections_.total(),
        op_rejections_.num_drawn,
        program_rejections_.total(),
        program_rejections_.num_drawn
    );
    for (const Rejections* rejections : {&op_rejections_, &program_rejections_}) {
      for (const auto& [reason, count] : rejections->by_reason) {
        std::cout << fmt::format("  {:5} {}\n", count, reason);
      }
    }
    std::cout << fmt::format(
        "{} elements of {} tensors, {} bitwise equal; of bf16 and f16 {}, {} bitwise equal; "
        "{} tensors whose bound zeros would pass\n",
        comparison_.num_elements,
        comparison_.num_tensors,
        comparison_.num_equal,
        comparison_.num_low,
        comparison_.num_low_equal,
        comparison_.num_unsure
    );
  }

  /// The bounds must show something: few tensors are within theirs of zero, and what a kernel makes
  /// of bf16 and f16 is nearly always the very number, as it sums in f32 and rounds where eager
  /// does.
  void expect_power() const {
    EXPECT_LE(comparison_.num_unsure, comparison_.num_tensors / 10);
    EXPECT_GE(comparison_.num_low_equal, comparison_.num_low * 99 / 100);
  }

 private:
  Drawn draw() {
    for (;;) {
      const std::uint64_t index = next_++;
      RandomProgram program = draw_program(seed_, index, op_rejections_);
      if (std::optional<PropertyCase> test = with_configuration(program, index)) {
        num_programs_ += 1;
        num_ops_ += static_cast<std::int64_t>(program.forward.ops.size());
        return {index, std::move(program), std::move(*test)};
      }
    }
  }

  std::optional<PropertyCase> with_configuration(
      const RandomProgram& program, std::uint64_t index
  ) {
    std::optional<PropertyCase> test = make_case(program, program_rejections_);
    if (test) {
      const SearchSpace space(test->step, limits_);
      for (std::uint64_t n = index;; ++n) {
        test->configuration = space.sample(seed_, n);
        if (std::holds_alternative<Schedule>(resolve(test->step, test->configuration, limits_))) {
          break;
        }
      }
    }
    return test;
  }

  void run_batch(const std::vector<Drawn>& batch) {
    std::vector<KernelSource> sources;
    std::vector<const Drawn*> lowered;
    for (const Drawn& drawn : batch) {
      try {
        sources.push_back(lower_case(drawn.test, limits_));
        lowered.push_back(&drawn);
      } catch (const std::exception& error) {
        fail(drawn, error.what());
      }
    }
    std::filesystem::path artifact;
    try {
      artifact = compile_together(sources);
    } catch (const InternalError&) {
      for (const Drawn* drawn : lowered) {  // which one?
        if (const auto difference = alone(drawn->test)) {
          fail(*drawn, *difference);
        }
      }
      return;
    }
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      const auto difference =
          run_case(lowered[i]->test, *executor_, artifact, sources[i].plan, comparison_);
      if (difference) {
        fail(*lowered[i], *difference);
      }
    }
  }

  /// What is wrong with one case, compiled by itself.
  std::optional<std::string> alone(const PropertyCase& test) {
    Comparison ignored;
    try {
      std::vector<KernelSource> source{lower_case(test, limits_)};
      const std::filesystem::path artifact = compile_together(source);
      return run_case(test, *executor_, artifact, source[0].plan, ignored);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  void fail(const Drawn& drawn, const std::string& difference) {
    Rejections ignored;
    const auto case_of = [&](const RandomProgram& program) {
      std::optional<PropertyCase> test = make_case(program, ignored);
      if (test) {
        test->configuration = drawn.test.configuration;
      }
      return test;
    };
    RandomProgram smallest = drawn.program;
    // A shrunk program costs a compilation an op.
    if (num_shrunk_++ < 2) {
      smallest = shrunk(smallest, [&](const RandomProgram& program) {
        const auto test = case_of(program);
        return test && alone(*test).has_value();
      });
    }
    const auto test = case_of(smallest);
    ADD_FAILURE() << fmt::format(
        "program {} of seed {}: {}\nconfiguration {}\nsmallest program found: {}\n{}",
        drawn.index,
        seed_,
        difference,
        to_text(drawn.test.configuration),
        test ? alone(*test).value_or("no difference when alone") : "",
        to_text(test ? test->step : drawn.test.step)
    );
  }

  std::uint64_t seed_;
  std::uint64_t next_;
  DeviceLimits limits_;
  std::unique_ptr<Executor> executor_;
  Rejections op_rejections_;
  Rejections program_rejections_;
  Comparison comparison_;
  std::int64_t num_programs_ = 0;
  std::int64_t num_ops_ = 0;
  int num_shrunk_ = 0;
};

class Shards : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Shards, AgreeWithLibTorchInValueAndGradient) {
  const auto seed = static_cast<std::uint64_t>(number_from_environment("WHET_PROPERTY_SEED", 1));
  std::cout << "seed " << seed << ", shard " << GetParam() << "\n";
  Shard shard(seed, static_cast<std::uint64_t>(GetParam()));
  shard.run(number_from_environment("WHET_PROPERTY_PROGRAMS", kProgramsAShard));
  shard.report();
  shard.expect_power();
}

TEST(RandomPrograms, HoldEveryOpThatHasADerivativeAndEveryKindOfLeaf) {
  std::map<OpKind, int> num_ops;
  std::map<DType, int> num_leaves;
  int num_strided = 0;
  int num_0d = 0;
  int num_empty = 0;
  Rejections rejections;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const Program program = draw_program(1, index, rejections).forward;
    for (const Op& op : program.ops) {
      num_ops[op.kind] += 1;
    }
    for (const ProgramInput& input : program.inputs) {
      const TensorDesc& tensor = program.value(input.value);
      num_leaves[tensor.dtype] += 1;
      num_strided += is_contiguous(tensor) ? 0 : 1;
      num_0d += tensor.shape.empty() ? 1 : 0;
      num_empty += num_elements(tensor.shape) == 0 ? 1 : 0;
    }
  }
  for (const std::string_view name : op_names()) {
    const OpKind kind = *parse_op(name);
    if (kind != OpKind::MseLossBackward) {
      EXPECT_GE(num_ops[kind], 5) << name;
    }
  }
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    EXPECT_GE(num_leaves[dtype], 100) << dtype_name(dtype);
  }
  EXPECT_GE(num_strided, 50);
  EXPECT_GE(num_0d, 10);
  EXPECT_GE(num_empty, 5);
}

INSTANTIATE_TEST_SUITE_P(RandomPrograms, Shards, ::testing::Range<std::int64_t>(0, kNumShards));

}  // namespace
}  // namespace whet::testing
