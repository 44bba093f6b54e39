#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/half.hpp"
#include "base/philox.hpp"
#include "codegen/lower.hpp"
#include "jit/compile.hpp"
#include "jit/executor.hpp"
#include "jit/step_instance.hpp"
#include "schedule/resolve.hpp"
#include "schedule/verify.hpp"
#include "support/step_interpreter.hpp"
#include "support/test_cache.hpp"

namespace whet::testing {

/// Batches, scalars and initial state of a Program, drawn from Philox.
struct StepData {
  std::vector<std::vector<Values>> inputs;  ///< [batch][input]
  std::vector<Values> scalars;
  std::vector<Values> state;
};

inline StepData draw_data(const Program& program, int num_batches, double rate = 0.05) {
  StepData data;
  std::uint64_t stream = 0;
  const auto draw = [&](ValueId v, double scale) {
    const TensorDesc& tensor = program.value(v);
    const Philox random(17, stream++);
    Values values(static_cast<std::size_t>(num_elements(tensor.shape)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = round_to(scale * random.normal(i), tensor.dtype);
    }
    return values;
  };
  for (int batch = 0; batch < num_batches; ++batch) {
    data.inputs.emplace_back();
    for (const ProgramInput& input : program.inputs) {
      data.inputs.back().push_back(draw(input.value, 1.0));
    }
  }
  for (std::size_t i = 0; i < program.scalars.size(); ++i) {
    data.scalars.push_back({round_to(rate, DType::F32)});
  }
  for (const ProgramState& state : program.state) {
    const auto& shape = program.value(state.before).shape;
    const double fan_in = shape.size() > 1 ? static_cast<double>(shape[0]) : 16.0;
    data.state.push_back(draw(state.before, 1.0 / std::sqrt(fan_in)));
  }
  return data;
}

/// State and outputs after each step.
struct StepResult {
  std::vector<std::vector<Values>> state;    ///< [step][state]
  std::vector<std::vector<Values>> outputs;  ///< [step][output]

  bool operator==(const StepResult&) const = default;
};

/// What the Program means, step by step.
inline StepResult interpret(const Program& program, const StepData& data, int num_steps) {
  StepResult result;
  std::vector<Values> state = data.state;
  for (int step = 0; step < num_steps; ++step) {
    std::map<ValueId, Values> values;
    const auto& batch = data.inputs[static_cast<std::size_t>(step) % data.inputs.size()];
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      values[program.inputs[i].value] = batch[i];
    }
    for (std::size_t i = 0; i < program.scalars.size(); ++i) {
      values[program.scalars[i]] = data.scalars[i];
    }
    for (std::size_t i = 0; i < program.state.size(); ++i) {
      values[program.state[i].before] = state[i];
    }
    values = StepInterpreter(program).run(std::move(values));
    for (std::size_t i = 0; i < program.state.size(); ++i) {
      state[i] = values.at(program.state[i].after);
    }
    result.state.push_back(state);
    result.outputs.emplace_back();
    for (const ValueId output : program.outputs) {
      result.outputs.back().push_back(values.at(output));
    }
  }
  return result;
}

inline void store_element(std::uint8_t* to, DType dtype, double value) {
  const auto single = static_cast<float>(value);
  const std::uint16_t half = dtype == DType::BF16 ? f32_to_bf16(single) : f32_to_f16(single);
  dtype == DType::F32 ? std::memcpy(to, &single, 4) : std::memcpy(to, &half, 2);
}

inline double load_element(const std::uint8_t* from, DType dtype) {
  float single = 0.0f;
  std::uint16_t half = 0;
  if (dtype == DType::F32) {
    std::memcpy(&single, from, 4);
    return single;
  }
  std::memcpy(&half, from, 2);
  return dtype == DType::BF16 ? bf16_to_f32(half) : f16_to_f32(half);
}

/// A kernel with its tensors on an executor.
class StepRunner {
 public:
  StepRunner(
      Executor& executor,
      const Program& program,
      const std::filesystem::path& artifact,
      const LaunchPlan& plan,
      const StepData& data
  )
      : StepRunner(executor, program, executor.load(artifact, plan), data) {}
  /// Another instance of a kernel that is loaded already.
  StepRunner(
      Executor& executor,
      const Program& program,
      std::shared_ptr<const LoadedKernel> kernel,
      const StepData& data
  )
      : executor_(executor),
        program_(program),
        plan_(kernel->plan()),
        data_(data),
        kernel_(std::move(kernel)) {
    for (const KernelArgument& argument : plan_.arguments) {
      const std::int64_t copies = argument.role == KernelArgument::Role::Input
                                      ? static_cast<std::int64_t>(data.inputs.size())
                                      : plan_.steps_per_launch;
      const std::int64_t elements =
          std::max(argument.step_stride_elements * copies, argument.extent_elements);
      const auto bytes = static_cast<std::size_t>(
          std::max<std::int64_t>(elements, 1) * dtype_bytes(argument.dtype)
      );
      tensors_.push_back(executor.allocate(bytes));
      executor.fill(tensors_.back(), 0xff, bytes);
      fill(argument, tensors_.back(), bytes);
    }
    instance_ = std::make_unique<StepInstance>(executor, *kernel_, tensors_);
    instance_->poison(0xff);
    instance_->refresh();
  }
  ~StepRunner() {
    instance_.reset();
    for (void* tensor : tensors_) {
      executor_.release(tensor);
    }
  }
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  /// Runs launches until `num_steps` steps are done, beginning with step `first`; one entry a step,
  /// or a launch for the state.
  StepResult run(int num_steps, int first = 0) {
    WHET_CHECK(num_steps % plan_.steps_per_launch == 0, "{} steps in whole launches", num_steps);
    StepResult result;
    for (int step = 0; step < num_steps; step += plan_.steps_per_launch) {
      launch(first + step);
      EXPECT_FALSE(instance_->hang_place().has_value());
      result.state.push_back(read(KernelArgument::Role::State, 0));
      for (int s = 0; s < plan_.steps_per_launch; ++s) {
        result.outputs.push_back(read(KernelArgument::Role::Output, s));
      }
    }
    return result;
  }

