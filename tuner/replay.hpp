#pragma once

#include <string>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "store/decision.hpp"

namespace whet {

/// The decision again, from the samples that `decision` rests on and nothing else of it than its
/// selector's options. `evaluations` are all of its session, the baseline first.
Decision replay(const std::vector<Evaluation>& evaluations, const Decision& decision);

/// In what `replayed` differs from what was decided, a sentence each; none: in nothing. A tie set
/// that was not kept is not compared.
std::vector<std::string> differences(const Decision& decided, const Decision& replayed);

}  // namespace whet
