#pragma once

#include <cstdint>
#include <string>

#include "schedule/schedule.hpp"

namespace whet {

/// Whether every access to `count` elements that are neighbours along dimension `along`, the first
/// of them at a multiple of `count`, is one aligned access.
bool is_run(const Schedule& schedule, const Access& access, std::size_t along, std::int64_t count);

/// The operands of a product.
enum class Side { A, B };
const GemmOperand& operand_of(const GemmTask& gemm, Side side);
/// M of A, N of B.
std::int64_t operand_rows(const Task& task, Side side);

/// How a CUDA product fetches the elements of an operand: one by one, unless it says otherwise.
struct OperandPath {
  int along_k = 1;  ///< direct: neighbours along k that one access brings: 1, 4 or 8
  int rows = 1;     ///< direct: neighbours along its rows that a thread fetches: 1, 2, 4 or 8
  bool is_turned = false;  ///< direct: a matrix of 16 bits in shared memory, turned as it is loaded
  bool is_async = false;   ///< staged: by asynchronous copies of 16 bytes
  std::string obstacle;    ///< to the widest way that its engine has; empty on it

  bool operator==(const OperandPath&) const = default;
};
OperandPath operand_path(const Schedule& schedule, const Task& task, Side side);

/// How the epilogue of a CUDA product moves elements.
struct EpiloguePath {
  int width = 1;         ///< elements along n at once: 1, 2 or 4
  std::string obstacle;  ///< to four of them
};
EpiloguePath epilogue_path(const Schedule& schedule, const Task& task);

}  // namespace whet