  /// What the last launch of a profile build stamped.
  std::vector<std::uint64_t> stamps() const { return instance_->stamps(); }
  /// Enqueues the launch that begins with a step, and reads nothing.
  void launch(int step) {
    const auto ring = static_cast<std::uint32_t>(data_.inputs.size());
    instance_->launch(ring, static_cast<std::uint32_t>(step) % ring);
  }
  /// Waits for what was enqueued.
  std::vector<Values> state() { return read(KernelArgument::Role::State, 0); }
  StepInstance& instance() { return *instance_; }
  const std::shared_ptr<const LoadedKernel>& kernel() const { return kernel_; }

  /// Puts the first state back, as a caller would who knows of refresh() or not.
  void restore_state(bool with_refresh) {
    executor_.synchronize();
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a) {
      const KernelArgument& argument = plan_.arguments[a];
      if (argument.role == KernelArgument::Role::State) {
        fill(
            argument,
            tensors_[a],
            static_cast<std::size_t>(argument.extent_elements * dtype_bytes(argument.dtype))
        );
      }
    }
    if (with_refresh) {
      instance_->refresh();
    }
  }

  /// The same steps as one recorded sequence, replayed once; the state after them.
  StepResult replay(int num_steps) {
    const std::unique_ptr<Replay> sequence = record(num_steps);
    return replay(*sequence);
  }
  StepResult replay(Replay& sequence) {
    executor_.replay(sequence);
    EXPECT_FALSE(instance_->hang_place().has_value());
    return {.state = {state()}, .outputs = {}};
  }
  /// Captures steps for replay.
  std::unique_ptr<Replay> record(int num_steps) const {
    const auto ring = static_cast<std::uint32_t>(data_.inputs.size());
    std::vector<StepLaunch> launches;
    for (int step = 0; step < num_steps; step += plan_.steps_per_launch) {
      launches.push_back(instance_->arguments(ring, static_cast<std::uint32_t>(step) % ring));
    }
    return executor_.record(launches);
  }
  /// The median over 9 of the time of one replay of the steps; the state evolves meanwhile.
  double time_replays_ns(int num_steps, int replays_a_sample) {
    const std::unique_ptr<Replay> sequence = record(num_steps);
    executor_.time_replays_ns(*sequence, replays_a_sample);
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i) {
      samples.push_back(executor_.time_replays_ns(*sequence, replays_a_sample) / replays_a_sample);
    }
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
  }

 private:
  const TensorDesc& tensor_of(const KernelArgument& argument) const {
    const auto i = static_cast<std::size_t>(argument.index);
    switch (argument.role) {
      case KernelArgument::Role::Input:
        return program_.value(program_.inputs[i].value);
      case KernelArgument::Role::Scalar:
        return program_.value(program_.scalars[i]);
      case KernelArgument::Role::State:
        return program_.value(program_.state[i].before);
      default:
        return program_.value(program_.outputs[i]);
    }
  }

  /// Element offsets of a tensor's values in row-major order of its index.
  static std::vector<std::int64_t> offsets(const TensorDesc& tensor, bool dense) {
    std::vector<std::int64_t> result;
    const std::vector<std::int64_t> strides =
        dense ? contiguous_strides(tensor.shape) : tensor.strides;
    for (std::int64_t i = 0; i < num_elements(tensor.shape); ++i) {
      std::int64_t rest = i;
      std::int64_t offset = 0;
      for (std::size_t d = tensor.shape.size(); d-- > 0;) {
        offset += rest % tensor.shape[d] * strides[d];
        rest /= tensor.shape[d];
      }
      result.push_back(offset);
    }
    return result;
  }

  void fill(const KernelArgument& argument, void* memory, std::size_t bytes) {
    if (argument.role == KernelArgument::Role::Output) {
      return;
    }
    std::vector<std::uint8_t> host(bytes, 0xff);
    const auto i = static_cast<std::size_t>(argument.index);
    const std::vector<std::int64_t> places = offsets(tensor_of(argument), false);
    const auto put = [&](const Values& values, std::int64_t first) {
      for (std::size_t n = 0; n < values.size(); ++n) {
        const std::int64_t at = (first + places[n]) * dtype_bytes(argument.dtype);
        store_element(host.data() + at, argument.dtype, values[n]);
      }
    };
    if (argument.role == KernelArgument::Role::Input) {
      for (std::size_t batch = 0; batch < data_.inputs.size(); ++batch) {
        put(data_.inputs[batch][i],
            static_cast<std::int64_t>(batch) * argument.step_stride_elements);
      }
    } else if (argument.role == KernelArgument::Role::Scalar) {
      for (int step = 0; step < plan_.steps_per_launch; ++step) {
        put(data_.scalars[i], step);
      }
    } else {
      put(data_.state[i], 0);
    }
    executor_.upload(memory, host.data(), bytes);
  }

  std::vector<Values> read(KernelArgument::Role role, int step) {
    std::vector<Values> result;
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a) {
      const KernelArgument& argument = plan_.arguments[a];
      if (argument.role != role) {
        continue;
      }
      const std::int64_t first = step * argument.step_stride_elements;
      const std::int64_t elements = first + std::max<std::int64_t>(argument.extent_elements, 1);
      std::vector<std::uint8_t> host(
          static_cast<std::size_t>(elements * dtype_bytes(argument.dtype))
      );
      executor_.download(host.data(), tensors_[a], host.size());
      Values values;
      for (const std::int64_t place :
           offsets(tensor_of(argument), role == KernelArgument::Role::Output)) {
        values.push_back(load_element(
            host.data() + (first + place) * dtype_bytes(argument.dtype), argument.dtype
        ));
      }
      result.push_back(std::move(values));
    }
    return result;
  }

  Executor& executor_;
  const Program& program_;
  LaunchPlan plan_;
  const StepData& data_;
  std::shared_ptr<const LoadedKernel> kernel_;
  std::vector<void*> tensors_;
  std::unique_ptr<StepInstance> instance_;
};

