// What befalls a record store: other processes, missing permissions, damage and sudden death. Each
// test asks that damage is found, never mistaken for a miss, and that nothing acknowledged is lost.

#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "store/record_store.hpp"
#include "store/schema.hpp"
#include "store/sqlite.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

using Mode = RecordStore::Mode;

/// Exit code of a child whose function threw; what it threw goes to standard error.
constexpr int kThrew = 99;

/// Runs `function` in a child, which ends with its result.
pid_t start_child(const std::function<int()>& function) {
  const pid_t pid = ::fork();
  if (pid != 0) {
    return pid;
  }
  int code = kThrew;
  try {
    code = function();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(code);
}

/// Its exit code, or minus its signal.
int wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// For a child: no longer root, whom permissions do not bind.
void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
    throw_errno("cannot become nobody");
  }
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) {
      throw_errno("pipe");
    }
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
  /// One number; false at the end of the stream.
  bool read(std::int64_t& number) const {
    return ::read(read_end.get(), &number, sizeof number) == sizeof number;
  }
  void write(std::int64_t number) const {
    if (::write(write_end.get(), &number, sizeof number) != sizeof number) {
      throw_errno("write");
    }
  }
  /// Returns when no writer is left.
  void wait_until_closed() {
    write_end.reset();
    std::int64_t number = 0;
    while (read(number)) {
    }
  }

  Descriptor read_end;
  Descriptor write_end;
};

class StoreFault : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0); }

  std::filesystem::path path() const { return folder_.path() / "records.db"; }
  RecordStore open(Mode mode = Mode::ReadWrite) const { return RecordStore::open(path(), mode); }
  Match look_up_now() const {
    return look_up(path(), records::lookup_key(), records::session_info().versions);
  }

  /// A session with evaluations and a decision.
  void record(int num_evaluations) const {
    RecordStore store = open();
    const SessionId session = store.begin_session(records::session_info());
    for (int i = 0; i < num_evaluations; ++i) {
      store.add_evaluation(session, records::evaluation(i, 1234.5678));
    }
    store.add_decision(session, records::decision(32));
  }

  /// Flips a bit in the first byte of the last place where `pattern` is stored.
  void damage(std::string_view pattern) const {
    std::string bytes = read_file(path());
    const std::size_t position = bytes.rfind(pattern);
    ASSERT_NE(position, std::string::npos);
    bytes[position] = static_cast<char>(bytes[position] ^ 1);
    write_file_atomically(path(), bytes);
  }

  /// What opening says.
  std::string refusal(Mode mode) const {
    try {
      open(mode);
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "";
  }

 private:
  TemporaryFolder folder_{"whet-store-"};
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(StoreFault, ManyProcessesMakeAndFillAStoreAtOnce) {
  constexpr int kProcesses = 8;
  constexpr int kEvaluations = 10;
  Pipe gate;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(start_child([&] {
      gate.wait_until_closed();
      RecordStore store = open();
      const SessionId session = store.begin_session(records::session_info());
      for (int j = 0; j < kEvaluations; ++j) {
        store.add_evaluation(session, records::evaluation(j, 2000.0 + i));
      }
      return 0;
    }));
  }
  gate.write_end.reset();
  for (const pid_t child : children) {
    EXPECT_EQ(wait_for(child), 0);
  }
  const RecordStore store = open(Mode::ReadOnly);
  const std::vector<SessionRecord> sessions = store.sessions();
  EXPECT_EQ(sessions.size(), std::size_t{kProcesses});
  for (const SessionRecord& session : sessions) {
    EXPECT_EQ(session.num_evaluations, kEvaluations);
  }
  EXPECT_EQ(store.check().problems, std::vector<std::string>{});
}

TEST_F(StoreFault, AWriterWaitsForAnotherProcessToLetGo) {
  record(1);
  Pipe held;
  Pipe release;
  const pid_t holder = start_child([&] {
    release.write_end.reset();
    const sqlite::Connection connection(path(), sqlite::Access::Write);
    connection.execute("BEGIN EXCLUSIVE");
    held.write(1);
    release.wait_until_closed();
    connection.execute("COMMIT");
    return 0;
  });
  std::int64_t number = 0;
  ASSERT_TRUE(held.read(number));
  const pid_t writer = start_child([&] {
    release.write_end.reset();
    record(1);
    return 0;
  });
  release.write_end.reset();
  EXPECT_EQ(wait_for(holder), 0);
  EXPECT_EQ(wait_for(writer), 0);
  EXPECT_EQ(open(Mode::ReadOnly).sessions().size(), 2u);
}

