#include "harness/eager_peer.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

/// The scalar that the optimizer names as its learning rate.
double learning_rate(const Workload& workload) {
  const Program& step = workload.step;
  for (std::size_t i = 0; i < step.scalars.size(); ++i) {
    if (step.value(step.scalars[i]).name == workload.optimizer->lr) {
      return workload.scalar_values.at(i);
    }
  }
  throw InternalError(fmt::format("no scalar is called {}", workload.optimizer->lr));
}

}  // namespace

EagerPeer::EagerPeer(
    const Workload& workload, const ReferenceBundle& data, at::Device device, int num_steps
)
    : workload_(workload),
      program_(workload.forward ? *workload.forward : workload.step),
      trains_(workload.forward && workload.forward->loss),
      device_(device),
      num_steps_(num_steps) {
  for (const HostTensor& tensor : data.initial_state) {
    initial_state_.push_back(to_libtorch(tensor).to(device));
    at::Tensor& state = state_.emplace_back(initial_state_.back().clone());
    state.requires_grad_(trains_ && at::isFloatingType(state.scalar_type()));
  }
  if (workload.optimizer) {
    learning_rate_ = learning_rate(workload);
  }
  for (const std::vector<HostTensor>& batch : data.inputs) {
    std::vector<at::Tensor>& values = leaves_.emplace_back(program_.values.size());
    const auto set = [&](ValueId id, const at::Tensor& tensor) {
      values[static_cast<std::size_t>(id)] = tensor;
    };
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      set(program_.inputs[i].value, to_libtorch(batch[i]).to(device));
    }
    for (std::size_t i = 0; i < program_.scalars.size(); ++i) {
      set(program_.scalars[i], to_libtorch(data.scalars[i]).to(device));
    }
    for (std::size_t i = 0; i < program_.state.size(); ++i) {
      set(program_.state[i].before, state_[i]);
    }
  }
}

void EagerPeer::restore() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i].copy_(initial_state_[i]);
  }
  batch_idx_ = 0;
  // A recorded sequence runs on another stream.
  synchronize();
}

void EagerPeer::step() {
  const std::vector<at::Tensor>& leaves = leaves_.at(batch_idx_);
  batch_idx_ = (batch_idx_ + 1) % leaves_.size();
  trains_ ? train(leaves) : walk_step(leaves);
}

void EagerPeer::train(std::vector<at::Tensor> values) {
  walk(program_, values, WalkDType::Declared);
  values[static_cast<std::size_t>(program_.loss.value())].backward();
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : state_) {
    at::Tensor& gradient = parameter.mutable_grad();
    if (gradient.defined()) {
      if (workload_.optimizer) {
        parameter.add_(gradient, -learning_rate_);
      }
      gradient.reset();
    }
  }
}

void EagerPeer::walk_step(std::vector<at::Tensor> values) {
  const at::NoGradGuard no_grad;
  walk(program_, values, WalkDType::Declared);
  // All new values exist before the first is stored: updates may read each other's state.
  for (std::size_t i = 0; i < program_.state.size(); ++i) {
    const ProgramState& state = program_.state[i];
    if (state.after != state.before) {
      state_[i].copy_(values[static_cast<std::size_t>(state.after)]);
    }
  }
}

void EagerPeer::synchronize() const {
  if (!device_.is_cpu()) {
    const c10::impl::VirtualGuardImpl guard(device_.type());
    guard.synchronizeStream(guard.getStream(device_));
  }
}

double EagerPeer::time_ns(int count) {
  using Clock = std::chrono::steady_clock;
  synchronize();
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < count * num_steps_; ++i) {
    step();
  }
  synchronize();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

}  // namespace whet
