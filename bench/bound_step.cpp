#include "bound_step.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/half.hpp"
#include "base/philox.hpp"
#include "codegen/lower.hpp"
#include "jit/compile.hpp"
#include "schedule/resolve.hpp"
#include "schedule/search_space.hpp"

namespace whet::bench {
namespace {

void put(std::byte* to, DType dtype, float value) {
  const std::uint16_t half = dtype == DType::BF16 ? f32_to_bf16(value) : f32_to_f16(value);
  dtype == DType::F32 ? std::memcpy(to, &value, 4) : std::memcpy(to, &half, 2);
}

}  // namespace

Schedule default_schedule(const Program& program, const DeviceLimits& limits) {
  const Configuration defaults = SearchSpace(program, limits).default_configuration();
  auto resolved = resolve(program, defaults, limits);
  if (const auto* violation = std::get_if<ConstraintViolation>(&resolved)) {
    throw UserError(violation->constraint + ": " + violation->detail);
  }
  return std::get<Schedule>(std::move(resolved));
}

KernelSource default_source(const Program& program, const DeviceLimits& limits) {
  return lower(program, default_schedule(program, limits), limits);
}

CompileOutcome compile_default(const KernelSource& source, const std::filesystem::path& folder) {
  CompileOutcome outcome = compile(source, {.cache_folder = folder});
  if (outcome.status != Status::Ok) {
    throw UserError(outcome.detail);
  }
  return outcome;
}

BoundStep::BoundStep(Executor& executor, const Program& program, const DeviceLimits& limits)
    : executor_(executor) {
  const KernelSource source = default_source(program, limits);
  const std::filesystem::path cache =
      std::filesystem::temp_directory_path() / ("whet-bench-cache-" + std::to_string(::getuid()));
  kernel_ = executor.load(compile_default(source, cache).artifact, source.plan);
  for (const KernelArgument& argument : kernel_->plan().arguments) {
    tensors_.push_back(allocate(argument, tensors_.size()));
  }
  instance_ = std::make_unique<StepInstance>(executor, *kernel_, tensors_);
}

BoundStep::~BoundStep() {
  instance_.reset();
  for (void* tensor : tensors_) {
    executor_.release(tensor);
  }
}

void* BoundStep::allocate(const KernelArgument& argument, std::uint64_t stream) {
  const std::int64_t entries = argument.role == KernelArgument::Role::Input
                                   ? std::int64_t{kRingLength}
                                   : kernel_->plan().steps_per_launch;
  const std::int64_t elements =
      argument.extent_elements + (entries - 1) * argument.step_stride_elements;
  const auto element_bytes = static_cast<std::size_t>(dtype_bytes(argument.dtype));
  std::vector<std::byte> host(static_cast<std::size_t>(elements) * element_bytes);
  const Philox random(1, stream);
  const bool is_scalar = argument.role == KernelArgument::Role::Scalar;
  for (std::int64_t i = 0; i < elements; ++i) {
    const double value = is_scalar ? 1e-3 : 0.05 * random.normal(static_cast<std::uint64_t>(i));
    put(host.data() + static_cast<std::size_t>(i) * element_bytes,
        argument.dtype,
        static_cast<float>(value));
  }
  void* memory = executor_.allocate(std::max<std::size_t>(host.size(), 1));
  executor_.upload(memory, host.data(), host.size());
  return memory;
}

void BoundStep::launch() {
  instance_->launch(kRingLength, 0);
  executor_.synchronize();
}

std::unique_ptr<Replay> BoundStep::record(int num_launches) const {
  std::vector<StepLaunch> launches;
  for (int i = 0; i < num_launches; ++i) {
    launches.push_back(instance_->arguments(kRingLength, static_cast<std::uint32_t>(i)));
  }
  return executor_.record(launches);
}

}  // namespace whet::bench
