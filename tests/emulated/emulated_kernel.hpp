#pragma once

#include <functional>
#include <optional>

#include "jit/emulation_machine.hpp"

/// The helpers in the order of emitted text, in a namespace of their own.
namespace device {
// clang-format off
#include "codegen/device/types.hpp"
#include "codegen/device/emulation/emulated.hpp"
#include "codegen/device/edge.cuh"
// clang-format on
}  // namespace device

namespace whet {

/// Runs `kernel` in every thread of a grid; `launch` gives the sizes.
inline std::optional<EmulationFault> run_kernel(
    const std::function<void()>& kernel,
    EmulatedLaunch launch = {},
    const EmulationOptions& options = {},
    const EmulatedMemory* memory = nullptr
) {
  launch.entry = [](const EmulationHooks* hooks, const void* arguments) {
    device::begin_emulation(hooks);
    (*static_cast<const std::function<void()>*>(arguments))();
  };
  launch.arguments = &kernel;
  launch.argument_bytes = sizeof kernel;
  return EmulationMachine(options).run(launch, memory);
}

}  // namespace whet
