#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ir/program.hpp"

namespace whet {

/// What an op gives: its result, without a name, and its attributes in canonical form.
struct Inferred {
  TensorDesc result;
  OpAttributes attributes;
};

/// The rules of every op in one function. Throws UserError "OP: expected X, found Y".
Inferred infer(
    const Program& program,
    OpKind kind,
    const std::vector<ValueId>& inputs,
    const OpAttributes& attributes
);

/// The part of `infer` for ops that compute: results are contiguous.
Inferred infer_dense(
    OpKind kind, const std::vector<const TensorDesc*>& inputs, const OpAttributes& attributes
);

/// The part of `infer` for is_view(kind), SelectBackward and SliceBackward; `a` is the only input.
Inferred infer_view(OpKind kind, const TensorDesc& a, const OpAttributes& attributes);

/// Throws UserError "OP: expected EXPECTED, found FOUND".
[[noreturn]] void refuse_op(OpKind kind, const std::string& expected, const std::string& found);

/// What of a Program's limits a shape breaks ("at most 8 dimensions"), if any.
std::optional<std::string> exceeded_limit(const std::vector<std::int64_t>& shape);

/// A contiguous result; refuses sizes beyond the limits of a Program.
TensorDesc dense_result(OpKind kind, std::vector<std::int64_t> shape, DType dtype);

/// `dim` of a tensor of `rank` dimensions as a non-negative number; a 0-d tensor counts as 1-d, as
/// in ATen.
std::int64_t wrap_dim(OpKind kind, std::int64_t dim, std::size_t rank);

}  // namespace whet
