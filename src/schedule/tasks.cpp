#include "schedule/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "schedule/fusion.hpp"
#include "schedule/task_builder.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Positions of a program's tensors in the argument table: inputs, scalars, state, outputs.
struct ArgumentOrder {
  explicit ArgumentOrder(const Program& program)
      : scalars(static_cast<int>(program.inputs.size())),
        state(scalars + static_cast<int>(program.scalars.size())),
        outputs(state + static_cast<int>(program.state.size())) {}
  int scalars;
  int state;
  int outputs;
};

/// From one step's tensor to the next: inputs stay 16-byte aligned in their ring.
std::int64_t ring_stride(std::int64_t extent, DType dtype) {
  const std::int64_t granule = 16 / dtype_bytes(dtype);
  return (extent + granule - 1) / granule * granule;
}

class GraphBuilder {
 public:
  GraphBuilder(const ShadowedProgram& shadowed, FusionPlan plan, ValueTable table)
      : shadowed_(shadowed),
        program_(shadowed.program),
        plan_(std::move(plan)),
        table_(std::move(table)) {
    graph_.next_synthetic = static_cast<ValueId>(program_.values.size());
  }

  TaskGraph run() {
    add_argument_buffers();
    add_homes();
    for (Index t = 0; t < plan_.members.size(); ++t) {
      add_task(t);
    }
    add_copies();
    return std::move(graph_);
  }

 private:
  int add_buffer(DType dtype, std::int64_t elements, Storage storage) {
    const int id = static_cast<int>(graph_.buffers.size());
    graph_.buffers.push_back(
        {.symbol = fmt::format("t{}", id),
         .dtype = dtype,
         .num_elements = elements,
         .storage = storage}
    );
    return id;
  }

  int add_argument(ValueId v, int argument, bool steps) {
    const TensorDesc& tensor = program_.value(v);
    const std::int64_t extent = storage_extent(tensor);
    const int id = add_buffer(tensor.dtype, extent, Storage::Argument);
    graph_.buffers.back().argument = argument;
    graph_.buffers.back().step_stride_elements = steps ? ring_stride(extent, tensor.dtype) : 0;
    return id;
  }

  int add_shadow(ValueId v, Index hidden) {
    const TensorDesc& tensor = program_.value(v);
    const int id = add_buffer(tensor.dtype, storage_extent(tensor), Storage::Persistent);
    const auto state = Index(shadowed_.shadowed[hidden]);
    graph_.shadows.push_back({.state_buffer = state_buffer_[state], .buffer = id});
    return id;
  }

  void set_home(ValueId v, int buffer) {
    table_.buffer[Index(v)] = buffer;
    graph_.home[v] = buffer;
  }

  void add_argument_buffers() {
    int argument = 0;
    for (const ProgramInput& input : program_.inputs) {
      const int id = add_argument(input.value, argument++, true);
      graph_.buffers[Index(id)].alignment_bytes = input.alignment_bytes;
      set_home(input.value, id);
    }
    for (const ValueId scalar : program_.scalars) {
      const int id = add_argument(scalar, argument++, true);
      graph_.buffers[Index(id)].step_stride_elements = 1;
      set_home(scalar, id);
    }
    for (Index s = 0; s < program_.state.size(); ++s) {
      const ValueId before = program_.state[s].before;
      const int id = shadowed_.is_hidden(s) ? add_shadow(before, s - shadowed_.num_visible)
                                            : add_argument(before, argument++, false);
      state_buffer_.push_back(id);
      set_home(before, id);
    }
    for (const ValueId output : program_.outputs) {
      output_buffer_.push_back(add_argument(output, argument++, true));
      TensorDesc dense = program_.value(output);
      Buffer& buffer = graph_.buffers[Index(output_buffer_.back())];
      buffer.num_elements = num_elements(dense.shape);
      buffer.step_stride_elements = std::max<std::int64_t>(buffer.num_elements, 1);
    }
  }

  bool is_read_elsewhere(ValueId v) const {
    const int task = plan_.task_of[Index(v)];
    for (const Op& op : program_.ops) {
      const int reader = plan_.task_of[Index(op.output)];
      const bool reads = std::find(op.inputs.begin(), op.inputs.end(), v) != op.inputs.end();
      if (reads && reader != task) {
        return true;
      }
    }
    return false;
  }

