#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace whet {

/// Whether the emulation hears of every access of a kernel (see AccessChecker), at some ten times
/// the running time, or only of those by helpers: 16-byte, ldmatrix and asynchronous ones.
enum class AccessChecks { All, OfHelpers };

/// Where compilers and the cache are; filled from flags and environment by each program's main.
struct CompileOptions {
  std::filesystem::path cache_folder;  ///< private (0700), made when missing
  std::string host_compiler = "c++";
  std::filesystem::path nvrtc_library;        ///< empty: searched (see find_nvrtc)
  std::chrono::milliseconds timeout{60'000};  ///< of the host compiler, and NVRTC's cancel callback
  bool native = true;                         ///< CPU target: -march=native
  AccessChecks emulation_checks = AccessChecks::All;
};

}  // namespace whet
