#include "ir/workload.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "ir/canonical.hpp"
#include "ir/differentiate.hpp"
#include "ir/file_dims.hpp"
#include "ir/file_names.hpp"
#include "ir/file_ops.hpp"
#include "ir/file_tensors.hpp"
#include "ir/sgd.hpp"

namespace whet {
namespace {

constexpr std::string_view kGradient = "grad:";

/// One workload file while it is read, in the order of the functions below.
class WorkloadReader {
 public:
  WorkloadReader(const JsonCursor& root, const DimOverrides& dims)
      : root_(root), dims_(header(root), dims) {}

  Workload read() {
    workload_.name = read_name(root_.at("name"));
    if (const std::optional<JsonCursor> about = root_.find("about")) {
      workload_.about = about->as_string();
    }
    read_tensors(root_, dims_, names_, workload_);
    const std::optional<JsonCursor> forward = root_.find("forward");
    const std::optional<JsonCursor> body = root_.find("body");
    if (forward.has_value() == body.has_value()) {
      root_.fail(R"(either "forward" or "body")", forward ? "both" : "neither");
    }
    forward ? read_forward(*forward) : read_body(*body);
    read_outputs(forward.has_value());
    read_counts();
    workload_.step = canonical(step());
    verify(step());
    return std::move(workload_);
  }

 private:
  static const JsonCursor& header(const JsonCursor& root) {
    constexpr std::string_view kSchema = "whet.workload/1";
    const JsonCursor schema = root.at("schema");
    if (schema.as_string() != kSchema) {
      schema.fail(fmt::format("\"{}\"", kSchema));
    }
    root.allow_only(
        {"schema",
         "name",
         "about",
         "dims",
         "inputs",
         "scalars",
         "state",
         "forward",
         "body",
         "updates",
         "loss",
         "optimizer",
         "outputs",
         "batches",
         "validation"}
    );
    return root;
  }

  Program& step() { return workload_.step; }
  const Program& step() const { return workload_.step; }

  void refuse_key(const char* key, const char* expected) const {
    if (const std::optional<JsonCursor> member = root_.find(key)) {
      member->fail(expected, fmt::format("\"{}\"", key));
    }
  }

  void read_loss() {
    const std::optional<JsonCursor> loss = root_.find("loss");
    if (!loss) {
      return;
    }
    const ValueId value = names_.resolve(*loss);
    const TensorDesc& tensor = step().value(value);
    if (!tensor.shape.empty() || tensor.dtype != DType::F32) {
      loss->fail(
          "a 0-d f32 value", fmt::format("{} {}", quoted_name(tensor.name), describe(tensor))
      );
    }
    step().loss = value;
  }

  void read_forward(const JsonCursor& forward) {
    refuse_key("updates", R"("updates" only beside "body")");
    read_ops(forward, dims_, names_, step());
    refuse_gradient_names();
    read_loss();
    workload_.forward = step();
    const std::optional<JsonCursor> optimizer = root_.find("optimizer");
    if (optimizer && !step().loss) {
      optimizer->fail(R"("optimizer" only beside "loss")", "a file without \"loss\"");
    }
    if (!step().loss) {
      return;
    }
    std::vector<ValueId> states;
    for (const ProgramState& state : step().state) {
      states.push_back(state.before);
    }
    gradients_ = differentiated(forward, states);
    if (optimizer) {
      read_optimizer(*optimizer);
    }
  }

  /// "grad:w1" in outputs must not be ambiguous.
  void refuse_gradient_names() const {
    for (const TensorDesc& tensor : step().values) {
      if (tensor.name.starts_with(kGradient)) {
        root_.fail(
            R"(names that do not start with "grad:", which are the gradients')",
            quoted_name(tensor.name)
        );
      }
    }
  }

  std::vector<ValueId> differentiated(
      const JsonCursor& forward, const std::vector<ValueId>& targets
  ) {
    try {
      return differentiate(step(), *step().loss, targets);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: {}", forward.where(), error.what()));
    }
  }

  void read_optimizer(const JsonCursor& optimizer) {
    optimizer.allow_only({"kind", "lr"});
    const JsonCursor kind = optimizer.at("kind");
    if (kind.as_string() != "sgd") {
      kind.fail(R"("sgd")");
    }
    const JsonCursor lr = optimizer.at("lr");
    const ValueId rate = names_.resolve(lr);
    const bool is_scalar =
        std::find(step().scalars.begin(), step().scalars.end(), rate) != step().scalars.end();
    if (!is_scalar || step().value(rate).dtype != DType::F32) {
      lr.fail(R"(the name of an f32 scalar from "scalars")");
    }
    for (const ProgramState& state : step().state) {
      const TensorDesc& tensor = step().value(state.before);
      if (!is_compute_dtype(tensor.dtype)) {
        optimizer.fail(
            "state of f32, bf16 or f16",
            fmt::format("{} {}", quoted_name(tensor.name), describe(tensor))
        );
      }
    }
    append_sgd(step(), gradients_, rate);
    workload_.optimizer = Optimizer{.kind = "sgd", .lr = lr.as_string()};
  }

