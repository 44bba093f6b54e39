#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ir/program.hpp"

namespace whet {

/// Limits of `configs/tolerances.json`: a comparison may be off by max(floor, factor * E), where E
/// is the pooled error of other correct implementations. docs/formats/tolerances.md gives the
/// reasons.
struct Tolerances {
  /// One for each place where a trajectory is compared.
  struct Floor {
    double step1 = 0.0;
    double replay = 0.0;
    double trajectory = 0.0;

    bool operator==(const Floor&) const = default;
  };
  /// One for each thing that is compared.
  struct Floors {
    Floor change;   ///< of a state tensor: ||dc - dr|| / ||dr||
    Floor output;   ///< of a declared output: ||c - r|| / ||r||
    Floor element;  ///< of a declared output: max |c - r| / rms(r)
    Floor loss;     ///< |c - r| / |r|, at every step

    bool operator==(const Floors&) const = default;
  };
  std::map<DType, Floors> floors;  ///< by the lowest precision that the program computes in
  double factor = 4.0;

  bool operator==(const Tolerances&) const = default;

  /// Throws UserError naming file, JSON path, expected and found.
  static Tolerances load(const std::filesystem::path& path);
};

/// SHA-256 of the numbers: results under other tolerances are other results.
std::string tolerances_key(const Tolerances& tolerances);

/// The lowest precision among BF16, F16 and F32 that a program's values have.
DType lowest_precision(const Program& program);

/// The floors for a program. Throws UserError when there are none for its lowest precision.
const Tolerances::Floors& floors_for(const Tolerances& tolerances, const Program& program);

}  // namespace whet
