// NVRTC compiles without a GPU, so what a cubin occupies is tested everywhere it is installed.
#include "jit/nvrtc_compile.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "jit/compile.hpp"
#include "jit/compile_log.hpp"
#include "jit/cubin.hpp"

namespace whet {
namespace {

constexpr const char* kKernel = R"(
extern "C" __global__ void other(float* p) { p[threadIdx.x] *= 2.0f; }
struct StepArguments { void* tensors[1]; void* workspace; unsigned words[4]; };
extern "C" __global__ void __launch_bounds__(64, 1)
whet_step(const __grid_constant__ StepArguments arguments) {
  extern __shared__ __align__(128) float dynamic[];
  __shared__ float fixed[64];
  float* p = static_cast<float*>(arguments.tensors[0]);
  fixed[threadIdx.x] = p[threadIdx.x];
  dynamic[threadIdx.x] = p[threadIdx.x + 64];
  __syncthreads();
  p[threadIdx.x] = fixed[63 - threadIdx.x] + dynamic[63 - threadIdx.x];
}
)";

/// 80 live values in 32 registers.
constexpr const char* kSpillingKernel = R"(
extern "C" __global__ void __launch_bounds__(1024, 2) whet_step(float* p) {
  float v[80];
#pragma unroll
  for (int i = 0; i < 80; ++i) v[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 10; ++k) {
#pragma unroll
    for (int i = 0; i < 80; ++i) v[i] = v[i] * v[(i * 7 + 3) % 80] + p[k];
  }
#pragma unroll
  for (int i = 0; i < 80; ++i) p[i * 1024 + threadIdx.x] = v[i];
}
)";

KernelSource cuda_source(const std::string& text, const std::string& arch) {
  KernelSource source;
  source.text = text;
  source.plan.target = Target::Cuda;
  source.plan.arch = arch;
  source.plan.threads = 64;
  source.plan.dynamic_shared_bytes = 256;
  return source;
}

class NvrtcCompile : public testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc_ = find_nvrtc("");
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  CompileOptions options() const {
    CompileOptions options;
    options.cache_folder = folder_.path() / "cache";
    return options;
  }
  CompiledCode compile_text(
      const std::string& text,
      const std::string& arch = "sm_90a",
      std::chrono::milliseconds timeout = std::chrono::minutes(1)
  ) const {
    return compile_with_nvrtc(*nvrtc_, cuda_source(text, arch), timeout);
  }

  TemporaryFolder folder_{"whet-nvrtc-test-"};
  std::optional<Nvrtc> nvrtc_;
};

class NvrtcCompileFor : public NvrtcCompile, public testing::WithParamInterface<const char*> {};

TEST_P(NvrtcCompileFor, ReadsResources) {
  const CompileOutcome outcome = compile(cuda_source(kKernel, GetParam()), options());
  ASSERT_EQ(outcome.status, Status::Ok) << outcome.detail;
  EXPECT_EQ(outcome.artifact.extension(), ".cubin");
  EXPECT_GE(outcome.resources.registers, 8);
  EXPECT_LE(outcome.resources.registers, 64);
  EXPECT_EQ(outcome.resources.static_shared_bytes, 256);
  EXPECT_EQ(outcome.resources.dynamic_shared_bytes, 256);
  EXPECT_EQ(outcome.resources.spill_store_bytes, 0);
  EXPECT_EQ(outcome.resources.spill_load_bytes, 0);
  EXPECT_GT(outcome.resources.code_bytes, 0);
}

TEST_P(NvrtcCompileFor, ReadsTheBoundsOfTheRightKernel) {
  const CompiledCode code = compile_text(kKernel, GetParam());
  ASSERT_EQ(code.status, Status::Ok) << code.detail;
  const CubinKernel kernel = read_cubin(code.bytes, "whet_step");
  EXPECT_EQ(kernel.max_threads, 64);
  EXPECT_EQ(kernel.parameter_bytes, 32);
  EXPECT_EQ(read_cubin(code.bytes, "other").parameter_bytes, 8);
}

