#include <gtest/gtest.h>

#include "base/files.hpp"
#include "store/record_store.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

class LookUp : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "records.db"; }

  void record(const SessionInfo& info, const Decision& decision) {
    RecordStore store = RecordStore::open(path(), RecordStore::Mode::ReadWrite);
    store.add_decision(store.begin_session(info), decision);
  }

  Match look_up_now(const Json& versions = records::session_info().versions) const {
    return look_up(path(), records::lookup_key(), versions);
  }

 private:
  TemporaryFolder folder_{"whet-store-"};
};

TEST_F(LookUp, FindsTheDecisionForTheSameKeyAndVersions) {
  record(records::session_info(), records::decision(32));
  const Match match = look_up_now();
  EXPECT_EQ(match.grade, Match::Exact);
  EXPECT_EQ(match.decision, records::decision(32));
  EXPECT_EQ(match.reason, "");
  EXPECT_EQ(match.versions, records::session_info().versions);
}

TEST_F(LookUp, TakesTheNewestDecision) {
  record(records::session_info(), records::decision(32));
  record(records::session_info(), records::decision(64));
  EXPECT_EQ(look_up_now().decision, records::decision(64));
}

TEST_F(LookUp, SaysWhichVersionsChanged) {
  record(records::session_info(), records::decision(32));
  const Match match = look_up_now({{"whet", "0.2.0"}, {"nvrtc", "13.0"}, {"driver", "580.159"}});
  EXPECT_EQ(match.grade, Match::OtherVersion);
  EXPECT_EQ(match.reason, "whet 0.1.0 -> 0.2.0, driver unknown -> 580.159");
  EXPECT_EQ(match.decision, records::decision(32));
}

TEST_F(LookUp, PrefersTheSameVersionsToANewerDecision) {
  record(records::session_info(), records::decision(32));
  SessionInfo other = records::session_info();
  other.versions["nvrtc"] = "13.1";
  record(other, records::decision(64));
  const Match match = look_up_now();
  EXPECT_EQ(match.grade, Match::Exact);
  EXPECT_EQ(match.decision, records::decision(32));
}

TEST_F(LookUp, DoesNotAskForVersionsThatTheReaderDoesNotKnow) {
  record(records::session_info(), records::decision(32));
  EXPECT_EQ(look_up_now({{"nvrtc", "13.0"}}).grade, Match::Exact);
}

TEST_F(LookUp, MissesWhenAnyPartOfTheKeyDiffers) {
  record(records::session_info(), records::decision(32));
  std::vector<LookupKey> keys(4, records::lookup_key());
  keys[0].workload_key = "other";
  keys[1].device_class = "cuda:sm_80:108:80GiB";
  keys[2].target = Target::CudaEmulated;
  keys[3].tolerance_set = "loose";
  for (const LookupKey& key : keys) {
    const Match match = look_up(path(), key, records::session_info().versions);
    EXPECT_EQ(match.grade, Match::Default);
    EXPECT_EQ(match.decision, std::nullopt);
    EXPECT_NE(match.reason.find(key.device_class), std::string::npos) << match.reason;
  }
}

TEST_F(LookUp, DoesNotAskForNamesOfWorkloadOrDevice) {
  record(records::session_info(), records::decision(32));
  SessionInfo renamed = records::session_info();
  renamed.workload_name = "renamed";
  renamed.device_name = "H200 of another maker";
  record(renamed, records::decision(64));
  EXPECT_EQ(look_up_now().decision, records::decision(64));
}

TEST_F(LookUp, IgnoresASessionWithoutADecision) {
  record(records::session_info(), records::decision(32));
  RecordStore::open(path(), RecordStore::Mode::ReadWrite).begin_session(records::session_info());
  EXPECT_EQ(look_up_now().decision, records::decision(32));
}

TEST_F(LookUp, TellsAMissingStoreFromAMiss) {
  const Match match = look_up_now();
  EXPECT_EQ(match.grade, Match::StoreUnavailable);
  EXPECT_NE(match.reason.find("there is no such file"), std::string::npos) << match.reason;
  EXPECT_FALSE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace whet
