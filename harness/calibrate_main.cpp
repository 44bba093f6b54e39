// whet-calibrate: times the probes of a device and prints a whet.calibration/1 document. A process
// of its own, so that a fault of the device costs whet nothing.
//   whet-calibrate cuda DEVICE CACHE_FOLDER
//   whet-calibrate cpu THREADS CACHE_FOLDER
//   whet-calibrate cuda-emulated "" CACHE_FOLDER

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "harness/child_program.hpp"
#include "harness/probes.hpp"
#include "jit/cuda_device.hpp"

namespace {

whet::Json calibrate(
    const std::string& target, const std::string& device, const whet::CompileOptions& options
) {
  constexpr int kSamples = 21;
  const whet::Target chosen = whet::parse_target(target);
  if (chosen == whet::Target::Cpu) {
    const whet::DeviceLimits limits = whet::host_limits(std::atoi(device.c_str()));
    const auto executor = whet::make_cpu_executor(limits.num_sms);
    return whet::run_probes(*executor, limits, options, kSamples);
  }
  if (chosen == whet::Target::CudaEmulated) {
    const auto executor = whet::make_emulated_executor({});
    return whet::run_probes(*executor, whet::emulated_limits(), options, 1);
  }
  const auto executor = whet::make_cuda_executor(device);
  return whet::run_probes(*executor, whet::query_device_limits(device), options, kSamples);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) {
      throw whet::UserError("expected TARGET DEVICE CACHE_FOLDER");
    }
    whet::end_descendants_on_termination();
    whet::CompileOptions options;
    options.cache_folder = argv[3];
    std::printf("%s\n", calibrate(argv[1], argv[2], options).dump().c_str());
    return 0;
  } catch (const whet::DeviceFault& fault) {
    std::fprintf(
        stderr,
        "whet-calibrate: %s: %s\n",
        std::string(whet::status_name(fault.status)).c_str(),
        fault.what()
    );
    return 3;
  } catch (const whet::Error& error) {
    std::fprintf(stderr, "whet-calibrate: %s\n", error.what());
    return error.exit_code();
  }
}