TEST_P(NvrtcCompileFor, CountsSpills) {
  const CompiledCode code = compile_text(kSpillingKernel, GetParam());
  ASSERT_EQ(code.status, Status::Ok) << code.detail;
  EXPECT_EQ(code.resources.registers, 32);
  EXPECT_GT(code.resources.spill_store_bytes, 0);
  EXPECT_GT(code.resources.spill_load_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Architectures,
    NvrtcCompileFor,
    testing::Values("sm_80", "sm_90a", "sm_100a"),
    [](const auto& test) { return std::string(test.param); }
);

TEST_F(NvrtcCompile, KeepsResourcesInTheCache) {
  const CompileOutcome first = compile(cuda_source(kSpillingKernel, "sm_80"), options());
  const CompileOutcome second = compile(cuda_source(kSpillingKernel, "sm_80"), options());
  EXPECT_TRUE(second.cache_hit);
  EXPECT_EQ(second.resources, first.resources);
  EXPECT_GT(second.resources.spill_store_bytes, 0);
}

TEST_F(NvrtcCompile, MissesTheCacheForAnotherArchitecture) {
  compile(cuda_source(kKernel, "sm_80"), options());
  EXPECT_FALSE(compile(cuda_source(kKernel, "sm_90a"), options()).cache_hit);
}

TEST_F(NvrtcCompile, CarriesTheFrontEndsText) {
  const CompiledCode code = compile_text("extern \"C\" __global__ void whet_step() { x = 1; }");
  EXPECT_EQ(code.status, Status::CompileFailed);
  EXPECT_NE(
      code.detail.find("whet_step.cu(1): error: identifier \"x\" is undefined"), std::string::npos
  ) << code.detail;
}

TEST_F(NvrtcCompile, CarriesPtxasText) {
  const CompiledCode code = compile_text(
      "extern \"C\" __global__ void whet_step() { asm volatile(\"no.such.instruction;\"); }"
  );
  EXPECT_EQ(code.status, Status::CompileFailed);
  EXPECT_NE(code.detail.find("Not a name of any known instruction"), std::string::npos)
      << code.detail;
}

TEST_F(NvrtcCompile, IsCancelledAtTheTimeout) {
  const CompiledCode code = compile_text(kKernel, "sm_90a", std::chrono::milliseconds(-1));
  EXPECT_EQ(code.status, Status::CompileTimedOut);
  EXPECT_NE(code.detail.find("NVRTC did not end within"), std::string::npos) << code.detail;
}

TEST_F(NvrtcCompile, SaysThatItDoesNotKnowAnArchitecture) {
  try {
    compile_text(kKernel, "sm_999");
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("sm_999"), std::string::npos) << error.what();
  }
}

TEST_F(NvrtcCompile, GivesTheSameBytesTwice) {
  EXPECT_EQ(compile_text(kKernel).bytes, compile_text(kKernel).bytes);
}

TEST_F(NvrtcCompile, RefusesACubinCutShort) {
  const std::string cubin = compile_text(kKernel).bytes;
  for (const std::size_t size : {std::size_t{0}, std::size_t{40}, cubin.size() / 2}) {
    EXPECT_THROW(read_cubin(cubin.substr(0, size), "whet_step"), EnvironmentError);
  }
}

TEST_F(NvrtcCompile, RefusesAKernelThatIsNotThere) {
  EXPECT_THROW(read_cubin(compile_text(kKernel).bytes, "absent"), EnvironmentError);
}

TEST(FindNvrtc, ListsTheFileThatWasNamedAndWhatToDo) {
  try {
    find_nvrtc("/nonexistent/libnvrtc.so.13");
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("/nonexistent/libnvrtc.so.13"), std::string::npos) << text;
    EXPECT_NE(text.find("CUDA 13"), std::string::npos) << text;
  }
}

TEST(CompileLog, StartsAtTheFirstError) {
  EXPECT_EQ(
      first_errors("a.cu(1): warning: w\n\na.cu(3): error: e\n1 error\n"),
      "a.cu(3): error: e\n1 error"
  );
}

TEST(CompileLog, IsCutAtTheEndOfALine) {
  EXPECT_EQ(
      first_errors("error: one\nerror: two\nerror: three\n", 15), "error: one\n… (24 more bytes)"
  );
}

TEST(CompileLog, HasNoReportOnAKernelThatItDoesNotName) {
  EXPECT_EQ(parse_ptxas_report("ptxas info : Used 9 registers", "whet_step"), std::nullopt);
}

TEST(CompileLog, ReadsTheReportOfTheNamedKernel) {
  const std::string log =
      "ptxas info    : Compiling entry function 'other' for 'sm_80'\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 9 registers, used 1 barriers, 400 bytes smem, 360 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'whet_step' for 'sm_80'\n"
      "ptxas         .     416 bytes stack frame, 840 bytes spill stores, 880 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 392 bytes cmem[0]\n";
  const PtxasReport expected{
      .registers = 32, .spill_store_bytes = 840, .spill_load_bytes = 880, .static_shared_bytes = 0};
  EXPECT_EQ(parse_ptxas_report(log, "whet_step"), expected);
}

}  // namespace
}  // namespace whet
