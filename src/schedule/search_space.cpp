#include "schedule/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/philox.hpp"
#include "schedule/shadows.hpp"

namespace whet {
namespace {

using Values = std::vector<std::string>;

/// What shapes the choice of values: sizes of products, and whether any computes in 16 bits.
struct Traits {
  bool has_half_product = false;
  bool has_shadows = false;  ///< products read casts of state
  std::int64_t largest_output = 1;
  std::int64_t largest_product = 1;
};

Traits traits_of(const Program& program) {
  Traits traits{.has_shadows = !with_shadows(program).shadowed.empty()};
  for (const Op& op : program.ops) {
    const std::int64_t elements = num_elements(program.value(op.output).shape);
    traits.largest_output = std::max(traits.largest_output, elements);
    if (op.kind == OpKind::Mm || op.kind == OpKind::Addmm) {
      const ValueId a = op.inputs[op.kind == OpKind::Addmm ? 1 : 0];
      traits.has_half_product |= program.value(a).dtype != DType::F32;
      traits.largest_product =
          std::max(traits.largest_product, elements * program.value(a).shape[1]);
    }
  }
  return traits;
}

/// Powers of two up to `limit`, and `limit` itself.
Values counts_up_to(std::int64_t limit) {
  Values values;
  for (std::int64_t n = 1; n < limit; n *= 2) {
    values.push_back(fmt::format("{}", n));
  }
  values.push_back(fmt::format("{}", limit));
  return values;
}

Knob fusion_knob(const char* name, const char* about) {
  return {.name = name, .values = {"on", "off"}, .default_value = "on", .about = about};
}

std::vector<Knob> fusion_knobs() {
  return {
      fusion_knob(
          "fuse_pointwise", "single-reader pointwise values are computed where they are read"
      ),
      fusion_knob("fuse_epilogue", "pointwise ops behind a product or sum join its task"),
      fusion_knob("fuse_update", "the optimizer joins the task of its gradient"),
      fusion_knob("inline_casts", "casts of arguments happen at every read"),
  };
}

/// No search tries the slower of the two: it is for those who replay a launch that they captured.
Knob step_number_knob() {
  return {
      "step_number",
      {"host", "device"},
      "host",
      "who counts which batch of the ring comes next: whoever launches, or the kernel in its "
      "workspace, so that a captured launch goes on",
      {"device"}};
}

std::vector<Knob> cpu_knobs(const Traits& traits, const DeviceLimits& limits) {
  const bool large = traits.largest_product > (1 << 20);
  const std::string all = fmt::format("{}", limits.num_sms);
  std::vector<Knob> knobs{
      {"partition",
       {"block", "grid"},
       large ? "grid" : "block",
       "one thread owns everything, or tiles are spread"},
      {"blocks", counts_up_to(limits.num_sms), all, "threads of the pool"},
      {"tile_m", {"8", "16", "32", "64", "128"}, large ? "128" : "64", "rows of a product's tile"},
      {"tile_n",
       {"16", "32", "64", "128", "256"},
       large ? "128" : "64",
       "columns of a product's tile"},
      {"unroll",
       {"6", "2", "4", "8"},
       "6",
       "rows of accumulators that the product's inner loop keeps in registers"},
      {"steps_per_launch", {"1", "4"}, "1", "training steps a launch"},
  };
  return knobs;
}

std::vector<Knob> cuda_knobs(const Traits& traits, const DeviceLimits& limits) {
  const bool tiny = traits.largest_product <= (1 << 13);
  const bool narrow = traits.largest_product <= (1 << 17);
  // Some rows want more warps than a block has before they are worth the grid's barriers.
  const bool one_cluster = narrow && !tiny && has_clusters(limits);
  // Tensor cores let one block do as much.
  const bool one_block = tiny || (narrow && traits.has_half_product);
  const bool large = traits.largest_product > (1 << 20);
  Values blocks = counts_up_to(limits.num_sms);
  blocks.push_back(fmt::format("{}", 2 * limits.num_sms));
  Values few_blocks;
  for (std::int64_t n = 1; large && 4 * n < limits.num_sms; n *= 2) {
    few_blocks.push_back(fmt::format("{}", n));
  }
  std::vector<Knob> knobs{
      {"partition",
       has_clusters(limits) ? Values{"grid", "block", "cluster"} : Values{"grid", "block"},
       one_cluster ? "cluster"
       : one_block ? "block"
                   : "grid",
       "one block owns everything, or tiles are spread over a cluster of up to 16 or over the grid",
       large ? Values{"block", "cluster"} : Values{}},
      {"operands",
       {"direct", "staged"},
       "direct",
       "of products: from memory to registers, or staged in shared memory"},
      {"engine",
       {"mma", "simt"},
       tiny ? "simt" : "mma",  // of a row or two, tensor cores would multiply padding
       "tensor cores (16-bit products), or plain fma",
       large ? Values{"simt"} : Values{}},
      {"blocks",
       std::move(blocks),
       fmt::format("{}", one_cluster ? std::min(16, limits.num_sms) : limits.num_sms),
       "blocks of the grid; of a cluster 8 where more than 16 are asked for",
       std::move(few_blocks)},
      // With 192 and 384 warps are left for small tasks beside the four or eight of a large one.
      {"threads",
       {"128", "256", "512", "192", "384"},
       tiny                                     ? "512"
       : one_cluster && traits.has_half_product ? "128"
                                                : "256",
       "threads a block",
       large ? Values{"192", "384"} : Values{}},
      {"blocks_per_sm",
       {"1", "2"},
       traits.has_half_product && !one_block ? "2" : "1",
       "second launch bound: caps registers"},
      // As wide as tiles may be, since they shrink until all blocks have one.
      {"tile_m", {"16", "32", "64"}, "64", "rows of a product's tile"},
      {"tile_n",
       {"16", "32", "64", "128"},
       one_block && !tiny ? "128" : "64",
       "columns of a product's tile"},
      {"tile_k", {"64", "32", "16", "128"}, "64", "K staged at a time"},
      {"stages", {"2", "1", "3", "4"}, "2", "staged K tiles in flight"},
      {"split_k",
       {"1", "2", "4", "8"},
       one_block ? "1" : "8",
       "warp groups of a block that share a tile's K"},
      {"k_lanes",
       {"fit", "off", "most"},
       "fit",
       "of plain fma, neighbouring lanes share K: where it touches fewer lines, or as many as can",
       large ? Values{"off", "most"} : Values{}},
      {"skew", {"8", "0"}, "8", "padding elements of a shared-memory row"},
      {"steps_per_launch", {"1", "4", "20"}, "1", "training steps a launch"},
      {"weights",
       {"global", "resident", "registers"},
       "global",
       "one block works on state where it lies, or keeps it while a launch runs: in shared memory, "
       "or in registers with 16-bit copies in shared memory"},
      {"inputs",
       {"shared", "global"},
       "shared",
       "one block finds inputs in shared memory, where they come while the step or launch before "
       "runs, or reads them where they lie"},
      {"teams",
       {"on", "off"},
       "on",
       "tasks of a phase run side by side, each on some of a block's warps"},
      {"repeat_cheap",
       {"on", "off"},
       "on",
       "each of several blocks computes a cheap phase for itself, which spares a barrier"},
      {"early_reads",
       {"on", "off"},
       "on",
       "what is there already is fetched before its phase: while a block waits for others, or to "
       "L1"},
  };
  if (traits.has_shadows) {
    knobs.push_back(
        {"shadows",
         {"on", "off"},
         one_block ? "off" : "on",
         "products read 16-bit copies of f32 state that the update keeps with it"}
    );
  }
  if (has_clusters(limits)) {
    knobs.push_back(
        {"launch_overlap",
         {"on", "off"},
         "on",
         "a launch gets ready while the one before it still runs"}
    );
  }
  if (!traits.has_half_product) {
    const auto engine = std::find_if(knobs.begin(), knobs.end(), [](const Knob& knob) {
      return knob.name == "engine";
    });
    engine->values = {"simt"};
    engine->unlikely = {};
    engine->default_value = "simt";
  }
  return knobs;
}

Values likely_values(const Knob& knob) {
  Values values;
  for (const std::string& value : knob.values) {
    if (std::find(knob.unlikely.begin(), knob.unlikely.end(), value) == knob.unlikely.end()) {
      values.push_back(value);
    }
  }
  return values;
}

/// Knobs that split the space into parts of different kind.
bool is_stratum(const std::string& name) {
  static const std::set<std::string> strata{
      "partition",
      "operands",
      "engine",
      "fuse_pointwise",
      "fuse_epilogue",
      "fuse_update",
      "inline_casts"};
  return strata.contains(name);
}

/// Knobs that do not count beside others take their first value: without this, every other value
/// would be the same candidate again.
Configuration canonical(Configuration configuration, const std::vector<Knob>& knobs) {
  auto& values = configuration.values;
  if (values.at("partition") == "block") {
    values["blocks"] = "1";
    if (values.contains("blocks_per_sm")) {
      values["blocks_per_sm"] = "1";
      values["repeat_cheap"] = "on";
    }
  }
  if (values.at("partition") == "cluster") {
    static const std::set<std::string> sizes{"1", "2", "4", "8", "16"};
    if (!sizes.contains(values.at("blocks"))) {
      values["blocks"] = "8";  // as many as every GPU with clusters takes
    }
    values["blocks_per_sm"] = "1";
  }
  if (values.at("partition") != "block" && values.contains("weights")) {
    values["weights"] = "global";
    values["inputs"] = "shared";
  }
  if (values.contains("shadows") && values.at("weights") == "registers") {
    values["shadows"] = "on";
  }
  const auto operands = values.find("operands");
  if (operands != values.end() && (operands->second == "staged" || values.at("engine") == "mma")) {
    values["k_lanes"] = "fit";
  }
  if (operands != values.end() && operands->second == "direct") {
    for (const Knob& knob : knobs) {
      if (knob.name == "tile_k" || knob.name == "stages" || knob.name == "skew") {
        values[knob.name] = knob.values.front();
      }
    }
  }
  return configuration;
}

std::pair<std::string, std::string> split_child(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? std::pair{std::string(), name}
                                    : std::pair{name.substr(0, slash), name.substr(slash + 1)};
}

}  // namespace

SearchSpace::SearchSpace(const Program& program, const DeviceLimits& limits) {
  const Traits traits = traits_of(program);
  knobs_ = limits.target == Target::Cpu ? cpu_knobs(traits, limits) : cuda_knobs(traits, limits);
  knobs_.push_back(step_number_knob());
  for (Knob& knob : fusion_knobs()) {
    knobs_.push_back(std::move(knob));
  }
}

double SearchSpace::size_bound() const {
  double size = 1.0;
  for (const Knob& knob : knobs_) {
    size *= static_cast<double>(knob.values.size());
  }
  return size;
}

Configuration SearchSpace::default_configuration() const {
  Configuration configuration;
  for (const Knob& knob : knobs_) {
    configuration.values[knob.name] = knob.default_value;
  }
  return canonical(std::move(configuration), knobs_);
}

Configuration SearchSpace::sample(std::uint64_t seed, std::uint64_t n) const {
  constexpr std::uint64_t kPeriod = 4;
  enum class Strata { Default, OneChanged, Drawn };
  constexpr Strata kStrata[kPeriod] = {
      Strata::Default, Strata::OneChanged, Strata::Default, Strata::Drawn};
  const Strata strata = kStrata[n % kPeriod];
  const Philox random(seed, n);
  Configuration configuration;
  std::vector<std::pair<std::string, std::string>> changes;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    const Knob& knob = knobs_[k];
    const Values values = likely_values(knob);
    const bool is_drawn = strata == Strata::Drawn || !is_stratum(knob.name);
    configuration.values[knob.name] =
        is_drawn ? values[random.word(k) % values.size()] : knob.default_value;
    for (const std::string& value : values) {
      if (is_stratum(knob.name) && value != knob.default_value) {
        changes.emplace_back(knob.name, value);
      }
    }
  }
  if (strata == Strata::OneChanged && !changes.empty()) {
    const auto& [name, value] = changes[n / kPeriod % changes.size()];
    configuration.values[name] = value;
  }
  return canonical(std::move(configuration), knobs_);
}

