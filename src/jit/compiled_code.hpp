#pragma once

#include <string>

#include "evaluation/evaluation.hpp"

namespace whet {

/// What a compiler gave: Ok with the bytes of an artifact, or CompileFailed / CompileTimedOut with
/// the compiler's text.
struct CompiledCode {
  Status status = Status::Ok;
  std::string detail = {};
  std::string bytes = {};
  Resources resources = {};
};

}  // namespace whet
