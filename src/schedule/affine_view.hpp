#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.hpp"

namespace whet {

/// Element offset + sum of index[d] * strides[d].
struct Affine {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;

  bool operator==(const Affine&) const = default;
};

/// A change of index space: a view op, or a broadcast between an operand and its op's result.
struct ViewStep {
  OpKind kind = OpKind::Expand;
  OpAttributes attributes;
  std::vector<std::int64_t> from;  ///< shape before
  std::vector<std::int64_t> to;    ///< shape after
  ValueId view = -1;               ///< the view's result; -1 for a broadcast

  bool operator==(const ViewStep&) const = default;
};

/// The access of `base` seen through `step`; nothing if a reshape does not fit the strides.
/// Source: the rules of ATen's view ops; for reshape, chunks of dimensions that are contiguous
/// among themselves can be split and merged freely.
std::optional<Affine> through(const Affine& base, const ViewStep& step);

/// The step that broadcasts `from` to `to`, right-aligned.
ViewStep broadcast_step(std::vector<std::int64_t> from, std::vector<std::int64_t> to);

}  // namespace whet
