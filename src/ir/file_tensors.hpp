#pragma once

#include "base/json.hpp"
#include "ir/file_dims.hpp"
#include "ir/file_names.hpp"
#include "ir/workload.hpp"

namespace whet {

/// Reads "inputs", "scalars" and "state" into workload.step and the fills and values beside it.
void read_tensors(
    const JsonCursor& root, const DimTable& dims, NameTable& names, Workload& workload
);

}  // namespace whet