Configuration SearchSpace::at(std::uint64_t n) const {
  Configuration configuration;
  for (const Knob& knob : knobs_) {
    configuration.values[knob.name] = knob.values[n % knob.values.size()];
    n /= knob.values.size();
  }
  return canonical(std::move(configuration), knobs_);
}

std::optional<std::string> SearchSpace::why_not_member(const Configuration& configuration) const {
  for (const Knob& knob : knobs_) {
    if (!configuration.values.contains(knob.name)) {
      return fmt::format("knob {} has no value", knob.name);
    }
  }
  for (const auto& [name, value] : configuration.values) {
    const auto [task, base] = split_child(name);
    const auto knob = std::find_if(knobs_.begin(), knobs_.end(), [&](const Knob& candidate) {
      return candidate.name == base;
    });
    if (knob == knobs_.end()) {
      Values names;
      for (const Knob& known : knobs_) {
        names.push_back(known.name);
      }
      return fmt::format("no knob {}; there are {}", name, fmt::join(names, ", "));
    }
    if (std::find(knob->values.begin(), knob->values.end(), value) == knob->values.end()) {
      return fmt::format(
          "knob {} is {}, expected one of {}", name, value, fmt::join(knob->values, ", ")
      );
    }
  }
  return std::nullopt;
}

Configuration SearchSpace::complete(const Configuration& configuration) const {
  Configuration result = configuration;
  for (const Knob& knob : knobs_) {
    result.values.try_emplace(knob.name, knob.default_value);
  }
  return canonical(std::move(result), knobs_);
}

}  // namespace whet
