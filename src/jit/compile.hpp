#pragma once

#include <filesystem>
#include <string>

#include "artifact/compile_options.hpp"
#include "artifact/launch_plan.hpp"
#include "evaluation/evaluation.hpp"

namespace whet {

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
