#include "harness/resident_candidate.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/error.hpp"
#include "harness/host_tensor.hpp"
#include "harness/strided_layout.hpp"

namespace whet {
namespace {

/// A tail that is not masked writes at most a tile's row beyond the end; also a multiple of every
/// alignment that a kernel may expect.
constexpr std::size_t kGuardBytes = 4096;
constexpr unsigned char kGuardByte = 0xa5;
/// What lies between the elements of a strided input: NaN in every floating type.
constexpr unsigned char kGapByte = 0xff;

std::uint8_t* payload(void* memory) { return static_cast<std::uint8_t*>(memory) + kGuardBytes; }

std::string role_name(KernelArgument::Role role) {
  switch (role) {
    case KernelArgument::Role::Input:
      return "input";
    case KernelArgument::Role::Scalar:
      return "scalar";
    case KernelArgument::Role::State:
      return "state";
    case KernelArgument::Role::Output:
      return "output";
  }
  return "tensor";
}

bool is_guard_intact(std::span<const std::uint8_t> guard) {
  return std::all_of(guard.begin(), guard.end(), [](std::uint8_t b) { return b == kGuardByte; });
}

}  // namespace

ResidentCandidate::ResidentCandidate(
    Executor& executor,
    const Workload& workload,
    const std::filesystem::path& artifact,
    const LaunchPlan& plan
)
    : executor_(executor), workload_(workload), kernel_(executor.load(artifact, plan)) {
  try {
    std::vector<void*> tensors;
    for (const KernelArgument& argument : kernel_->plan().arguments) {
      const auto entry_stride = static_cast<std::size_t>(argument.step_stride_elements);
      const std::size_t num_elements = (num_entries(argument) - 1) * entry_stride +
                                       static_cast<std::size_t>(argument.extent_elements);
      Block block;
      block.payload_bytes = num_elements * static_cast<std::size_t>(dtype_bytes(argument.dtype));
      block.memory = executor_.allocate(block.payload_bytes + 2 * kGuardBytes);
      blocks_.push_back(block);
      tensors.push_back(payload(block.memory));
      if (argument.role == KernelArgument::Role::State && block.payload_bytes > 0) {
        blocks_.back().pristine = executor_.allocate(block.payload_bytes);
      }
    }
    instance_ = std::make_unique<StepInstance>(executor_, *kernel_, tensors);
  } catch (...) {
    release();
    throw;
  }
}

ResidentCandidate::~ResidentCandidate() {
  instance_.reset();
  release();
}

void ResidentCandidate::release() noexcept {
  for (const Block& block : blocks_) {
    executor_.release(block.memory);
    if (block.pristine != nullptr) {
      executor_.release(block.pristine);
    }
  }
  blocks_.clear();
}

const TensorDesc& ResidentCandidate::desc(const KernelArgument& argument) const {
  const Program& step = workload_.step;
  const auto index = static_cast<std::size_t>(argument.index);
  switch (argument.role) {
    case KernelArgument::Role::Input:
      return step.value(step.inputs.at(index).value);
    case KernelArgument::Role::Scalar:
      return step.value(step.scalars.at(index));
    case KernelArgument::Role::State:
      return step.value(step.state.at(index).before);
    case KernelArgument::Role::Output:
      break;
  }
  return step.value(step.outputs.at(index));
}

std::size_t ResidentCandidate::num_entries(const KernelArgument& argument) const {
  switch (argument.role) {
    case KernelArgument::Role::Input:
      return static_cast<std::size_t>(workload_.num_batches);
    case KernelArgument::Role::State:
      return 1;
    case KernelArgument::Role::Scalar:
    case KernelArgument::Role::Output:
      break;
  }
  return static_cast<std::size_t>(kernel_->plan().steps_per_launch);
}

void ResidentCandidate::fill_image(
    const KernelArgument& argument,
    const ReferenceBundle& bundle,
    unsigned char poison,
    Block& block
) const {
  block.image.assign(block.payload_bytes + 2 * kGuardBytes, kGuardByte);
  const std::span<std::uint8_t> body =
      std::span(block.image).subspan(kGuardBytes, block.payload_bytes);
  const bool is_output = argument.role == KernelArgument::Role::Output;
  std::fill(body.begin(), body.end(), is_output ? poison : kGapByte);
  if (is_output || block.payload_bytes == 0) {
    return;
  }
  const auto index = static_cast<std::size_t>(argument.index);
  const auto entry_bytes = static_cast<std::size_t>(argument.step_stride_elements) *
                           static_cast<std::size_t>(dtype_bytes(argument.dtype));
  for (std::size_t entry = 0; entry < num_entries(argument); ++entry) {
    const HostTensor& values =
        argument.role == KernelArgument::Role::Input    ? bundle.inputs.at(entry).at(index)
        : argument.role == KernelArgument::Role::Scalar ? bundle.scalars.at(index)
                                                        : bundle.initial_state.at(index);
    scatter(values, desc(argument), body.subspan(entry * entry_bytes));
  }
}

void ResidentCandidate::reset(const ReferenceBundle& bundle, unsigned char poison) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Block& block = blocks_[i];
    fill_image(kernel_->plan().arguments[i], bundle, poison, block);
    executor_.upload(block.memory, block.image.data(), block.image.size());
    if (block.pristine != nullptr) {
      executor_.copy(block.pristine, payload(block.memory), block.payload_bytes);
    }
  }
  instance_->poison(poison);
  instance_->refresh();
}

