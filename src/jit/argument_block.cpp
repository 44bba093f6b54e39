#include "jit/argument_block.hpp"

#include <cstring>

#include "base/error.hpp"

namespace whet {
namespace {

/// What follows the table of tensors.
struct Tail {
  void* workspace;
  std::uint32_t ring_length;
  std::uint32_t first_batch;
  std::uint32_t spin_limit;
  std::uint32_t refresh;
};
static_assert(sizeof(Tail) == sizeof(void*) + 4 * sizeof(std::uint32_t), "no padding");

}  // namespace

std::vector<std::byte> argument_block(const StepArguments& arguments, const LaunchPlan& plan) {
  WHET_CHECK(
      arguments.tensors.size() == plan.arguments.size(),
      "{} tensors for a kernel of {} arguments",
      arguments.tensors.size(),
      plan.arguments.size()
  );
  const Tail tail{
      .workspace = arguments.workspace,
      .ring_length = arguments.ring_length,
      .first_batch = arguments.first_batch,
      .spin_limit = arguments.spin_limit,
      .refresh = arguments.refresh ? 1u : 0u,
  };
  const std::size_t table_bytes = arguments.tensors.size() * sizeof(void*);
  std::vector<std::byte> block(table_bytes + sizeof(tail));
  if (table_bytes != 0) {
    std::memcpy(block.data(), arguments.tensors.data(), table_bytes);
  }
  std::memcpy(block.data() + table_bytes, &tail, sizeof(tail));
  return block;
}

}  // namespace whet
