#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "jit/compiled_code.hpp"
#include "jit/nvrtc.hpp"

namespace whet {

/// Options that decide a cubin's code.
std::vector<std::string> nvrtc_options(const std::string& arch);

/// Compiles to a cubin in this process, cancelled at the timeout. Resources come from the cubin,
/// and spills from ptxas's log, which must agree with it. Throws EnvironmentError: NVRTC does not
/// know the arch, or its output is not as expected.
CompiledCode compile_with_nvrtc(
    const Nvrtc& nvrtc, const KernelSource& source, std::chrono::milliseconds timeout
);

}  // namespace whet
