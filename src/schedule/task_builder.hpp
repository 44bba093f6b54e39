#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "schedule/affine_view.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// What is known of a Program's values while tasks are built.
struct ValueTable {
  const Program* program = nullptr;
  std::vector<int> producer;  ///< op of each value, -1 for arguments
  std::vector<char> stored;   ///< found in a buffer (arguments always)
  std::vector<char> copied;   ///< a view that is computed as a copy
  std::vector<int> buffer;    ///< home of a stored value, -1 while it has none

  bool is_argument(ValueId v) const { return producer[static_cast<std::size_t>(v)] < 0; }
  const Op& op_of(ValueId v) const {
    return program->ops[static_cast<std::size_t>(producer[static_cast<std::size_t>(v)])];
  }
  /// A view that costs nothing: its reader looks at the base through a changed access.
  bool is_free_view(ValueId v) const {
    return !is_argument(v) && is_view(op_of(v).kind) && copied[static_cast<std::size_t>(v)] == 0;
  }
};

/// Steps from a value's own shape to a task's domain.
using Chain = std::vector<ViewStep>;

/// A value that must live in a buffer before the task can be built; `copy` if it is a view that the
/// strides do not allow.
struct NeedsStorage {
  ValueId value = -1;
  bool copy = false;
};

/// Builds the pointwise DAG of one task.
class TaskBuilder {
 public:
  TaskBuilder(ValueTable& table, Task& task) : table_(table), task_(task) {}

  /// Node of value `v` seen through `chain`, creating what it needs. Throws NeedsStorage.
  int build(ValueId v, Chain chain);
  /// Node of a value of this task itself, if it has been built.
  std::optional<int> local(ValueId v) const;
  /// Lets an op's result start from the raw sum of this task.
  void set_accumulator(ValueId v);
  int add(ExprNode node);

 private:
  int load(ValueId v, const Chain& chain);
  int apply(ValueId v, const Chain& chain);

  ValueTable& table_;
  Task& task_;
  ValueId accumulator_ = -1;
  std::map<std::string, int> memo_;
};

/// Pointwise, or the gradient of a select or slice: one result element from given operand elements.
bool is_elementwise(OpKind kind);
/// The access of a stored value through a chain. Throws NeedsStorage.
Access access_through(const ValueTable& table, ValueId v, const Chain& chain);
/// Follows free views: the base value, with their steps put before `chain`.
ValueId follow_views(const ValueTable& table, ValueId v, Chain& chain);

}  // namespace whet
