#include "cli/evaluator_setup.hpp"

#include <algorithm>

namespace whet {

EvaluatorOptions evaluator_options(
    const WorkloadChoice& workload, const DeviceChoice& device, const Environment& environment
) {
  const std::filesystem::path cache = cache_folder(environment);
  EvaluatorOptions options = make_evaluator_options(environment.program_folder, device.limits);
  options.workload = workload.source;
  options.device = device.handle;
  options.num_threads = device.limits.target == Target::Cpu ? device.limits.num_sms : 0;
  options.num_compilers = std::max(host_limits(0).num_sms, 1);
  options.tolerances = configs_folder(environment) / "tolerances.json";
  options.cache_folder = cache;
  options.compile.cache_folder = cache;
  if (device.limits.target == Target::CudaEmulated) {
    options.num_screen_blocks = 0;  // emulation is never timed
  }
  return options;
}

}  // namespace whet
