#include "jit/nvrtc_compile.hpp"

#include <memory>

#include "base/error.hpp"
#include "jit/compile_log.hpp"
#include "jit/cubin.hpp"

namespace whet {
namespace {

using std::chrono::steady_clock;

int is_past(void* deadline, void*) {
  return steady_clock::now() > *static_cast<const steady_clock::time_point*>(deadline) ? 1 : 0;
}

/// A program of NVRTC, and its calls with their errors.
class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& nvrtc, const std::string& text) : nvrtc_(nvrtc) {
    // The name stands in messages.
    check(
        "nvrtcCreateProgram",
        nvrtc_.create_program(&program_, text.c_str(), "whet_step.cu", 0, nullptr, nullptr)
    );
  }
  ~NvrtcProgram() {
    if (nvrtc_.destroy_program(&program_) != nvrtc::Result::Success) {
      fmt::print(stderr, "whet: cannot destroy a program of NVRTC\n");
    }
  }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  nvrtc::Result compile(
      const std::vector<std::string>& options, steady_clock::time_point deadline
  ) {
    check("nvrtcSetFlowCallback", nvrtc_.set_flow_callback(program_, is_past, &deadline));
    std::vector<const char*> arguments;
    for (const std::string& option : options) {
      arguments.push_back(option.c_str());
    }
    return nvrtc_.compile_program(program_, static_cast<int>(arguments.size()), arguments.data());
  }

  std::string log() const {
    std::size_t size = 0;
    check("nvrtcGetProgramLogSize", nvrtc_.log_size(program_, &size));
    std::string log(size, '\0');
    check("nvrtcGetProgramLog", nvrtc_.log(program_, log.data()));
    return log;
  }

  std::string cubin() const {
    std::size_t size = 0;
    check("nvrtcGetCUBINSize", nvrtc_.cubin_size(program_, &size));
    std::string cubin(size, '\0');
    check("nvrtcGetCUBIN", nvrtc_.cubin(program_, cubin.data()));
    return cubin;
  }

 private:
  void check(const char* function, nvrtc::Result result) const {
    if (result != nvrtc::Result::Success) {
      throw EnvironmentError(fmt::format("{}: {}", function, nvrtc_.error_text(result)));
    }
  }

  const Nvrtc& nvrtc_;
  nvrtc::Program program_ = nullptr;
};

/// What the kernel occupies, if the cubin and ptxas's log say the same.
Resources read_resources(
    const Nvrtc& nvrtc, std::string_view cubin, std::string_view log, const std::string& entry
) {
  const CubinKernel kernel = read_cubin(cubin, entry);
  const std::optional<PtxasReport> report = parse_ptxas_report(log, entry);
  if (!report || report->registers != kernel.registers ||
      report->static_shared_bytes != kernel.static_shared_bytes) {
    throw EnvironmentError(fmt::format(
        "NVRTC {} ({}) writes resources in a way that is not understood: the cubin has {} "
        "registers "
        "and {} bytes of static shared memory, but the log says\n{}",
        nvrtc.version,
        nvrtc.path,
        kernel.registers,
        kernel.static_shared_bytes,
        first_errors(log)
    ));
  }
  return {
      .registers = kernel.registers,
      .spill_store_bytes = report->spill_store_bytes,
      .spill_load_bytes = report->spill_load_bytes,
      .static_shared_bytes = kernel.static_shared_bytes,
      .code_bytes = kernel.code_bytes,
  };
}

}  // namespace

std::vector<std::string> nvrtc_options(const std::string& arch) {
  // -v makes ptxas report spills, which the cubin does not hold. Where there is a driver, NVRTC
  // keeps a cache of its own, and what it takes from there has no log.
  return {"--std=c++20", "-arch=" + arch, "--fmad=false", "--ptxas-options=-v", "--no-cache"};
}

CompiledCode compile_with_nvrtc(
    const Nvrtc& nvrtc, const KernelSource& source, std::chrono::milliseconds timeout
) {
  NvrtcProgram program(nvrtc, source.text);
  const nvrtc::Result result =
      program.compile(nvrtc_options(source.plan.arch), steady_clock::now() + timeout);
  if (result == nvrtc::Result::Cancelled) {
    return {
        .status = Status::CompileTimedOut,
        .detail = fmt::format("NVRTC did not end within {} ms", timeout.count()),
    };
  }
  const std::string log = program.log();
  if (result == nvrtc::Result::InvalidOption) {
    throw EnvironmentError(fmt::format(
        "NVRTC {} ({}) refuses its options, perhaps as it does not know {}:\n{}",
        nvrtc.version,
        nvrtc.path,
        source.plan.arch,
        first_errors(log)
    ));
  }
  if (result != nvrtc::Result::Success) {
    return {
        .status = Status::CompileFailed,
        .detail = fmt::format("NVRTC: {}\n{}", nvrtc.error_text(result), first_errors(log)),
    };
  }
  CompiledCode code{.bytes = program.cubin()};
  code.resources = read_resources(nvrtc, code.bytes, log, source.plan.entry);
  return code;
}

}  // namespace whet
