#include "harness/tolerances.hpp"

#include <optional>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"

namespace whet {
namespace {

double parse_limit(const JsonCursor& json) {
  const double value = json.as_number();
  if (value < 0.0) {
    json.fail("a number that is not negative");
  }
  return value;
}

Tolerances::Floor parse_floor(const JsonCursor& json) {
  json.allow_only({"step1", "replay", "trajectory"});
  return {
      .step1 = parse_limit(json.at("step1")),
      .replay = parse_limit(json.at("replay")),
      .trajectory = parse_limit(json.at("trajectory")),
  };
}

Tolerances::Floors parse_floors(const JsonCursor& json) {
  json.allow_only({"change", "output", "element", "loss"});
  return {
      .change = parse_floor(json.at("change")),
      .output = parse_floor(json.at("output")),
      .element = parse_floor(json.at("element")),
      .loss = parse_floor(json.at("loss")),
  };
}

std::string text_of(const Tolerances::Floor& floor) {
  return fmt::format(" {:a} {:a} {:a}", floor.step1, floor.replay, floor.trajectory);
}

}  // namespace

Tolerances Tolerances::load(const std::filesystem::path& path) {
  const JsonCursor json = JsonCursor::parse_file(path);
  json.allow_only({"schema", "about", "factor", "floors"});
  if (json.at("schema").as_string() != "whet.tolerances/1") {
    json.at("schema").fail("\"whet.tolerances/1\"");
  }
  Tolerances tolerances;
  tolerances.factor = parse_limit(json.at("factor"));
  for (const auto& [name, floors] : json.at("floors").members()) {
    const std::optional<DType> dtype = parse_dtype(name);
    if (!dtype || !is_compute_dtype(*dtype)) {
      floors.fail("one of the dtypes f32, bf16 and f16", name);
    }
    tolerances.floors.emplace(*dtype, parse_floors(floors));
  }
  return tolerances;
}

std::string tolerances_key(const Tolerances& tolerances) {
  std::string text = fmt::format("factor {:a}", tolerances.factor);
  for (const auto& [dtype, floors] : tolerances.floors) {
    text += fmt::format(" | {}", dtype_name(dtype));
    for (const auto& floor : {floors.change, floors.output, floors.element, floors.loss}) {
      text += text_of(floor);
    }
  }
  return sha256_hex(text);
}

DType lowest_precision(const Program& program) {
  DType lowest = DType::F32;
  for (const TensorDesc& value : program.values) {
    if (value.dtype == DType::BF16) {
      return DType::BF16;
    }
    if (value.dtype == DType::F16) {
      lowest = DType::F16;
    }
  }
  return lowest;
}

const Tolerances::Floors& floors_for(const Tolerances& tolerances, const Program& program) {
  const DType lowest = lowest_precision(program);
  const auto found = tolerances.floors.find(lowest);
  if (found == tolerances.floors.end()) {
    throw UserError(fmt::format(
        "the tolerances have no floors for {}, the program's lowest precision; add \"floors.{}\"",
        dtype_name(lowest),
        dtype_name(lowest)
    ));
  }
  return found->second;
}

}  // namespace whet
