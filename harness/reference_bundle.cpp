#include "harness/reference_bundle.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "harness/safetensors.hpp"

namespace whet {
namespace {

constexpr const char* kSchema = "whet.bundle/1";
/// What one bundle of this schema has.
constexpr std::size_t kNumOrders = 2;

/// Calls `visit(name, trajectory)` for each trajectory; a bundle of either constness.
template <typename Bundle, typename Visit>
void for_each_trajectory(Bundle& bundle, Visit&& visit) {
  visit("reference", bundle.reference);
  visit("native", bundle.native);
  for (std::size_t i = 0; i < bundle.orders.size(); ++i) {
    visit(fmt::format("order{}", i), bundle.orders[i]);
  }
}

/// Calls `visit(name, tensor)` for each tensor but the losses: the one list of names.
template <typename Bundle, typename Visit>
void for_each_tensor(Bundle& bundle, Visit&& visit) {
  const auto each = [&](const std::string& prefix, auto& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      visit(fmt::format("{}.{}", prefix, i), tensors[i]);
    }
  };
  for (std::size_t batch = 0; batch < bundle.inputs.size(); ++batch) {
    each(fmt::format("input.{}", batch), bundle.inputs[batch]);
  }
  each("scalar", bundle.scalars);
  each("initial", bundle.initial_state);
  for_each_trajectory(bundle, [&](const std::string& name, auto& trajectory) {
    for (auto& snapshot : trajectory.snapshots) {
      each(fmt::format("{}.{}.state", name, snapshot.step), snapshot.state);
      each(fmt::format("{}.{}.output", name, snapshot.step), snapshot.outputs);
      each(fmt::format("{}.{}.previous", name, snapshot.step), snapshot.previous_state);
    }
  });
}

HostTensor vector_tensor(const std::vector<double>& values) {
  return from_doubles(DType::F64, {static_cast<std::int64_t>(values.size())}, values);
}

/// An empty bundle with the dtypes, shapes and counts that this workload's has.
ReferenceBundle outline(const Workload& workload) {
  const Program& step = workload.step;
  const auto like = [&](ValueId id) {
    return HostTensor{.dtype = step.value(id).dtype, .shape = step.value(id).shape, .bytes = {}};
  };
  ReferenceBundle bundle;
  std::vector<HostTensor> batch;
  for (const ProgramInput& input : step.inputs) {
    batch.push_back(like(input.value));
  }
  bundle.inputs.assign(static_cast<std::size_t>(workload.num_batches), batch);
  for (const ValueId id : step.scalars) {
    bundle.scalars.push_back(like(id));
  }
  Snapshot snapshot;
  for (const ProgramState& state : step.state) {
    bundle.initial_state.push_back(like(state.before));
    snapshot.state.push_back(like(state.before));
  }
  for (const ValueId id : step.outputs) {
    snapshot.outputs.push_back(like(id));
  }
  bundle.orders.resize(kNumOrders);
  for_each_trajectory(bundle, [&](const std::string& name, Trajectory& trajectory) {
    for (const int done : snapshot_steps(workload)) {
      snapshot.step = done;
      snapshot.previous_state =
          name == "reference" && done > 1 ? snapshot.state : std::vector<HostTensor>{};
      trajectory.snapshots.push_back(snapshot);
    }
  });
  return bundle;
}

/// A file's content, handed out piece by piece; what is missing or unused is an error.
class BundleReader {
 public:
  BundleReader(Safetensors content, std::string file)
      : content_(std::move(content)), file_(std::move(file)) {}

