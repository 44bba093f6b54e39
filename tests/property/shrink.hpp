#pragma once

#include <functional>
#include <string>

#include "property/random_program.hpp"

namespace whet::testing {

/// The smallest program that `fails` still, found by turning results of ops into inputs, dropping
/// outputs and pruning what is left over; one pass from the last op to the first.
RandomProgram shrunk(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails);

}  // namespace whet::testing
