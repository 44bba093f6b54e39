#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/compiled_code.hpp"

namespace whet {

/// Arguments of the CPU target that decide the code.
std::vector<std::string> host_compile_arguments(bool native);

/// What decides the code that `compiler` makes with `arguments`: its version, and every macro that
/// it predefines, and so the instructions that `-march=native` stands for on this machine. Nothing
/// if it does not answer before the deadline. Throws EnvironmentError if it does not run.
std::optional<std::string> host_compiler_identity(
    const std::string& compiler,
    const std::vector<std::string>& arguments,
    std::chrono::steady_clock::time_point deadline
);

/// Compiles text to a shared object in a private folder, killing the compiler and its children at
/// the deadline. Throws EnvironmentError if the compiler does not run, or the disk is full.
CompiledCode compile_on_host(
    const std::string& compiler,
    const std::vector<std::string>& arguments,
    std::string_view text,
    std::chrono::steady_clock::time_point deadline
);

}  // namespace whet
