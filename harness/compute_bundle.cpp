#include "harness/compute_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "harness/libtorch_arithmetic.hpp"
#include "harness/libtorch_walk.hpp"

namespace whet {
namespace {

std::vector<at::Tensor> to_libtorch_all(const std::vector<HostTensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const HostTensor& tensor : tensors) {
    result.push_back(to_libtorch(tensor));
  }
  return result;
}

std::vector<HostTensor> to_host_all(
    const std::vector<at::Tensor>& tensors, const std::vector<DType>& dtypes
) {
  std::vector<HostTensor> result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    result.push_back(to_host(tensors[i], dtypes[i]));
  }
  return result;
}

void draw_data(const Workload& workload, ReferenceBundle& bundle) {
  const Program& step = workload.step;
  for (std::size_t batch = 0; batch < static_cast<std::size_t>(workload.num_batches); ++batch) {
    std::vector<HostTensor>& inputs = bundle.inputs.emplace_back();
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      inputs.push_back(fill_tensor(
          workload.input_fills.at(i),
          step.value(step.inputs[i].value),
          bundle.seed,
          input_stream(workload, batch, i)
      ));
    }
  }
  for (std::size_t i = 0; i < step.scalars.size(); ++i) {
    const TensorDesc& scalar = step.value(step.scalars[i]);
    bundle.scalars.push_back(
        from_doubles(scalar.dtype, scalar.shape, {workload.scalar_values.at(i)})
    );
  }
  for (std::size_t i = 0; i < step.state.size(); ++i) {
    bundle.initial_state.push_back(fill_tensor(
        workload.state_fills.at(i), step.value(step.state[i].before), bundle.seed, state_stream(i)
    ));
  }
}

/// The steps of a workload over a bundle's data, one after another.
class Steps {
 public:
  Steps(const Workload& workload, const ReferenceBundle& bundle, WalkDType dtypes)
      : workload_(workload), dtypes_(dtypes), scalars_(to_libtorch_all(bundle.scalars)) {
    for (const std::vector<HostTensor>& batch : bundle.inputs) {
      batches_.push_back(to_libtorch_all(batch));
    }
    state_ = to_libtorch_all(bundle.initial_state);
    if (dtypes == WalkDType::AllF64) {
      widen(scalars_);
      widen(state_);
      std::ranges::for_each(batches_, widen);
    }
  }

  /// Does one step and returns its results; their state is the next step's.
  StepResults next() {
    const std::vector<at::Tensor>& batch = batches_.at(num_done_ % batches_.size());
    StepResults results =
        run_step(workload_, {.inputs = batch, .scalars = scalars_, .state = state_}, dtypes_);
    state_ = results.state;
    ++num_done_;
    return results;
  }
  const std::vector<at::Tensor>& state() const { return state_; }

 private:
  static void widen(std::vector<at::Tensor>& tensors) {
    for (at::Tensor& tensor : tensors) {
      tensor = at::isFloatingType(tensor.scalar_type()) ? tensor.to(at::kDouble) : tensor;
    }
  }

  const Workload& workload_;
  WalkDType dtypes_;
  std::vector<at::Tensor> scalars_;
  std::vector<std::vector<at::Tensor>> batches_;
  std::vector<at::Tensor> state_;
  std::size_t num_done_ = 0;
};

Trajectory run_trajectory(
    const Workload& workload, const ReferenceBundle& bundle, bool keep_previous
) {
  const Program& step = workload.step;
  std::vector<DType> state_dtypes;
  for (const ProgramState& state : step.state) {
    state_dtypes.push_back(step.value(state.before).dtype);
  }
  std::vector<DType> output_dtypes;
  for (const ValueId id : step.outputs) {
    output_dtypes.push_back(step.value(id).dtype);
  }
  const std::vector<int> compared = snapshot_steps(workload);
  Steps steps(workload, bundle, WalkDType::Declared);
  Trajectory trajectory;
  for (int done = 1; done <= workload.validation.num_steps; ++done) {
    const std::vector<at::Tensor> previous = steps.state();
    const StepResults results = steps.next();
    if (results.loss) {
      trajectory.losses.push_back(results.loss->item<double>());
    }
    if (std::ranges::find(compared, done) == compared.end()) {
      continue;
    }
    Snapshot& snapshot = trajectory.snapshots.emplace_back();
    snapshot.step = done;
    snapshot.state = to_host_all(results.state, state_dtypes);
    snapshot.outputs = to_host_all(results.outputs, output_dtypes);
    if (keep_previous && done > 1) {
      snapshot.previous_state = to_host_all(previous, state_dtypes);
    }
  }
  return trajectory;
}

/// Norms of the changes over the replay when every value is f64.
std::vector<double> unrounded_change(const Workload& workload, const ReferenceBundle& bundle) {
  Steps steps(workload, bundle, WalkDType::AllF64);
  const std::vector<at::Tensor> before = steps.state();
  const int num_steps =
      std::min(workload.validation.num_replay_steps, workload.validation.num_steps);
  for (int done = 0; done < num_steps; ++done) {
    steps.next();
  }
  std::vector<double> changes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const at::Tensor change =
        steps.state()[i].detach().to(at::kDouble) - before[i].detach().to(at::kDouble);
    // A change that is not a number is one.
    const double norm = at::sqrt(at::sum(change * change)).item<double>();
    changes.push_back(std::isfinite(norm) ? norm : INFINITY);
  }
  return changes;
}

}  // namespace

ReferenceBundle draw_bundle(const Workload& workload, std::uint64_t seed) {
  ReferenceBundle bundle;
  bundle.workload_key = workload_key(workload.step);
  bundle.data_key = data_key(workload);
  bundle.seed = seed;
  bundle.libtorch_version = libtorch_version();
  draw_data(workload, bundle);
  return bundle;
}

ReferenceBundle compute_bundle(const Workload& workload, std::uint64_t seed, int num_threads) {
  ReferenceBundle bundle = draw_bundle(workload, seed);
  bundle.flags = use_exact_settings(num_threads);
  {
    const ArithmeticGuard guard(Arithmetic::Reference);
    bundle.reference = run_trajectory(workload, bundle, true);
  }
  bundle.native = run_trajectory(workload, bundle, false);
  for (const Arithmetic order : {Arithmetic::Reversed, Arithmetic::Split}) {
    const ArithmeticGuard guard(order, seed);
    bundle.orders.push_back(run_trajectory(workload, bundle, false));
  }
  bundle.unrounded_change = unrounded_change(workload, bundle);
  return bundle;
}

}  // namespace whet