  void read_body(const JsonCursor& body) {
    refuse_key("optimizer", R"("optimizer" only beside "forward")");
    read_ops(body, dims_, names_, step());
    read_loss();
    const std::optional<JsonCursor> updates = root_.find("updates");
    if (!updates) {
      return;
    }
    for (const auto& [name, member] : updates->members()) {
      read_update(name, member);
    }
  }

  void read_update(const std::string& name, const JsonCursor& member) {
    const std::optional<ValueId> before = names_.find(name);
    const std::optional<std::size_t> i = before ? state_index(*before) : std::nullopt;
    if (!i) {
      member.fail("the name of a state tensor as the key", quoted_name(name));
    }
    ProgramState* state = &step().state[*i];
    const TensorDesc& old_tensor = step().value(*before);
    state->after = names_.resolve(member);
    const TensorDesc& tensor = step().value(state->after);
    if (tensor.shape != old_tensor.shape || tensor.dtype != old_tensor.dtype) {
      member.fail(
          fmt::format("{} as {} is", describe(old_tensor), quoted_name(name)),
          fmt::format("{} {}", quoted_name(tensor.name), describe(tensor))
      );
    }
  }

  void read_outputs(bool is_forward) {
    const std::optional<JsonCursor> outputs = root_.find("outputs");
    const std::vector<JsonCursor> list = outputs ? outputs->items() : std::vector<JsonCursor>();
    std::set<std::string> known;
    for (const JsonCursor& output : list) {
      const std::string name = output.as_string();
      if (!known.insert(name).second) {
        output.fail("each output once", quoted_name(name) + " a second time");
      }
      const bool is_gradient = is_forward && name.starts_with(kGradient);
      step().outputs.push_back(is_gradient ? gradient(output, name) : names_.resolve(output));
      workload_.output_names.push_back(name);
    }
    const bool updates =
        std::any_of(step().state.begin(), step().state.end(), [](const ProgramState& state) {
          return state.after != state.before;
        });
    if (list.empty() && !updates) {
      root_.fail(R"("outputs", or state that changes)", "a program without a result");
    }
  }

  /// Which state tensor a value is. State is read in one go, so its values ascend.
  std::optional<std::size_t> state_index(ValueId value) const {
    const std::vector<ProgramState>& state = step().state;
    const auto found = std::ranges::lower_bound(state, value, {}, &ProgramState::before);
    const bool is_state = found != state.end() && found->before == value;
    return is_state ? std::optional(static_cast<std::size_t>(found - state.begin())) : std::nullopt;
  }

  ValueId gradient(const JsonCursor& output, const std::string& name) const {
    const std::optional<ValueId> value = names_.find(name.substr(kGradient.size()));
    const std::optional<std::size_t> i = value ? state_index(*value) : std::nullopt;
    if (i && !gradients_.empty()) {
      return gradients_[*i];
    }
    output.fail(
        R"("grad:" and the name of a state tensor, in a file with "loss")", quoted_name(name)
    );
  }

  void read_counts() {
    constexpr int kMaxBatches = 64;
    if (const std::optional<JsonCursor> batches = root_.find("batches")) {
      workload_.num_batches = static_cast<int>(batches->as_integer(1, kMaxBatches));
    }
    const std::optional<JsonCursor> validation = root_.find("validation");
    if (!validation) {
      return;
    }
    validation->allow_only({"steps", "replay_steps", "seeds"});
    Validation& counts = workload_.validation;
    if (const std::optional<JsonCursor> steps = validation->find("steps")) {
      constexpr int kMaxSteps = 100'000;
      counts.num_steps = static_cast<int>(steps->as_integer(1, kMaxSteps));
      counts.num_replay_steps = std::min(counts.num_replay_steps, counts.num_steps);
    }
    if (const std::optional<JsonCursor> steps = validation->find("replay_steps")) {
      counts.num_replay_steps = static_cast<int>(steps->as_integer(1, counts.num_steps));
    }
    if (const std::optional<JsonCursor> seeds = validation->find("seeds")) {
      read_seeds(*seeds);
    }
  }

  void read_seeds(const JsonCursor& list) {
    constexpr std::size_t kMaxSeeds = 64;
    std::vector<std::uint64_t>& seeds = workload_.validation.seeds;
    seeds.clear();
    for (const JsonCursor& entry : list.items()) {
      const auto seed = static_cast<std::uint64_t>(entry.as_integer(0));
      if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
        entry.fail("each seed once");
      }
      seeds.push_back(seed);
    }
    if (seeds.empty() || seeds.size() > kMaxSeeds) {
      list.fail(fmt::format("1 to {} seeds", kMaxSeeds));
    }
  }

  const JsonCursor& root_;
  DimTable dims_;
  NameTable names_;
  Workload workload_;
  std::vector<ValueId> gradients_;  ///< one a state tensor, once the forward part has a loss
};

}  // namespace

Workload load_workload(const std::filesystem::path& path, const DimOverrides& dims) {
  return WorkloadReader(JsonCursor::parse_file(path), dims).read();
}

Workload parse_workload(
    const std::string& text, const std::string& name, const DimOverrides& dims
) {
  return WorkloadReader(JsonCursor::parse_text(text, name), dims).read();
}

}  // namespace whet
