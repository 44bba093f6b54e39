// scripts/peers.py, with stand-ins for whet and for the peers: neither a GPU nor torch is needed.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

constexpr std::chrono::seconds kTimeout{100};
constexpr int kUserError = 2;
const std::string kFake = "python3 " WHET_SOURCE_DIR "/tests/cli/fake_blocks.py";

/// Runs of the script that write into a folder of their own.
class Peers : public testing::Test {
 protected:
  ProcessResult run(const std::vector<std::string>& arguments) const {
    ProcessOptions options;
    options.arguments = {"python3", WHET_SOURCE_DIR "/scripts/peers.py", "--target", "cpu"};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.set_environment = {{"PYTHONDONTWRITEBYTECODE", "1"}};
    options.working_folder = folder_.path().string();
    return run_process(options, kTimeout);
  }

  /// With a whet that has a winner of 1000 ns and one launch a step in 2000 ns, or a `fault`.
  ProcessResult run_fakes(std::vector<std::string> arguments, const std::string& fault = "") const {
    arguments.insert(
        arguments.begin(),
        {"--whet", kFake + " ours " + fault, "--peers=", "--rounds=3", "--jobs=8"}
    );
    return run(arguments);
  }

  Json document() const {
    return Json::parse(read_file(folder_.path() / "results/cpu/peers.json"));
  }

  std::string write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }

 private:
  TemporaryFolder folder_{"whet-peers-test-"};
};

std::string fake_peer(const std::string& name, const std::string& how) {
  return "--peer=" + name + "=" + kFake + " peer " + how;
}

const Json& subject(const Json& entry, const std::string& name) {
  return *std::ranges::find_if(entry["subjects"], [&](const Json& s) { return s["name"] == name; });
}

std::vector<std::string> names_of_blocks(const Json& entry) {
  std::vector<std::string> names;
  for (const Json& block : entry["blocks"]) {
    names.push_back(block["subject"]);
  }
  return names;
}

TEST_F(Peers, AlternateBlocksOfBothSidesAndReverseEachRound) {
  const ProcessResult result =
      run_fakes({"--cases=online", fake_peer("inductor-a", "4000"), fake_peer("inductor-b", "8000")}
      );

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const std::vector<std::string> names = names_of_blocks(document()["cases"][0]);
  constexpr std::size_t kSubjects = 4;
  ASSERT_EQ(names.size(), 3 * 2 * kSubjects);
  for (auto round = names.begin(); round != names.end(); round += 2 * kSubjects) {
    const std::set<std::string> once(round, round + kSubjects);
    EXPECT_EQ(once.size(), kSubjects);
    EXPECT_TRUE(
        std::equal(round, round + kSubjects, std::make_reverse_iterator(round + 2 * kSubjects))
    );
  }
}

TEST_F(Peers, WriteEverySampleAndWhatTheyComeTo) {
  const ProcessResult result =
      run_fakes({"--cases=online", fake_peer("inductor-a", "4000"), fake_peer("other", "500")});

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json whole = document();
  EXPECT_EQ(whole["schema"], "whet.peers/1");
  EXPECT_EQ(whole["environment"]["torch"], "0");
  const Json& entry = whole["cases"][0];
  EXPECT_EQ(entry["case"], "online");
  EXPECT_EQ(entry["dtype"], "bf16");
  EXPECT_EQ(entry["dims"]["hidden"], 128);
  EXPECT_EQ(entry["blocks"][0]["samples"].size(), 3U);
  EXPECT_EQ(subject(entry, "winner")["side"], "ours");
  EXPECT_EQ(subject(entry, "winner")["summary"]["median_ns"], 1000.0);
  EXPECT_EQ(subject(entry, "inductor-a")["summary"]["num_samples"], 18);
  // The fastest Inductor, not the fastest peer.
  ASSERT_EQ(entry["ratios"].size(), 2U);
  EXPECT_EQ(entry["ratios"][0]["ours"], "one-launch");
  EXPECT_EQ(entry["ratios"][0]["to"], "inductor-a");
  EXPECT_NEAR(entry["ratios"][0]["median"].get<double>(), 0.5, 1e-9);
  EXPECT_NEAR(entry["ratios"][1]["median"].get<double>(), 0.25, 1e-9);
  EXPECT_TRUE(says(result.output, "online"));
  EXPECT_TRUE(says(result.output, "0.500"));
}

TEST_F(Peers, GoOnWithoutAPeerThatDiesAndSayWhy) {
  for (const std::string fault : {"dies", "babbles"}) {
    const ProcessResult result = run_fakes(
        {"--cases=online", fake_peer("inductor-a", "4000"), fake_peer("bad", "500 " + fault)}
    );

    EXPECT_EQ(result.exit.code, 1);
    const Json entry = document()["cases"][0];
    EXPECT_EQ(subject(entry, "bad")["status"], "Crashed");
    EXPECT_TRUE(says(
        subject(entry, "bad")["detail"].get<std::string>(),
        fault == "dies" ? "out of luck" : "warning: something"
    ));
    EXPECT_EQ(subject(entry, "bad")["summary"]["num_samples"], 9);  // of three blocks
    EXPECT_EQ(subject(entry, "inductor-a")["summary"]["num_samples"], 18);
    EXPECT_TRUE(says(result.error_output, "online: bad: Crashed"));
  }
}

