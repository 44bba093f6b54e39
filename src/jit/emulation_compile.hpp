#pragma once

#include <string>
#include <vector>

namespace whet {

/// Whether the emulation hears of every access of a kernel (see AccessChecker), at some ten times
/// the running time, or only of those by helpers: 16-byte, ldmatrix and asynchronous ones.
enum class AccessChecks { All, OfHelpers };

/// Arguments for the host compiler (GCC) that make a shared object for make_emulated_executor of
/// emitted text; the file's name and `-o` come in front of them.
std::vector<std::string> emulation_compile_arguments(AccessChecks checks);

}  // namespace whet