void ResidentCandidate::restore_state() {
  for (const Block& block : blocks_) {
    if (block.pristine != nullptr) {
      executor_.copy(payload(block.memory), block.pristine, block.payload_bytes);
    }
  }
  instance_->refresh();
  instance_->seek(0);
}

void ResidentCandidate::launch(int step) {
  const auto ring_length = static_cast<std::uint32_t>(workload_.num_batches);
  instance_->launch(ring_length, static_cast<std::uint32_t>(step));
  executor_.synchronize();
}

std::vector<StepLaunch> ResidentCandidate::launches(int num_steps) const {
  WHET_CHECK(
      num_steps % steps_per_launch() == 0,
      "{} steps cannot be done in launches of {}",
      num_steps,
      steps_per_launch()
  );
  const auto ring_length = static_cast<std::uint32_t>(workload_.num_batches);
  std::vector<StepLaunch> launches;
  for (int step = 0; step < num_steps; step += steps_per_launch()) {
    launches.push_back(instance_->arguments(ring_length, static_cast<std::uint32_t>(step)));
  }
  return launches;
}

HostTensor ResidentCandidate::read_entry(std::size_t argument_idx, std::size_t entry_idx) const {
  const KernelArgument& argument = kernel_->plan().arguments[argument_idx];
  const auto size = static_cast<std::size_t>(dtype_bytes(argument.dtype));
  std::vector<std::uint8_t> storage(static_cast<std::size_t>(argument.extent_elements) * size);
  const std::size_t offset =
      entry_idx * static_cast<std::size_t>(argument.step_stride_elements) * size;
  if (!storage.empty()) {
    executor_.download(
        storage.data(), payload(blocks_[argument_idx].memory) + offset, storage.size()
    );
  }
  return gather(storage, desc(argument));
}

Snapshot ResidentCandidate::snapshot(int step) const {
  Snapshot snapshot{.step = step, .state = {}, .outputs = {}, .previous_state = {}};
  snapshot.state.resize(workload_.step.state.size());
  snapshot.outputs.resize(workload_.step.outputs.size());
  const auto last_entry = static_cast<std::size_t>((step - 1) % steps_per_launch());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const KernelArgument& argument = kernel_->plan().arguments[i];
    const auto index = static_cast<std::size_t>(argument.index);
    if (argument.role == KernelArgument::Role::State) {
      snapshot.state.at(index) = read_entry(i, 0);
    } else if (argument.role == KernelArgument::Role::Output) {
      snapshot.outputs.at(index) = read_entry(i, last_entry);
    }
  }
  return snapshot;
}

std::vector<double> ResidentCandidate::last_losses() const {
  std::vector<double> losses;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const KernelArgument& argument = kernel_->plan().arguments[i];
    const bool is_loss =
        argument.role == KernelArgument::Role::Output && workload_.step.loss &&
        workload_.step.outputs.at(static_cast<std::size_t>(argument.index)) == *workload_.step.loss;
    if (!is_loss) {
      continue;
    }
    for (std::size_t entry = 0; entry < num_entries(argument); ++entry) {
      losses.push_back(to_doubles(read_entry(i, entry)).at(0));
    }
    break;
  }
  return losses;
}

std::optional<std::string> ResidentCandidate::damage() const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const KernelArgument& argument = kernel_->plan().arguments[i];
    const Block& block = blocks_[i];
    std::vector<std::uint8_t> now(block.image.size());
    executor_.download(now.data(), block.memory, now.size());
    const std::string name = fmt::format("{} '{}'", role_name(argument.role), desc(argument).name);
    const std::span<const std::uint8_t> bytes(now);
    if (!is_guard_intact(bytes.first(kGuardBytes))) {
      return fmt::format("the kernel wrote before the start of {}", name);
    }
    if (!is_guard_intact(bytes.last(kGuardBytes))) {
      return fmt::format("the kernel wrote past the end of {}", name);
    }
    const bool is_read_only = argument.role == KernelArgument::Role::Input ||
                              argument.role == KernelArgument::Role::Scalar;
    if (is_read_only && now != block.image) {
      const auto [there, expected] = std::mismatch(now.begin(), now.end(), block.image.begin());
      return fmt::format(
          "the kernel changed {}, which it may only read: byte {}",
          name,
          there - now.begin() - static_cast<std::ptrdiff_t>(kGuardBytes)
      );
    }
  }
  return std::nullopt;
}

}  // namespace whet