  /// Where each stored value lives, and where else it has to be written.
  void add_homes() {
    for (Index v = 0; v < program_.values.size(); ++v) {
      if (plan_.task_of[v] < 0 || table_.stored[v] == 0) {
        continue;
      }
      const auto id = static_cast<ValueId>(v);
      std::vector<int> places = destinations(id);
      const bool only_state = !places.empty() && is_state(places.front());
      if (places.empty() || (only_state && is_read_elsewhere(id))) {
        const TensorDesc& tensor = program_.value(id);
        places.insert(
            places.begin(), add_buffer(tensor.dtype, num_elements(tensor.shape), Storage::Workspace)
        );
      }
      set_home(id, places.front());
      places_[id] = std::move(places);
    }
  }

  bool is_state(int buffer) const {
    return std::find(state_buffer_.begin(), state_buffer_.end(), buffer) != state_buffer_.end();
  }

  /// Output buffers first: they may be read back, a state tensor may not.
  std::vector<int> destinations(ValueId v) const {
    std::vector<int> places;
    for (Index i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i] == v) {
        places.push_back(output_buffer_[i]);
      }
    }
    for (Index i = 0; i < program_.state.size(); ++i) {
      if (program_.state[i].after == v && program_.state[i].before != v) {
        places.push_back(state_buffer_[i]);
      }
    }
    return places;
  }

  Access dense_access(int buffer, const std::vector<std::int64_t>& shape, ValueId v) const {
    // A state tensor keeps the strides that the caller gave it.
    std::vector<std::int64_t> strides = contiguous_strides(shape);
    for (Index i = 0; i < state_buffer_.size(); ++i) {
      if (state_buffer_[i] == buffer && shape == program_.value(v).shape) {
        strides = program_.value(program_.state[i].before).strides;
      }
    }
    return {.buffer = buffer, .offset = 0, .strides = std::move(strides)};
  }

  void add_stores(Task& task, int node, ValueId v, const std::vector<std::int64_t>& shape) {
    for (const int buffer : places_.at(v)) {
      task.stores.push_back({.node = node, .access = dense_access(buffer, shape, v), .value = v});
    }
  }

  GemmOperand operand(ValueId v, bool rows_first) {
    Chain chain;
    ValueId base = follow_views(table_, v, chain);
    // A cast that nobody stored happens at the load.
    while (!table_.is_argument(base) && table_.stored[Index(base)] == 0 &&
           table_.op_of(base).kind == OpKind::Cast) {
      base = follow_views(table_, table_.op_of(base).inputs[0], chain);
    }
    if (!table_.is_argument(base) && table_.stored[Index(base)] == 0) {
      throw NeedsStorage{.value = base};
    }
    GemmOperand result{
        .access = access_through(table_, base, chain),
        .value = base,
        .stored = program_.value(base).dtype};
    if (!rows_first) {
      std::swap(result.access.strides.at(0), result.access.strides.at(1));
    }
    return result;
  }

  void start_gemm(Task& task, const Op& op) {
    const bool addmm = op.kind == OpKind::Addmm;
    const ValueId a = op.inputs.at(addmm ? 1 : 0);
    const ValueId b = op.inputs.at(addmm ? 2 : 1);
    task.kind = Task::Kind::Gemm;
    task.name = fmt::format("mm{}", ++num_gemms_);
    task.domain = program_.value(op.output).shape;
    task.gemm = GemmTask{
        .k = program_.value(a).shape[1],
        .dtype = program_.value(a).dtype,
        .a = operand(a, true),
        .b = operand(b, false),
        .tiling = {}};
  }

  void start_reduce(Task& task, TaskBuilder& builder, const Op& op) {
    const TensorDesc& source = program_.value(op.inputs.at(0));
    const TensorDesc& result = program_.value(op.output);
    std::vector<char> reduced(source.shape.size(), op.attributes.dims.empty() ? 1 : 0);
    for (const std::int64_t dim : op.attributes.dims) {
      reduced[Index(dim < 0 ? dim + static_cast<std::int64_t>(source.shape.size()) : dim)] = 1;
    }
    // Kept dims first, reduced dims last; dims of one that keepdim leaves behind are put back.
    ViewStep permute{.kind = OpKind::Permute, .attributes = {}, .from = source.shape};
    std::vector<std::int64_t> tail;
    for (Index d = 0; d < source.shape.size(); ++d) {
      if (reduced[d] == 0) {
        permute.attributes.dims.push_back(static_cast<std::int64_t>(d));
        permute.to.push_back(source.shape[d]);
      }
    }
    for (Index d = 0; d < source.shape.size(); ++d) {
      if (reduced[d] != 0) {
        permute.attributes.dims.push_back(static_cast<std::int64_t>(d));
        permute.to.push_back(source.shape[d]);
        tail.push_back(source.shape[d]);
      }
    }
    task.domain = result.shape;
    task.domain.insert(task.domain.end(), tail.begin(), tail.end());
    ViewStep restore{
        .kind = OpKind::Reshape, .attributes = {}, .from = permute.to, .to = task.domain};
    const Chain chain{permute, restore};
    task.kind = Task::Kind::Reduce;
    task.name = fmt::format("{}{}", op_name(op.kind), ++num_reductions_);
    task.reduce = ReduceTask{.num_reduced_dims = static_cast<int>(tail.size())};
    if (op.kind == OpKind::MseLoss) {
      ExprNode square{.kind = ExprNode::Kind::Apply, .op = OpKind::MseLoss, .dtype = DType::F32};
      for (const ValueId input : op.inputs) {
        square.operands.push_back(builder.build(input, chain));
      }
      task.reduce->operand = builder.add(std::move(square));
    } else {
      task.reduce->operand = builder.build(op.inputs[0], chain);
    }
  }

  void add_task(Index t) {
    Task task;
    TaskBuilder builder(table_, task);
    const ValueId anchor = plan_.anchor[t];
    const ValueId first = plan_.members[t].front();
    if (anchor >= 0) {
      const Op& op = table_.op_of(anchor);
      if (is_reduction(op.kind)) {
        start_reduce(task, builder, op);
      } else {
        start_gemm(task, op);
      }
      builder.set_accumulator(anchor);
    } else {
      task.kind = Task::Kind::Map;
      task.name = fmt::format("map{}", ++num_maps_);
      task.domain = program_.value(first).shape;
    }
    for (const ValueId v : plan_.members[t]) {
      if (table_.copied[Index(v)] != 0) {
        add_copy_of_view(task, builder, v);
        continue;
      }
      // The value is computed here, so its own buffer must not be read for it.
      const char stored = std::exchange(table_.stored[Index(v)], char{0});
      const int node = builder.build(v, {});
      table_.stored[Index(v)] = stored;
      if (stored != 0) {
        add_stores(task, node, v, program_.value(v).shape);
      }
    }
    graph_.tasks.push_back(std::move(task));
  }

  /// A reshape that the strides do not allow, or a view that is a result: its input's index space,
  /// stored densely in the view's order.
  void add_copy_of_view(Task& task, TaskBuilder& builder, ValueId v) {
    const Op& op = table_.op_of(v);
    if (op.kind == OpKind::Reshape) {
      task.domain = program_.value(op.inputs[0]).shape;
      const int node = builder.build(op.inputs[0], {});
      for (const int buffer : places_.at(v)) {
        task.stores.push_back(
            {.node = node,
             .access = {.buffer = buffer, .offset = 0, .strides = contiguous_strides(task.domain)},
             .value = v}
        );
      }
      return;
    }
    Chain chain{
        {.kind = op.kind,
         .attributes = op.attributes,
         .from = program_.value(op.inputs[0]).shape,
         .to = program_.value(v).shape,
         .view = v}};
    const int node = builder.build(op.inputs[0], chain);
    add_stores(task, node, v, program_.value(v).shape);
  }

  /// Results that no op computes: an argument passed through, or a state that takes another's
  /// value.
  void add_copies() {
    for (const ValueId v : result_values(program_)) {
      if (!table_.is_argument(v)) {
        continue;
      }
      Task task{.kind = Task::Kind::Map, .name = fmt::format("map{}", ++num_maps_)};
      task.domain = program_.value(v).shape;
      TaskBuilder builder(table_, task);
      const int node = builder.build(v, {});
      places_[v] = destinations(v);
      add_stores(task, node, v, task.domain);
      graph_.tasks.push_back(std::move(task));
    }
  }

  const ShadowedProgram& shadowed_;
  const Program& program_;
  FusionPlan plan_;
  ValueTable table_;
  TaskGraph graph_;
  std::vector<int> state_buffer_;
  std::vector<int> output_buffer_;
  std::map<ValueId, std::vector<int>> places_;
  int num_gemms_ = 0;
  int num_maps_ = 0;
  int num_reductions_ = 0;
};

}  // namespace

TaskGraph build_tasks(const ShadowedProgram& shadowed, const FusionOptions& options) {
  const Program& program = shadowed.program;
  std::set<ValueId> must_store;
  std::set<ValueId> must_copy;
  // Each round stores or copies at least one value more, so this ends.
  for (std::size_t round = 0; round <= 2 * program.values.size(); ++round) {
    try {
      ValueTable table;
      FusionPlan plan = plan_fusion(program, options, must_store, must_copy, table);
      return GraphBuilder(shadowed, std::move(plan), std::move(table)).run();
    } catch (const NeedsStorage& need) {
      WHET_CHECK(need.value >= 0, "a broadcast cannot need storage");
      (need.copy ? must_copy : must_store).insert(need.value);
    }
  }
  throw InternalError("fusion does not settle");
}

}  // namespace whet
