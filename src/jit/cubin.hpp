#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace whet {

/// What a cubin says of one of its kernels; no driver is needed to read it.
struct CubinKernel {
  std::int64_t registers = 0;            ///< a thread
  std::int64_t static_shared_bytes = 0;  ///< without the 1024 that sm_90 and later reserve
  std::int64_t parameter_bytes = 0;
  std::int64_t max_threads = 0;  ///< __launch_bounds__; 0: none
  std::int64_t code_bytes = 0;

  bool operator==(const CubinKernel&) const = default;
};

/// Reads the ELF sections of the kernel `entry`. Throws EnvironmentError when the bytes are no
/// cubin, are cut short, or hold no such kernel. Source: layout of `.nv.info` as nvdisasm and
/// cuobjdump print it, checked against ptxas's own log for sm_80, sm_90a, sm_100a and sm_120a
/// (CUDA 13.0).
CubinKernel read_cubin(std::string_view bytes, std::string_view entry);

}  // namespace whet
