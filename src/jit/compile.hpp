#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "artifact/launch_plan.hpp"
#include "evaluation/evaluation.hpp"
#include "jit/emulation_compile.hpp"

namespace whet {

/// Where compilers and the cache are; filled from flags and environment by each program's main.
struct CompileOptions {
  std::filesystem::path cache_folder;  ///< private (0700), made when missing
  std::string host_compiler = "c++";
  std::filesystem::path nvrtc_library;        ///< empty: searched (see find_nvrtc)
  std::chrono::milliseconds timeout{60'000};  ///< of the host compiler, and NVRTC's cancel callback
  bool native = true;                         ///< CPU target: -march=native
  AccessChecks emulation_checks = AccessChecks::All;
};

/// What compiling gave: Ok with a file, or CompileFailed / CompileTimedOut with the compiler's
/// text.
struct CompileOutcome {
  Status status = Status::Ok;
  std::string detail;
  std::filesystem::path artifact;  ///< cubin, or shared object on the CPU and emulated targets
  std::string source_sha256;
  Resources resources;     ///< read from the cubin and the log; empty for host code
  double compile_s = 0.0;  ///< 0 on a cache hit
  bool cache_hit = false;
};

/// Compiles for the plan's target, or finds the artifact in the cache by SHA-256 of source, options
/// and compiler version. Publication is atomic. Throws EnvironmentError when there is no compiler.
CompileOutcome compile(const KernelSource& source, const CompileOptions& options);

}  // namespace whet
