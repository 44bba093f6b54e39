#include "jit/emulation_compile.hpp"

namespace whet {

std::vector<std::string> emulation_compile_arguments(AccessChecks checks) {
  std::vector<std::string> arguments = {
      "-std=c++20",
      "-O1",
      // A barrier stays one place: lanes that meet it in two are taken for divergent.
      "-fno-thread-jumps",
      "-g1",
      "-fPIC",
      "-shared",
      // As --fmad=false on a GPU.
      "-ffp-contract=off",
      // Shared memory and the workspace hold one type after another at the same place.
      "-fno-strict-aliasing",
      // CUDA attributes and pragmas mean nothing here.
      "-w",
  };
  if (checks == AccessChecks::All) {
    // The instrumentation calls emulated.hpp, not the sanitizer's library, which must stay away.
    for (const char* argument : {"-fsanitize=thread", "-nodefaultlibs", "-lm", "-lc", "-lgcc"}) {
      arguments.emplace_back(argument);
    }
  }
  return arguments;
}

}  // namespace whet