  const std::string& metadata(const std::string& key) const {
    const auto found = content_.metadata.find(key);
    if (found == content_.metadata.end()) {
      refuse("metadata \"" + key + "\"", "none");
    }
    return found->second;
  }
  void require(const std::string& key, const std::string& expected) const {
    if (metadata(key) != expected) {
      refuse(fmt::format("{} {}", key, expected), metadata(key));
    }
  }
  std::uint64_t number(const std::string& key) const {
    const std::string& text = metadata(key);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      refuse("a number as " + key, text);
    }
    return value;
  }
  /// Moves the tensor `name` into `tensor`, which has the dtype and shape that it must have.
  void take(const std::string& name, HostTensor& tensor) {
    const auto found = content_.tensors.find(name);
    if (found == content_.tensors.end()) {
      refuse("tensor " + name, "none");
    }
    if (found->second.dtype != tensor.dtype || found->second.shape != tensor.shape) {
      refuse(
          fmt::format(
              "{} as {} [{}]", name, dtype_name(tensor.dtype), fmt::join(tensor.shape, ", ")
          ),
          fmt::format(
              "{} [{}]", dtype_name(found->second.dtype), fmt::join(found->second.shape, ", ")
          )
      );
    }
    tensor = std::move(found->second);
    content_.tensors.erase(found);
  }
  std::vector<double> take_doubles(const std::string& name, std::size_t size) {
    HostTensor tensor{.dtype = DType::F64, .shape = {static_cast<std::int64_t>(size)}, .bytes = {}};
    take(name, tensor);
    return to_doubles(tensor);
  }
  void finish() const {
    if (!content_.tensors.empty()) {
      refuse("no more tensors", content_.tensors.begin()->first);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const {
    throw EnvironmentError(fmt::format(
        "{}: expected a reference bundle of this workload with {}, found {}; delete it to have it "
        "made anew",
        file_,
        expected,
        found
    ));
  }

  Safetensors content_;
  std::string file_;
};

}  // namespace

std::vector<int> snapshot_steps(const Workload& workload) {
  const int last = workload.validation.num_steps;
  std::set<int> steps{1, std::min(workload.validation.num_replay_steps, last), last};
  return {steps.begin(), steps.end()};
}

std::string data_key(const Workload& workload) {
  std::string text = fmt::format(
      "batches {} steps {} replay {}",
      workload.num_batches,
      workload.validation.num_steps,
      workload.validation.num_replay_steps
  );
  for (const auto* fills : {&workload.input_fills, &workload.state_fills}) {
    text += " |";
    for (const Fill& fill : *fills) {
      text += fmt::format(
          " {} {:a} {} {}", static_cast<int>(fill.kind), fill.scale, fill.low, fill.high
      );
    }
  }
  text += " |";
  for (const double value : workload.scalar_values) {
    text += fmt::format(" {:a}", value);
  }
  return sha256_hex(text);
}

std::int64_t bundle_bytes(const Workload& workload) {
  ReferenceBundle bundle = outline(workload);
  std::int64_t total = 0;
  for_each_tensor(bundle, [&](const std::string& name, const HostTensor& tensor) {
    if (__builtin_add_overflow(total, dense_bytes(tensor.dtype, tensor.shape), &total)) {
      throw UserError(fmt::format("the reference bundle does not fit memory, at {}", name));
    }
  });
  return total;
}

void check_bundle_fits(std::int64_t bytes, const std::filesystem::path& path) {
  constexpr double kMib = 1024.0 * 1024.0;
  const auto refuse = [&](std::int64_t limit, const char* what) {
    throw EnvironmentError(fmt::format(
        "{}: the reference bundle needs {:.1f} MiB, {} {:.1f} MiB; use fewer outputs, batches or "
        "smaller dims",
        path.string(),
        static_cast<double>(bytes) / kMib,
        what,
        static_cast<double>(limit) / kMib
    ));
  };
  if (bytes > kMaxBundleBytes) {
    refuse(kMaxBundleBytes, "the most is");
  }
  std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  while (!std::filesystem::exists(folder) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  std::error_code error;
  const std::filesystem::space_info room = std::filesystem::space(folder, error);
  if (!error && static_cast<std::uintmax_t>(bytes) > room.available) {
    refuse(static_cast<std::int64_t>(room.available), "the file system has");
  }
}

void write_bundle(const ReferenceBundle& bundle, const std::filesystem::path& path) {
  WHET_CHECK(bundle.orders.size() == kNumOrders, "{} orders", bundle.orders.size());
  std::vector<NamedTensor> tensors;
  std::int64_t bytes = 0;
  for_each_tensor(bundle, [&](const std::string& name, const HostTensor& tensor) {
    tensors.push_back({.name = name, .tensor = &tensor});
    bytes += static_cast<std::int64_t>(tensor.bytes.size());
  });
  check_bundle_fits(bytes, path);

  std::map<std::string, HostTensor> vectors;
  for_each_trajectory(bundle, [&](const std::string& name, const Trajectory& trajectory) {
    vectors.emplace(name + ".losses", vector_tensor(trajectory.losses));
  });
  vectors.emplace("unrounded_change", vector_tensor(bundle.unrounded_change));
  for (const auto& [name, tensor] : vectors) {
    tensors.push_back({.name = name, .tensor = &tensor});
  }
  const std::map<std::string, std::string> metadata{
      {"schema", kSchema},
      {"workload_key", bundle.workload_key},
      {"data_key", bundle.data_key},
      {"seed", std::to_string(bundle.seed)},
      {"libtorch_version", bundle.libtorch_version},
      {"flags", bundle.flags},
  };
  write_file_atomically(path, encode_safetensors(metadata, tensors));
}

ReferenceBundle read_bundle(const std::filesystem::path& path, const Workload& workload) {
  const std::string file = path.string();
  BundleReader reader(decode_safetensors(read_file(path), file), file);
  reader.require("schema", kSchema);
  reader.require("workload_key", workload_key(workload.step));
  reader.require("data_key", data_key(workload));

  ReferenceBundle bundle = outline(workload);
  bundle.workload_key = reader.metadata("workload_key");
  bundle.data_key = reader.metadata("data_key");
  bundle.seed = reader.number("seed");
  bundle.libtorch_version = reader.metadata("libtorch_version");
  bundle.flags = reader.metadata("flags");
  for_each_tensor(bundle, [&](const std::string& name, HostTensor& tensor) {
    reader.take(name, tensor);
  });
  const std::size_t num_losses =
      workload.step.loss ? static_cast<std::size_t>(workload.validation.num_steps) : 0;
  for_each_trajectory(bundle, [&](const std::string& name, Trajectory& trajectory) {
    trajectory.losses = reader.take_doubles(name + ".losses", num_losses);
  });
  bundle.unrounded_change = reader.take_doubles("unrounded_change", workload.step.state.size());
  reader.finish();
  return bundle;
}

}  // namespace whet
