#include "jit/step_instance.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

std::size_t workspace_bytes(const LoadedKernel& kernel) {
  return std::max(kernel.plan().workspace_bytes, LaunchPlan::kControlBytes);
}

}  // namespace

StepInstance::StepInstance(
    Executor& executor, const LoadedKernel& kernel, std::vector<void*> tensors
)
    : executor_(executor), kernel_(kernel), tensors_(std::move(tensors)) {
  WHET_CHECK(
      tensors_.size() == kernel.plan().arguments.size(),
      "{} tensors for a kernel of {} arguments",
      tensors_.size(),
      kernel.plan().arguments.size()
  );
  workspace_ = executor_.allocate(workspace_bytes(kernel));
  try {
    seek(0);
    refresh();
  } catch (...) {
    executor_.release(workspace_);
    throw;
  }
}

StepInstance::~StepInstance() { executor_.release(workspace_); }

StepLaunch StepInstance::arguments(std::uint32_t ring_length, std::uint32_t first_batch) const {
  return {
      .kernel = &kernel_,
      .arguments =
          {
              .tensors = tensors_,
              .workspace = workspace_,
              .ring_length = ring_length,
              .first_batch = first_batch % ring_length,
              .spin_limit = spin_limit_,
          },
  };
}

void StepInstance::launch(std::uint32_t ring_length, std::uint32_t first_batch) {
  if (hang_place_) {
    throw DeviceFault(
        Status::BarrierHang,
        fmt::format(
            "this instance hung at barrier {} in an earlier launch, so its state is undefined: "
            "restore the state, then refresh() the instance",
            *hang_place_
        )
    );
  }
  executor_.launch(arguments(ring_length, first_batch));
}

std::optional<std::uint32_t> StepInstance::hang_place() {
  constexpr std::size_t kStatusWord = 1;
  std::array<std::uint32_t, kStatusWord + 1> control{};
  executor_.synchronize();
  executor_.download(control.data(), workspace_, sizeof(control));
  if (control[kStatusWord] != 0) {
    hang_place_ = control[kStatusWord] - 1;
  }
  return hang_place_;
}

void StepInstance::refresh() {
  executor_.synchronize();
  executor_.fill(workspace_, 0, LaunchPlan::kControlBytes);
  if (hang_place_) {
    seek(0);
  }
  hang_place_.reset();
  if (kernel_.plan().has_shadows) {
    StepLaunch launch = arguments(1, 0);
    launch.arguments.refresh = true;
    executor_.launch(launch);
  }
}

void StepInstance::seek(std::uint32_t next_batch) {
  const LaunchPlan& plan = kernel_.plan();
  if (plan.counter_offset_bytes == 0) {
    return;
  }
  const std::vector<std::uint32_t> counters(static_cast<std::size_t>(plan.blocks), next_batch);
  executor_.synchronize();
  executor_.upload(
      static_cast<std::byte*>(workspace_) + plan.counter_offset_bytes,
      counters.data(),
      counters.size() * sizeof(std::uint32_t)
  );
}

std::vector<std::uint64_t> StepInstance::stamps() const {
  const LaunchPlan& plan = kernel_.plan();
  WHET_CHECK(plan.stamps.has_value(), "the kernel is no profile build");
  std::vector<std::uint64_t> words(
      static_cast<std::size_t>(plan.blocks) * plan.stamps->words_per_block()
  );
  executor_.synchronize();
  executor_.download(
      words.data(),
      static_cast<const std::byte*>(workspace_) + plan.stamps->offset_bytes,
      words.size() * sizeof(std::uint64_t)
  );
  return words;
}

void StepInstance::poison(unsigned char value) {
  const std::size_t bytes = workspace_bytes(kernel_) - LaunchPlan::kControlBytes;
  executor_.fill(static_cast<std::byte*>(workspace_) + LaunchPlan::kControlBytes, value, bytes);
  seek(0);
}

}  // namespace whet
