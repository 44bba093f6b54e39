#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "codegen/lower.hpp"
#include "harness/bundle_cache.hpp"
#include "harness/candidate_validation.hpp"
#include "harness/reference_client.hpp"
#include "jit/compile.hpp"
#include "support/schedules.hpp"
#include "support/test_cache.hpp"

namespace whet {

/// Changes a schedule, and says whether there was anything to change.
using Change = std::function<bool(Schedule&)>;
/// Changes a kernel's text.
using Edit = std::function<std::string(const std::string&)>;

/// A workload with LibTorch's bundles, against which it validates kernels of the CPU target that
/// were changed on their way from the configuration.
class ValidatedKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
      GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
    }
    use("online.json");
  }

  void use(const std::string& name, const DimOverrides& dims = {}) {
    source_ = {.text = read_file(WHET_SOURCE_DIR "/workloads/" + name), .name = name, .dims = dims};
    prepare();
  }
  void use_text(const std::string& text) {
    source_ = {.text = text, .name = "workload.json", .dims = {}};
    prepare();
  }

  const Program& program() const { return workload_->step; }

  /// How the validation ends for a configuration's kernel, with a change of its schedule and an
  /// edit of its text.
  Outcome validated(
      const std::string& configuration, const Change& change = nullptr, const Edit& edit = nullptr
  ) {
    Schedule schedule = testing::resolved(program(), configuration, limits_);
    if (change && !change(schedule)) {
      throw InternalError("the change found nothing to change");
    }
    KernelSource source = lower(program(), schedule, limits_);
    if (edit) {
      source.text = edit(source.text);
    }
    CompileOptions options;
    options.cache_folder = testing::test_cache();
    const CompileOutcome compiled = compile(source, options);
    if (compiled.status != Status::Ok) {
      throw InternalError(compiled.detail);
    }
    const auto executor = make_cpu_executor(limits_.num_sms);
    ResidentCandidate candidate(*executor, *workload_, compiled.artifact, source.plan);
    return validate_candidate(*executor, *workload_, candidate, bundles_->get(paths_), tolerances_)
        .outcome;
  }

  /// The kernel as it is passes, the changed one does not; `part` stands in what is said of it.
  void expect_caught(
      const std::string& configuration,
      const Change& change,
      const std::string& part,
      const Edit& edit = nullptr
  ) {
    const Outcome good = validated(configuration);
    EXPECT_EQ(good.status, Status::Ok) << configuration << ": " << good.detail;
    const Outcome bad = validated(configuration, change, edit);
    EXPECT_EQ(bad.status, Status::WrongResult) << configuration;
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, bad.detail);
  }
  void expect_edit_caught(
      const std::string& configuration, const Edit& edit, const std::string& part
  ) {
    expect_caught(configuration, nullptr, part, edit);
  }

  /// Calls `change` for every task that stores a new state, with the node that it stores.
  static Change of_updates(
      const Program& program, const std::function<bool(Task&, const Store&, ExprNode&)>& change
  ) {
    return [&program, change](Schedule& schedule) {
      return testing::change_tasks(schedule, [&](Task& task) {
        bool changed = false;
        for (const Store& store : task.stores) {
          if (testing::is_state(program, schedule, store.access)) {
            changed =
                change(task, store, task.nodes[static_cast<std::size_t>(store.node)]) || changed;
          }
        }
        return changed;
      });
    };
  }

  /// The updates of all states, or of the one with this name, by `share` of what they should be.
  Change scaled_update(double share, const std::string& name = "") const {
    const Program& step = program();
    return of_updates(step, [&step, share, name](Task&, const Store& store, ExprNode& node) {
      const bool is_meant = name.empty() || step.value(store.value).name == "after:" + name;
      if (!is_meant || node.op != OpKind::Sub) {
        return false;
      }
      node.attributes.alpha = share;
      return true;
    });
  }

 private:
  void prepare() {
    workload_ = parse_workload(source_.text, source_.name, source_.dims);
    ReferenceOptions options;
    options.command = {WHET_BIN_DIR "/whet-reference"};
    options.workload = source_;
    options.cache_folder = testing::test_cache();
    options.tolerances = kTolerances;
    paths_ = ensure_bundles(*workload_, options).paths;
    bundles_ = std::make_unique<BundleCache>(*workload_);
  }

  static constexpr const char* kTolerances = WHET_SOURCE_DIR "/configs/tolerances.json";

  WorkloadSource source_;
  std::optional<Workload> workload_;
  std::vector<std::filesystem::path> paths_;
  std::unique_ptr<BundleCache> bundles_;
  const Tolerances tolerances_ = Tolerances::load(kTolerances);
  const DeviceLimits limits_ = host_limits(1);
};

}  // namespace whet
