// Refusals of a suite file, with their messages.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "error/workload_refusal.hpp"

namespace whet {
namespace {

using testing::kBase;

/// What is said about a suite with the given entries, beside a workload w.json; the folder reads F.
std::string suite_refusal(const std::string& entries, const std::string& schema = "whet.suite/1") {
  const TemporaryFolder folder("whet-suite");
  write_file_atomically(folder.path() / "w.json", kBase);
  const std::filesystem::path path = folder.path() / "s.json";
  write_file_atomically(
      path, R"({"schema": ")" + schema + R"(", "name": "s", "entries": )" + entries + "}"
  );
  try {
    load_suite(path);
  } catch (const UserError& error) {
    std::string message = error.what();
    const std::string prefix = folder.path().string();
    for (std::size_t at = message.find(prefix); at != std::string::npos;
         at = message.find(prefix)) {
      message.replace(at, prefix.size(), "F");
    }
    return message;
  }
  return "accepted";
}

TEST(SuiteFile, MustHaveTheSchema) {
  EXPECT_EQ(
      suite_refusal("[]", "whet.workload/1"),
      R"(F/s.json: $.schema: expected "whet.suite/1", found the string "whet.workload/1")"
  );
}

TEST(SuiteFile, MustNameFilesThatExist) {
  EXPECT_EQ(
      suite_refusal(R"([{"workload": "none.json"}])"),
      "F/s.json: $.entries[0].workload: expected a workload file, relative to this one, found "
      "F/none.json"
  );
}

TEST(SuiteFile, MustHaveDistinctNames) {
  EXPECT_EQ(
      suite_refusal(R"([{"workload": "w.json"}, {"workload": "w.json", "dims": {"n": 2}}])"),
      R"(F/s.json: $.entries[1]: expected a name of its own for each entry, found "w" a second time )"
      R"((set "as"))"
  );
}

TEST(SuiteFile, MustHaveEntries) {
  EXPECT_EQ(
      suite_refusal("[]"), "F/s.json: $.entries: expected at least one entry, found an array of 0"
  );
}

TEST(SuiteFile, MayNotHaveUnknownKeysOrOddDimensions) {
  EXPECT_EQ(
      suite_refusal(R"([{"workload": "w.json", "dim": {}}])"),
      R"(F/s.json: $.entries[0]: expected only the keys "workload", "dims", "as", found "dim" )"
      R"((did you mean "dims"?))"
  );
  EXPECT_EQ(
      suite_refusal(R"([{"workload": "w.json", "dims": {"n": "4"}}])"),
      "F/s.json: $.entries[0].dims.n: expected an integer from 0 to 2147483648, found the string "
      "\"4\""
  );
}

}  // namespace
}  // namespace whet
