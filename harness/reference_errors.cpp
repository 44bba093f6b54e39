#include "harness/reference_errors.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "harness/comparison.hpp"

namespace whet {
namespace {

std::vector<std::pair<std::string, const Trajectory*>> others_of(const ReferenceBundle& bundle) {
  return {
      {"native", &bundle.native},
      {"reversed", &bundle.orders.at(0)},
      {"split", &bundle.orders.at(1)},
  };
}

/// No floors: limits do not matter here.
Tolerances without_floors(const Workload& workload) {
  Tolerances tolerances;
  tolerances.floors[lowest_precision(workload.step)] = {};
  return tolerances;
}

const char* measure_name(Measure measure) {
  switch (measure) {
    case Measure::Change:
      return "change";
    case Measure::Norm:
      return "output";
    case Measure::Element:
      return "element";
  }
  throw InternalError("unknown measure");
}

}  // namespace

Json reference_errors(const Workload& workload, const ReferenceBundle& bundle) {
  const Tolerances tolerances = without_floors(workload);
  Json list = Json::array();
  for (const Check& check : make_checks(workload, bundle, tolerances)) {
    Json entry{
        {"tensor", check.tensor}, {"when", check.when}, {"measure", measure_name(check.measure)}};
    for (const auto& [name, other] : others_of(bundle)) {
      const Snapshot& snapshot = other->snapshots.at(check.snapshot_idx);
      const std::vector<HostTensor>& tensors = check.is_state ? snapshot.state : snapshot.outputs;
      entry[name] = distance(check, to_doubles(tensors.at(check.tensor_idx))).error;
    }
    list.push_back(std::move(entry));
  }
  const LossLimits limits = make_loss_limits(workload, bundle, tolerances);
  std::map<std::string, Json> losses;
  for (std::size_t t = 0; t < limits.sizes.size(); ++t) {
    const std::string when = when_of(workload, static_cast<int>(t) + 1);
    Json& entry = losses[when];
    entry["tensor"] = "loss";
    entry["when"] = when;
    entry["measure"] = "loss";
    for (const auto& [name, other] : others_of(bundle)) {
      const double error =
          loss_error(bundle.reference.losses[t], other->losses[t], limits.sizes[t]);
      entry[name] = std::max(entry.value(name, 0.0), error);
    }
  }
  for (auto& [when, entry] : losses) {
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace whet
