#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "jit/shared_library.hpp"

namespace whet {

/// Our own declarations of the part of nvrtc.h that we call, so that no CUDA header is needed.
/// Source: NVRTC 13.0.
namespace nvrtc {
struct ProgramObject;
using Program = ProgramObject*;
enum class Result : int { Success = 0, InvalidOption = 5, Compilation = 6, Cancelled = 16 };
}  // namespace nvrtc

/// The runtime compiler, loaded; it needs neither a GPU nor a driver.
struct Nvrtc {
  SharedLibrary library;
  std::string path;     ///< the file that was loaded
  std::string version;  ///< "13.0"

  nvrtc::Result (*get_version)(int* major, int* minor) = nullptr;
  const char* (*error_text)(nvrtc::Result) = nullptr;
  nvrtc::Result (*create_program
  )(nvrtc::Program*,
    const char* source,
    const char* name,
    int,
    const char* const*,
    const char* const*) = nullptr;
  nvrtc::Result (*destroy_program)(nvrtc::Program*) = nullptr;
  nvrtc::Result (*compile_program)(nvrtc::Program, int, const char* const* options) = nullptr;
  nvrtc::Result (*log_size)(nvrtc::Program, std::size_t*) = nullptr;
  nvrtc::Result (*log)(nvrtc::Program, char*) = nullptr;
  nvrtc::Result (*cubin_size)(nvrtc::Program, std::size_t*) = nullptr;
  nvrtc::Result (*cubin)(nvrtc::Program, char*) = nullptr;
  /// The callback returns 1 to cancel.
  nvrtc::Result (*set_flow_callback
  )(nvrtc::Program, int (*)(void*, void*), void* payload) = nullptr;
};

/// Loads libnvrtc.so.13: `chosen` and nothing else if it is not empty; else the one that this
/// process has loaded already (torch's, say), the loader's own, that of a `.venv` in the current
/// folder or above this program, that of /usr/local/cuda, and that of the first `python3`'s
/// packages. Throws EnvironmentError with the places searched and what to do.
Nvrtc find_nvrtc(const std::filesystem::path& chosen);

}  // namespace whet