TEST_F(StoreFault, AReaderThatWaitsInVainSaysWhoIsToBlame) {
  record(1);
  const sqlite::Connection holder(path(), sqlite::Access::Write);
  holder.execute("BEGIN EXCLUSIVE");
  const Match match = look_up_now();
  EXPECT_EQ(match.grade, Match::StoreUnavailable);
  EXPECT_TRUE(contains(match.reason, "another process held it for more than 10 s")) << match.reason;
}

TEST_F(StoreFault, AFileThatMayOnlyBeReadServesHits) {
  record(1);
  ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
  const pid_t child = start_child([&] {
    become_nobody();
    return look_up_now().grade == Match::Exact ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST_F(StoreFault, AFileThatMayOnlyBeReadRefusesAWriter) {
  record(1);
  ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
  const pid_t child = start_child([&] {
    become_nobody();
    const std::string refused = refusal(Mode::ReadWrite);
    std::fprintf(stderr, "%s\n", refused.c_str());
    return contains(refused, "may not be written") ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST_F(StoreFault, AFileWithAWriteAheadLogServesHitsFromAReadOnlyFolder) {
  record(1);
  sqlite::Connection(path(), sqlite::Access::Write).execute("PRAGMA journal_mode = WAL");
  ASSERT_EQ(read_file(path()).substr(18, 2), "\2\2");
  ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
  const pid_t child = start_child([&] {
    become_nobody();
    const Match match = look_up_now();
    std::fprintf(stderr, "%s\n", match.reason.c_str());
    return match.grade == Match::Exact ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST_F(StoreFault, AFileThatMayNotBeReadIsNoMiss) {
  record(1);
  ASSERT_EQ(::chmod(path().c_str(), 0), 0);
  const pid_t child = start_child([&] {
    become_nobody();
    return look_up_now().grade == Match::StoreUnavailable ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST_F(StoreFault, ADamagedHeaderIsRefusedAndTheFileLeftAlone) {
  record(1);
  std::string bytes = read_file(path());
  std::memset(bytes.data(), 0x5a, 16);
  write_file_atomically(path(), bytes);
  EXPECT_TRUE(contains(refusal(Mode::ReadWrite), "move it aside"));
  EXPECT_EQ(look_up_now().grade, Match::StoreUnavailable);
  EXPECT_EQ(read_file(path()), bytes);
}

TEST_F(StoreFault, AFlippedBitInASampleIsFound) {
  record(3);
  const double time_ns = 1234.5678;
  char pattern[sizeof time_ns];
  std::memcpy(pattern, &time_ns, sizeof time_ns);
  damage({pattern, sizeof pattern});
  const RecordStore store = open(Mode::ReadOnly);
  const IntegrityReport report = store.check();
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_TRUE(contains(report.problems[0], "sample block")) << report.problems[0];
  EXPECT_TRUE(contains(report.problems[0], "its CRC-32 is not the stored one"));
  EXPECT_EQ(report.num_sample_blocks, 6);
  EXPECT_THROW(store.evaluations(1), EnvironmentError);
  EXPECT_EQ(look_up_now().grade, Match::Exact);
}

TEST_F(StoreFault, AnAlteredDecisionIsNoMissAndTheNextOneHealsIt) {
  record(1);
  damage("\"tile_m\":\"32\"},\"time_ns\"");
  const Match match = look_up_now();
  EXPECT_EQ(match.grade, Match::StoreUnavailable);
  EXPECT_TRUE(contains(match.reason, "decision 1 is damaged")) << match.reason;
  record(1);
  EXPECT_EQ(look_up_now().grade, Match::Exact);
}

TEST_F(StoreFault, AnAlteredConfigurationIsFound) {
  record(40);
  damage("\"tile_m\":\"39\"");
  const IntegrityReport report = open(Mode::ReadOnly).check();
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_TRUE(contains(report.problems[0], "configuration 40")) << report.problems[0];
}

TEST_F(StoreFault, AnAlteredArtifactIsAMissUntilItIsStoredAgain) {
  const StoredArtifact artifact{.key = "k", .plan = {}, .code = "the code of a kernel"};
  open().put_artifact(artifact);
  damage(artifact.code);
  EXPECT_EQ(open(Mode::ReadOnly).artifact("k"), std::nullopt);
  EXPECT_EQ(open(Mode::ReadOnly).check().problems.size(), 1u);
  open().put_artifact(artifact);
  EXPECT_EQ(open(Mode::ReadOnly).artifact("k"), artifact);
}

TEST_F(StoreFault, ANewerSchemaIsNotTouched) {
  record(1);
  sqlite::Connection(path(), sqlite::Access::Write).execute("PRAGMA user_version = 99");
  const std::string before = read_file(path());
  for (const Mode mode : {Mode::ReadWrite, Mode::ReadOnly}) {
    const std::string refused = refusal(mode);
    EXPECT_TRUE(contains(refused, "has version 99")) << refused;
    EXPECT_TRUE(
        contains(refused, fmt::format("knows up to version {}", record_store_migrations().size()))
    ) << refused;
  }
  EXPECT_EQ(look_up_now().grade, Match::StoreUnavailable);
  EXPECT_EQ(read_file(path()), before);
}

TEST_F(StoreFault, ATruncatedFileIsFound) {
  record(50);
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) / 2);
  std::string refused = refusal(Mode::ReadOnly);
  if (refused.empty()) {
    const IntegrityReport report = open(Mode::ReadOnly).check();
    ASSERT_FALSE(report.problems.empty());
    refused = report.problems[0];
  }
  EXPECT_TRUE(contains(refused, "damaged") || contains(refused, "integrity_check")) << refused;
}

TEST_F(StoreFault, AnEmptyFileIsNoMissAndBecomesAStore) {
  write_file_atomically(path(), "");
  const Match match = look_up_now();
  EXPECT_EQ(match.grade, Match::StoreUnavailable);
  EXPECT_TRUE(contains(match.reason, "it is empty")) << match.reason;
  record(1);
  EXPECT_EQ(look_up_now().grade, Match::Exact);
}

TEST_F(StoreFault, EveryAcknowledgedEvaluationSurvivesAKill) {
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    Pipe acknowledged;
    const pid_t writer = start_child([&] {
      RecordStore store = open();
      const SessionId session = store.begin_session(records::session_info());
      acknowledged.write(session);
      for (int i = 0;; ++i) {
        store.add_evaluation(session, records::evaluation(i, 2000.0));
        acknowledged.write(i);
      }
      return 0;
    });
    acknowledged.write_end.reset();
    std::int64_t session = 0;
    ASSERT_TRUE(acknowledged.read(session));
    std::int64_t last = -1;
    while (last < 10 + 7 * round) {
      ASSERT_TRUE(acknowledged.read(last));
    }
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    EXPECT_EQ(wait_for(writer), -SIGKILL);
    for (std::int64_t number = 0; acknowledged.read(number);) {
      last = number;
    }
    const RecordStore store = open(Mode::ReadOnly);
    const std::vector<EvaluationRecord> found = store.evaluations(session);
    ASSERT_GE(std::ssize(found), last + 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].evaluation, records::evaluation(static_cast<int>(i), 2000.0));
    }
    EXPECT_EQ(store.check().problems, std::vector<std::string>{});
  }
}

class HalfDone : public StoreFault {
 protected:
  /// A writer dies when part of what it did not commit is in the file.
  void SetUp() override {
    StoreFault::SetUp();
    record(20);
    const pid_t writer = start_child([&] {
      const sqlite::Connection connection(path(), sqlite::Access::Write);
      connection.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE decision SET body = 'x'");
      connection.execute("UPDATE sample_block SET samples = zeroblob(1000)");
      ::raise(SIGKILL);
      return 0;
    });
    ASSERT_EQ(wait_for(writer), -SIGKILL);
    ASSERT_TRUE(std::filesystem::exists(journal()));
  }
  std::filesystem::path journal() const { return path().string() + "-journal"; }
};

TEST_F(HalfDone, IsUndoneByTheNextReader) {
  EXPECT_EQ(look_up_now().grade, Match::Exact);
  EXPECT_FALSE(std::filesystem::exists(journal()));
  EXPECT_EQ(open(Mode::ReadOnly).check().problems, std::vector<std::string>{});
}

TEST_F(HalfDone, IsNoMissForAReaderThatMayNotWrite) {
  const pid_t child = start_child([&] {
    become_nobody();
    return look_up_now().grade == Match::StoreUnavailable ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST_F(StoreFault, AFullDiskEndsTheWriterAndHarmsNothing) {
  record(1);
  Pipe acknowledged;
  const pid_t writer = start_child([&] {
    RecordStore store = open();
    // Past this size a write fails, as it does on a full disk.
    const rlimit limit{.rlim_cur = 256 * 1024, .rlim_max = 256 * 1024};
    ::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      throw_errno("setrlimit");
    }
    try {
      for (int i = 0; i < 10'000; ++i) {
        acknowledged.write(store.add_evaluation(1, records::evaluation(i, 2000.0)));
      }
    } catch (const EnvironmentError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 3;
    }
    return 0;
  });
  acknowledged.write_end.reset();
  std::int64_t num_acknowledged = 0;
  for (std::int64_t id = 0; acknowledged.read(id);) {
    ++num_acknowledged;
  }
  EXPECT_EQ(wait_for(writer), 3);
  EXPECT_GT(num_acknowledged, 0);
  const RecordStore store = open(Mode::ReadOnly);
  EXPECT_EQ(std::ssize(store.evaluations(1)), 1 + num_acknowledged);
  EXPECT_EQ(store.check().problems, std::vector<std::string>{});
}

}  // namespace
}  // namespace whet
