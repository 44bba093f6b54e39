#pragma once

#include <sys/types.h>

#include "base/descriptor.hpp"
#include "base/subprocess.hpp"

namespace whet {

/// A child that runs, and our ends of its standard streams (non-blocking, close-on-exec).
struct SpawnedProcess {
  pid_t pid = -1;
  Descriptor stdin_pipe;
  Descriptor stdout_pipe;
  Descriptor stderr_pipe;  ///< none unless captured
};

/// Returns once the program runs. Throws EnvironmentError naming the program and the step that
/// failed.
SpawnedProcess spawn(const ProcessOptions& options);

}  // namespace whet
