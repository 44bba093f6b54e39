#include "jit/compile.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKernel = R"(
extern "C" void whet_step(const void* arguments, int block, int num_blocks, void* scratch) {
  static_cast<float* const*>(arguments)[0][block] += 1.0f;
}
)";

KernelSource host_source(const std::string& text) {
  KernelSource source;
  source.text = text;
  source.plan.target = Target::Cpu;
  source.plan.arch = "native";
  return source;
}

class Compile : public testing::Test {
 protected:
  CompileOptions options() const {
    CompileOptions options;
    options.cache_folder = folder_.path() / "cache";
    return options;
  }

  /// A compiler that states a version, and for anything else runs `body` with sh.
  fs::path fake_compiler(const std::string& body) const {
    const fs::path script = folder_.path() / "fake-compiler";
    std::ofstream(script) << "#!/bin/sh\n"
                             "case \"$*\" in *--version*|*-dM*) echo fake 1.0; exit 0;; esac\n"
                          << body;
    fs::permissions(script, fs::perms::owner_all);
    return script;
  }

  TemporaryFolder folder_{"whet-compile-test-"};
};

TEST_F(Compile, GivesASharedObjectInAPrivateCache) {
  const CompileOutcome outcome = compile(host_source(kKernel), options());
  ASSERT_EQ(outcome.status, Status::Ok) << outcome.detail;
  EXPECT_EQ(read_file(outcome.artifact).substr(1, 3), "ELF");
  EXPECT_EQ(outcome.source_sha256, sha256_hex(kKernel));
  EXPECT_FALSE(outcome.cache_hit);
  EXPECT_GT(outcome.compile_s, 0.0);
  struct stat status {};
  ASSERT_EQ(stat(options().cache_folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST_F(Compile, FindsTheSameSourceInTheCache) {
  const CompileOutcome first = compile(host_source(kKernel), options());
  const CompileOutcome second = compile(host_source(kKernel), options());
  EXPECT_TRUE(second.cache_hit);
  EXPECT_EQ(second.compile_s, 0.0);
  EXPECT_EQ(second.artifact, first.artifact);
}

TEST_F(Compile, MissesTheCacheWhenTextOrOptionsDiffer) {
  const CompileOutcome first = compile(host_source(kKernel), options());
  const CompileOutcome text = compile(host_source(std::string(kKernel) + "// more\n"), options());
  CompileOptions portable = options();
  portable.native = false;
  const CompileOutcome arguments = compile(host_source(kKernel), portable);
  EXPECT_FALSE(text.cache_hit);
  EXPECT_FALSE(arguments.cache_hit);
  EXPECT_NE(text.artifact, first.artifact);
  EXPECT_NE(arguments.artifact, first.artifact);
}

TEST_F(Compile, MissesTheCacheWhenTheCompilerDiffers) {
  CompileOptions other = options();
  other.host_compiler = fake_compiler("exec c++ \"$@\"\n");
  compile(host_source(kKernel), options());
  const CompileOutcome outcome = compile(host_source(kKernel), other);
  EXPECT_EQ(outcome.status, Status::Ok) << outcome.detail;
  EXPECT_FALSE(outcome.cache_hit);
}

TEST_F(Compile, CarriesTheCompilersText) {
  const CompileOutcome outcome =
      compile(host_source("extern \"C\" void whet_step() { undeclared = 1; }"), options());
  EXPECT_EQ(outcome.status, Status::CompileFailed);
  EXPECT_NE(outcome.detail.find("c++: exit code 1"), std::string::npos) << outcome.detail;
  EXPECT_NE(outcome.detail.find("<stdin>:1:31: error: 'undeclared'"), std::string::npos)
      << outcome.detail;
  EXPECT_TRUE(outcome.artifact.empty());
}

TEST_F(Compile, CapsTheCompilersText) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "int f" + std::to_string(i) + "() { return " + std::string(1000, 'x') + "; }\n";
  }
  const CompileOutcome outcome = compile(host_source(text), options());
  EXPECT_EQ(outcome.status, Status::CompileFailed);
  EXPECT_LT(outcome.detail.size(), 5000u);
  EXPECT_NE(outcome.detail.find("<stdin>:1:"), std::string::npos);
}

TEST_F(Compile, KillsTheWholeGroupOfACompilerThatHangs) {
  const fs::path pid_file = folder_.path() / "pid";
  CompileOptions hanging = options();
  hanging.host_compiler =
      fake_compiler("sleep 600 & echo $! > '" + pid_file.string() + "'; wait\n");
  hanging.timeout = std::chrono::milliseconds(500);
  const CompileOutcome outcome = compile(host_source(kKernel), hanging);
  EXPECT_EQ(outcome.status, Status::CompileTimedOut);
  EXPECT_NE(outcome.detail.find("did not end within"), std::string::npos) << outcome.detail;
  pid_t grandchild = 0;
  std::ifstream(pid_file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  // It was sent SIGKILL, but goes when the kernel gets to it; a zombie has gone as well.
  const auto is_there = [&] {
    std::string pid, name, state;
    std::ifstream("/proc/" + std::to_string(grandchild) + "/stat") >> pid >> name >> state;
    return !state.empty() && state != "Z";
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (is_there() && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_FALSE(is_there());
}

TEST_F(Compile, TimesOutWhenTheCompilerDoesNotEvenStateItsVersion) {
  const fs::path script = folder_.path() / "mute";
  std::ofstream(script) << "#!/bin/sh\nexec sleep 600\n";
  fs::permissions(script, fs::perms::owner_all);
  CompileOptions mute = options();
  mute.host_compiler = script;
  mute.timeout = std::chrono::milliseconds(200);
  const CompileOutcome outcome = compile(host_source(kKernel), mute);
  EXPECT_EQ(outcome.status, Status::CompileTimedOut);
}

TEST_F(Compile, SaysWhichCompilerIsMissing) {
  CompileOptions missing = options();
  missing.host_compiler = "/nonexistent/c++";
  try {
    compile(host_source(kKernel), missing);
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("/nonexistent/c++"), std::string::npos) << text;
    EXPECT_NE(text.find("--host-compiler"), std::string::npos) << text;
  }
}

TEST_F(Compile, DoesNotBlameTheCandidateForAFullDisk) {
  CompileOptions full = options();
  full.host_compiler = fake_compiler(
      "echo '/tmp/cc.s: fatal error: error writing to it: No space left on device' >&2; exit 1\n"
  );
  EXPECT_THROW(compile(host_source(kKernel), full), EnvironmentError);
}

TEST_F(Compile, BuildsEmulatedText) {
  KernelSource source =
      host_source("extern \"C\" void whet_step_emulated(const void*, const void*) {}");
  source.plan.target = Target::CudaEmulated;
  CompileOptions helpers_only = options();
  helpers_only.emulation_checks = AccessChecks::OfHelpers;
  const CompileOutcome outcome = compile(source, helpers_only);
  EXPECT_EQ(outcome.status, Status::Ok) << outcome.detail;
  EXPECT_EQ(outcome.artifact.extension(), ".so");
}

}  // namespace
}  // namespace whet
