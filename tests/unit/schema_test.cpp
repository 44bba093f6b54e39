#include "store/schema.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/files.hpp"

namespace whet {
namespace {

using sqlite::Connection;
using sqlite::Statement;

constexpr std::array kSteps{
    "CREATE TABLE a(x INTEGER) STRICT; INSERT INTO a VALUES(1)",
    "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1",
    "CREATE TABLE b(z INTEGER) STRICT; INSERT INTO missing VALUES(1)"};

class Schema : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "records.db"; }

  std::unique_ptr<Connection> open(std::size_t num_steps) const {
    return open_for_writing(path(), Migrations(kSteps).first(num_steps));
  }

  static std::int64_t integer(const Connection& connection, const std::string& sql) {
    Statement statement(connection, sql);
    return statement.step() ? statement.integer(0) : -1;
  }

  static std::string refusal(const std::function<void()>& open) {
    try {
      open();
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "";
  }

 private:
  TemporaryFolder folder_{"whet-store-"};
};

TEST_F(Schema, MarksANewFileAsOurs) {
  const auto connection = open(1);
  EXPECT_EQ(integer(*connection, "PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(integer(*connection, "PRAGMA user_version"), 1);
}

TEST_F(Schema, BringsAnOlderFileUpToDateWithItsRows) {
  open(1);
  const auto connection = open(2);
  EXPECT_EQ(integer(*connection, "PRAGMA user_version"), 2);
  EXPECT_EQ(integer(*connection, "SELECT y FROM a"), 2);
}

TEST_F(Schema, LeavesNothingOfAStepThatFails) {
  open(2);
  EXPECT_THROW(open(3), sqlite::Failure);
  const Connection connection(path(), sqlite::Access::Read);
  EXPECT_EQ(integer(connection, "PRAGMA user_version"), 2);
  EXPECT_EQ(integer(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
}

TEST_F(Schema, RefusesANewerFileAndSaysBothVersions) {
  open(2);
  const std::string before = read_file(path());
  const std::string refused = refusal([&] { open(1); });
  EXPECT_NE(
      refused.find(
          "its schema has version 2, and this whet knows up to version 1; it was not touched. Use "
          "the whet that wrote it or a later one"
      ),
      std::string::npos
  ) << refused;
  EXPECT_EQ(read_file(path()), before);
}

TEST_F(Schema, DoesNotReadAnOlderFileThatOnlyAWriterCouldUpdate) {
  open(1);
  const std::string refused =
      refusal([&] { open_for_reading(path(), Migrations(kSteps).first(2)); });
  EXPECT_NE(refused.find("has version 1, and version 2 is expected"), std::string::npos) << refused;
}

TEST_F(Schema, RefusesADatabaseOfAnotherProgram) {
  Connection(path(), sqlite::Access::Write).execute("CREATE TABLE theirs(x)");
  const std::string before = read_file(path());
  const std::string refused = refusal([&] { open(1); });
  EXPECT_NE(refused.find("is another program's"), std::string::npos) << refused;
  EXPECT_EQ(read_file(path()), before);
}

TEST_F(Schema, RefusesAFileThatIsNoDatabase) {
  write_file_atomically(path(), std::string(4096, 'x'));
  const std::string refused = refusal([&] { open(1); });
  EXPECT_NE(refused.find("not a database"), std::string::npos) << refused;
  EXPECT_EQ(read_file(path()), std::string(4096, 'x'));
}

TEST_F(Schema, HoldsForeignKeysAndDoesNotTrustTheSchema) {
  const auto connection = open(1);
  EXPECT_EQ(integer(*connection, "PRAGMA foreign_keys"), 1);
  EXPECT_EQ(integer(*connection, "PRAGMA trusted_schema"), 0);
  EXPECT_EQ(integer(*connection, "PRAGMA synchronous"), 2);
}

TEST_F(Schema, NamesWhatDiffersFromOurs) {
  const auto connection = open(1);
  connection->execute("DROP TABLE a; CREATE TABLE a(x TEXT) STRICT; CREATE TABLE c(x)");
  EXPECT_EQ(
      schema_differences(*connection, Migrations(kSteps).first(1)),
      (std::vector<std::string>{
          "schema: table a: expected CREATE TABLE a(x INTEGER) STRICT, found CREATE TABLE a(x "
          "TEXT) "
          "STRICT",
          "schema: table c is not ours"})
  );
}

TEST_F(Schema, UsesAWriteAheadLogOnlyWhereItIsSafe) {
  EXPECT_FALSE(may_use_wal(3040001, false));
  EXPECT_FALSE(may_use_wal(3051002, false));
  EXPECT_TRUE(may_use_wal(3051003, false));
  EXPECT_FALSE(may_use_wal(3051003, true));
}

}  // namespace
}  // namespace whet
