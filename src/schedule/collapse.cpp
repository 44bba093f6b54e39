#include <algorithm>
#include <vector>

#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Every access whose strides run over the first dims of the domain, whole or outer only.
std::vector<Access*> accesses_of(Task& task) {
  std::vector<Access*> accesses;
  for (ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load) {
      accesses.push_back(&node.access);
    }
  }
  for (Store& store : task.stores) {
    accesses.push_back(&store.access);
  }
  return accesses;
}

bool may_merge(const Access& access, Index d, const std::vector<std::int64_t>& domain) {
  if (access.strides.size() <= d + 1) {
    return access.strides.size() <= d;  // lacks both: an access of the outer domain
  }
  if (access.guard) {
    return false;
  }
  return access.strides[d] == access.strides[d + 1] * domain[d + 1];
}

}  // namespace

void collapse_dimensions(Task& task) {
  if (task.kind == Task::Kind::Gemm || num_elements(task.domain) == 0) {
    return;
  }
  std::vector<Access*> accesses = accesses_of(task);
  const bool guarded =
      std::any_of(accesses.begin(), accesses.end(), [](Access* a) { return a->guard.has_value(); });
  if (guarded) {
    return;
  }
  Index num_reduced = task.reduce ? Index(task.reduce->num_reduced_dims) : 0;
  const auto erase_dim = [&](Index d, Index kept) {
    for (Access* access : accesses) {
      if (access->strides.size() > d) {
        if (kept != d && access->strides.size() > kept) {
          access->strides[kept] = access->strides[d];
        }
        access->strides.erase(access->strides.begin() + static_cast<long>(d));
      }
    }
    task.domain.erase(task.domain.begin() + static_cast<long>(d));
  };
  // Dimensions of one carry no index.
  for (Index d = task.domain.size(); d-- > 0;) {
    const Index outer = task.domain.size() - num_reduced;
    if (task.domain[d] == 1) {
      if (d >= outer) {
        if (num_reduced == 1) {
          continue;
        }
        --num_reduced;
      }
      erase_dim(d, d);
    }
  }
  for (Index d = task.domain.size(); d-- > 1;) {
    const Index outer = task.domain.size() - num_reduced;
    if (d == outer) {
      continue;  // the border between outer and reduced dimensions
    }
    const bool merge = std::all_of(accesses.begin(), accesses.end(), [&](Access* access) {
      return may_merge(*access, d - 1, task.domain);
    });
    if (merge) {
      if (d > outer) {
        --num_reduced;
      }
      task.domain[d - 1] *= task.domain[d];
      erase_dim(d, d - 1);
    }
  }
  if (task.reduce) {
    task.reduce->num_reduced_dims = static_cast<int>(num_reduced);
  }
}

}  // namespace whet
