#pragma once

#include <string>
#include <vector>

#include "artifact/compile_options.hpp"

namespace whet {

/// Arguments for the host compiler (GCC) that make a shared object for make_emulated_executor of
/// emitted text; the file's name and `-o` come in front of them.
std::vector<std::string> emulation_compile_arguments(AccessChecks checks);

}  // namespace whet
