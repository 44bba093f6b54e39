#pragma once

#include <string>
#include <string_view>

#include "evaluation/evaluation.hpp"
#include "store/decision.hpp"
#include "store/sqlite.hpp"

namespace whet {

/// What the row of an evaluation holds of it: its JSON without the configuration, which has a row
/// of its own, and the sample blocks.
std::string evaluation_text(const Evaluation& evaluation);
/// Throws EnvironmentError for text that evaluation_text does not write; `what` names the row.
Evaluation evaluation_from_text(
    std::string_view text, const Configuration& configuration, const std::string& what
);

/// Throws EnvironmentError when the SHA-256 is another's.
Configuration configuration_from_text(
    const std::string& knobs, const std::string& sha256, const std::string& what
);

/// `bytes`. Throws EnvironmentError when their CRC-32 is another.
const std::string& checked(const std::string& bytes, std::int64_t crc, const std::string& what);

/// From the columns `first` (id), body, crc32. Throws EnvironmentError.
Decision read_decision(
    const sqlite::Statement& statement, int first, const sqlite::Connection& connection
);

/// SHA-256 that ties an artifact's plan to its code.
std::string artifact_digest(const std::string& plan, const std::string& code);

}  // namespace whet
