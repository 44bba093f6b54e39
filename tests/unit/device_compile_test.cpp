// The CUDA device files compile with NVRTC, which needs no GPU, for each generation that is
// emitted.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace whet {
namespace {

/// The little of NVRTC that compiles a text.
struct Nvrtc {
  void* library = nullptr;

  Nvrtc() {
    for (const char* name : {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"}) {
      library = library != nullptr ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
  }
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const {
    void* symbol = dlsym(library, function);
    return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
  }
  /// The log of a failed compilation; "" if it succeeds.
  std::string compile(const std::string& text, const std::string& arch) const {
    void* program = nullptr;
    const char* const* none = nullptr;
    call("nvrtcCreateProgram", &program, text.c_str(), "every_helper.cu", 0, none, none);
    const std::string target = "-arch=" + arch;
    const char* options[] = {target.c_str(), "--std=c++20"};
    const char* const* first = options;
    std::string log;
    if (call("nvrtcCompileProgram", program, 2, first) != 0) {
      std::size_t bytes = 0;
      call("nvrtcGetProgramLogSize", program, &bytes);
      log.resize(bytes);
      call("nvrtcGetProgramLog", program, log.data());
    }
    call("nvrtcDestroyProgram", &program);
    return log;
  }
};

std::string read_text(const std::string& file) {
  std::ifstream stream(std::string(WHET_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(stream.good()) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class DeviceFiles : public testing::TestWithParam<const char*> {};

TEST_P(DeviceFiles, CompileWithEveryHelperInUse) {
  const Nvrtc nvrtc;
  if (nvrtc.library == nullptr) {
    GTEST_SKIP() << "no NVRTC: libnvrtc.so.13 is neither in the search path nor in /usr/local/cuda";
  }
  const std::string text =
      read_text("src/codegen/device/types.hpp") + read_text("src/codegen/device/cuda.cuh") +
      read_text("src/codegen/device/edge.cuh") + read_text("src/codegen/device/start.cuh") +
      read_text("tests/unit/every_helper.cu");
  EXPECT_EQ(nvrtc.compile(text, GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(
    Architectures,
    DeviceFiles,
    testing::Values("sm_80", "sm_90a", "sm_100a"),
    [](const auto& test) { return std::string(test.param); }
);

}  // namespace
}  // namespace whet