/// ||a - b|| / ||b - origin||: the error of a change.
inline double change_error(const Values& a, const Values& b, const Values& origin) {
  double difference = 0.0;
  double change = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = a[i] - b[i];
    difference += std::isnan(d) ? INFINITY : d * d;
    change += (b[i] - origin[i]) * (b[i] - origin[i]);
  }
  return difference == 0.0 ? 0.0 : std::sqrt(difference / change);
}

/// Resolves, verifies, lowers and compiles; fails the test with the reason. A refused configuration
/// gives nothing.
struct BuiltStep {
  Schedule schedule;
  KernelSource source;
  std::filesystem::path artifact;
};
inline std::optional<BuiltStep> build_step(
    const Program& program,
    const std::string& configuration,
    const DeviceLimits& limits,
    AccessChecks checks = AccessChecks::OfHelpers,
    const LowerOptions& options = {}
) {
  auto resolved = resolve(program, parse_configuration(configuration), limits);
  if (const auto* violation = std::get_if<ConstraintViolation>(&resolved)) {
    ADD_FAILURE() << configuration << ": " << violation->constraint << ": " << violation->detail;
    return std::nullopt;
  }
  BuiltStep built{
      .schedule = std::get<Schedule>(std::move(resolved)), .source = {}, .artifact = {}};
  for (const std::string& hazard : find_hazards(program, built.schedule)) {
    ADD_FAILURE() << configuration << ": " << hazard;
  }
  built.source = lower(program, built.schedule, limits, options);
  const CompileOutcome outcome =
      compile(built.source, {.cache_folder = test_cache(), .emulation_checks = checks});
  if (outcome.status != Status::Ok) {
    ADD_FAILURE() << configuration << ": " << outcome.detail;
    return std::nullopt;
  }
  built.artifact = outcome.artifact;
  return built;
}

/// Largest error of a change after the first and the last step, against the interpreter.
inline double largest_error(
    const StepResult& got, const StepResult& expected, const StepData& data, int steps_per_launch
) {
  double largest = 0.0;
  for (std::size_t launch = 0; launch < got.state.size(); ++launch) {
    const std::size_t step = (launch + 1) * static_cast<std::size_t>(steps_per_launch) - 1;
    for (std::size_t i = 0; i < got.state[launch].size(); ++i) {
      largest = std::max(
          largest, change_error(got.state[launch][i], expected.state[step][i], data.state[i])
      );
    }
  }
  for (std::size_t step = 0; step < got.outputs.size(); ++step) {
    for (std::size_t i = 0; i < got.outputs[step].size(); ++i) {
      const Values zero(got.outputs[step][i].size(), 0.0);
      largest =
          std::max(largest, change_error(got.outputs[step][i], expected.outputs[step][i], zero));
    }
  }
  return largest;
}

}  // namespace whet::testing
