#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/text.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// "b.t3[5 + i0 * 64 + i1]": where an access lies, given the names of the domain's indices.
std::string element_index(const Access& access, const std::vector<std::string>& indices);

/// A Load node's element as f32, zero where its guard says so.
std::string load_expression(
    const ExprNode& node,
    const std::vector<Buffer>& buffers,
    const std::vector<std::string>& indices
);

/// Emits nodes [first, last) of a task as constants v<n>, each rounded to its dtype, but where it
/// is so already or stores do it. `loaded` names the values of loads that are done already, by
/// node; where it is empty, the load is done here.
void emit_nodes(
    TextWriter& text,
    const Task& task,
    const std::vector<Buffer>& buffers,
    int first,
    int last,
    const std::vector<std::string>& indices,
    const std::string& accumulator,
    const std::map<int, std::string>& loaded = {}
);

/// Emits the stores of a task, whose nodes have been emitted.
void emit_stores(
    TextWriter& text,
    const Task& task,
    const std::vector<Buffer>& buffers,
    const std::vector<std::string>& indices
);

/// Emits the index of each dimension of `domain` from a linear one, named prefix0, prefix1, …
std::vector<std::string> emit_indices(
    TextWriter& text,
    const std::vector<std::int64_t>& domain,
    const std::string& linear,
    const std::string& prefix,
    const std::string& type
);

/// "float", "bf16", "f16", …: an element type in emitted text.
std::string element_type(DType dtype);

}  // namespace whet