TEST_F(Peers, GoOnWithoutOursWhenItDies) {
  const ProcessResult result =
      run_fakes({"--cases=online", fake_peer("inductor-a", "4000")}, "--dies");

  EXPECT_EQ(result.exit.code, 1);
  const Json entry = document()["cases"][0];
  EXPECT_EQ(subject(entry, "winner")["status"], "Crashed");
  EXPECT_EQ(subject(entry, "one-launch")["status"], "Crashed");
  EXPECT_TRUE(says(subject(entry, "winner")["detail"].get<std::string>(), "out of luck"));
  EXPECT_EQ(subject(entry, "inductor-a")["summary"]["num_samples"], 18);
}

TEST_F(Peers, EndOneThatIsNotReadyInTime) {
  const ProcessResult result = run_fakes(
      {"--cases=online",
       "--budget=4",
       fake_peer("inductor-a", "4000"),
       fake_peer("slow", "1 hangs")}
  );

  EXPECT_EQ(result.exit.code, 1);
  const Json entry = document()["cases"][0];
  EXPECT_EQ(subject(entry, "slow")["status"], "TimedOut");
  EXPECT_TRUE(says(subject(entry, "slow")["detail"].get<std::string>(), "75% of --budget"));
  EXPECT_GE(subject(entry, "inductor-a")["summary"]["num_samples"].get<int>(), 12);
}

TEST_F(Peers, ReportOneThatIsNotInstalledWithoutFailing) {
  const ProcessResult result =
      run_fakes({"--cases=online", fake_peer("trainkernel-1", "1 absent")});

  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  EXPECT_EQ(subject(document()["cases"][0], "trainkernel-1")["status"], "Absent");
  EXPECT_TRUE(says(result.output, "Absent"));
}

TEST_F(Peers, SkipACaseWithoutAWinnerOnly) {
  const ProcessResult result = run_fakes(
      {"--cases=online,small", "--rounds=2", fake_peer("inductor-a", "4000")},
      "--no-winner hidden=512"
  );

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_TRUE(says(result.error_output, "small: NoWinner: nothing was tuned yet"));
  const Json cases = document()["cases"];
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0]["blocks"].size(), 12U);
  EXPECT_EQ(cases[1]["blocks"].size(), 0U);
}

TEST_F(Peers, FailWhenOursIsAboveItsLimit) {
  const std::string limits = write(
      "limits.json",
      R"({"schema": "whet.limits/1", "us_a_step": {"online": {"one_launch": 1.9, "any": 1.1}}})"
  );

  const ProcessResult result = run_fakes({"--cases=online", "--limits", limits});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_TRUE(says(result.error_output, "online: one_launch: 2 us, must be at most 1.9"));
  EXPECT_FALSE(says(result.error_output, "any"));
}

struct Refusal {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class PeersRefuse : public Peers, public testing::WithParamInterface<Refusal> {};

TEST_P(PeersRefuse, WhatTheyCannotUse) {
  const ProcessResult result = run_fakes(GetParam().arguments);

  EXPECT_EQ(result.exit.code, kUserError);
  for (const std::string& part : GetParam().says) {
    EXPECT_TRUE(says(result.error_output, part));
  }
}

const std::string kWorkload = WHET_SOURCE_DIR "/workloads/online.json";

INSTANTIATE_TEST_SUITE_P(
    Cli,
    PeersRefuse,
    testing::Values(
        Refusal{"Case", {"--cases=onlin"}, {"--cases", "'onlin'", "\"online\""}},
        Refusal{"DType", {"--dtypes=f64"}, {"--dtypes", "bf16", "'f64'"}},
        Refusal{"Nothing", {"--cases=online", "--dtypes=f32"}, {"no case of the suite has both"}},
        Refusal{"Suite", {"--suite=nowhere"}, {"nowhere.json", "No such file"}},
        Refusal{"Schema", {"--suite", kWorkload}, {"whet.suite/1", "found \"whet.workload/1\""}},
        Refusal{"Form", {"--configuration=online"}, {"--configuration", "knob=value"}},
        Refusal{"ConfigurationCase", {"--configuration=x=tile_m=8"}, {"--configuration", "'x'"}},
        Refusal{"Rounds", {"--rounds=0"}, {"--rounds", "more than 0"}},
        Refusal{"Peer", {"--peer=fast"}, {"--peer", "NAME="}},
        Refusal{"Limits", {"--limits", kWorkload}, {"whet.limits/1"}}
    ),
    [](const testing::TestParamInfo<Refusal>& refusal) { return refusal.param.name; }
);

}  // namespace
}  // namespace whet
