#include "schedule/affine_view.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t wrap(std::int64_t dim, std::size_t rank) {
  return dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
}

Affine expanded(const Affine& base, const Dims& from, const Dims& to) {
  Affine result{.offset = base.offset, .strides = Dims(to.size(), 0)};
  const std::size_t added = to.size() - from.size();
  for (std::size_t d = 0; d < from.size(); ++d) {
    result.strides[d + added] = from[d] == to[d + added] ? base.strides[d] : 0;
  }
  return result;
}

std::optional<Affine> reshaped(const Affine& base, const Dims& from, const Dims& to) {
  Affine result{.offset = base.offset, .strides = Dims(to.size(), 0)};
  if (num_elements(to) == 0) {
    return result;
  }
  Dims sizes;  // dimensions of one take no stride of their own
  Dims strides;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) {
      sizes.push_back(from[d]);
      strides.push_back(base.strides[d]);
    }
  }
  std::size_t next = to.size();
  std::size_t d = sizes.size();
  while (d > 0) {
    // One chunk: dimensions [begin, d) that step like one.
    std::size_t begin = d - 1;
    std::int64_t chunk = sizes[begin];
    while (begin > 0 && strides[begin - 1] == chunk * strides[d - 1]) {
      chunk *= sizes[--begin];
    }
    std::int64_t filled = 1;
    while (next > 0 && filled < chunk) {
      --next;
      if (to[next] != 1) {
        result.strides[next] = strides[d - 1] * filled;
        filled *= to[next];
      }
    }
    if (filled != chunk) {
      return std::nullopt;
    }
    d = begin;
  }
  return result;
}

}  // namespace

std::optional<Affine> through(const Affine& base, const ViewStep& step) {
  Affine result = base;
  const OpAttributes& attributes = step.attributes;
  switch (step.kind) {
    case OpKind::Transpose: {
      const auto d0 = static_cast<std::size_t>(wrap(attributes.dims.at(0), step.from.size()));
      const auto d1 = static_cast<std::size_t>(wrap(attributes.dims.at(1), step.from.size()));
      if (!step.from.empty()) {
        std::swap(result.strides.at(d0), result.strides.at(d1));
      }
      return result;
    }
    case OpKind::Permute:
      for (std::size_t d = 0; d < attributes.dims.size(); ++d) {
        const auto source = static_cast<std::size_t>(wrap(attributes.dims[d], step.from.size()));
        result.strides[d] = base.strides.at(source);
      }
      return result;
    case OpKind::Expand:
      return expanded(base, step.from, step.to);
    case OpKind::Reshape:
      return reshaped(base, step.from, step.to);
    case OpKind::Select: {
      const auto d = static_cast<std::size_t>(wrap(attributes.dims.at(0), step.from.size()));
      const std::int64_t index =
          attributes.index < 0 ? attributes.index + step.from[d] : attributes.index;
      result.offset += index * base.strides.at(d);
      result.strides.erase(result.strides.begin() + static_cast<std::ptrdiff_t>(d));
      return result;
    }
    case OpKind::Slice: {
      const auto d = static_cast<std::size_t>(wrap(attributes.dims.at(0), step.from.size()));
      std::int64_t start =
          attributes.start < 0 ? attributes.start + step.from[d] : attributes.start;
      start = std::clamp<std::int64_t>(start, 0, step.from[d]);
      result.offset += start * base.strides.at(d);
      result.strides[d] *= attributes.step;
      return result;
    }
    default:
      throw InternalError(fmt::format("{} is no view", op_name(step.kind)));
  }
}

ViewStep broadcast_step(std::vector<std::int64_t> from, std::vector<std::int64_t> to) {
  return {
      .kind = OpKind::Expand,
      .attributes = {},
      .from = std::move(from),
      .to = std::move(to),
      .view = -1};
}

}  // namespace whet
