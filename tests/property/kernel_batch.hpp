#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "jit/compile.hpp"
#include "support/step_runner.hpp"

namespace whet::testing {

/// Compiles many kernels as one file, since starting the compiler costs more than a small kernel:
/// each text in a namespace of its own. Gives each plan the entry of its kernel. Throws
/// InternalError with the compiler's text.
inline std::filesystem::path compile_together(std::vector<KernelSource>& sources) {
  KernelSource all{.text = "", .plan = sources.at(0).plan};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string entry = fmt::format("whet_step_{}", i);
    all.text += fmt::format(
        "#define whet_step {0}\nnamespace kernel_{1} {{\n{2}\n}}\n#undef whet_step\n",
        entry,
        i,
        sources[i].text
    );
    sources[i].plan.entry = entry;
  }
  CompileOptions options;
  options.cache_folder = test_cache();
  options.timeout = std::chrono::minutes(5);
  const CompileOutcome outcome = compile(all, options);
  if (outcome.status != Status::Ok) {
    throw InternalError(outcome.detail);
  }
  return outcome.artifact;
}

}  // namespace whet::testing
