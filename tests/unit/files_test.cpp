#include "base/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "base/error.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

std::string message_of_reading(const fs::path& path, std::size_t max_bytes = SIZE_MAX) {
  try {
    read_file(path, max_bytes);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Files, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder("whet-test-");
  std::string bytes("a\0b\r\n", 5);
  bytes += std::string(300'000, 'x');
  const fs::path path = folder.path() / "new" / "folder" / "file";
  write_file_atomically(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
}

TEST(Files, ReplacesAFileAndLeavesNothingElse) {
  const TemporaryFolder folder("whet-test-");
  write_file_atomically(folder.path() / "file", "old and long");
  write_file_atomically(folder.path() / "file", "");
  EXPECT_EQ(read_file(folder.path() / "file"), "");
  const auto num_entries = std::distance(fs::directory_iterator(folder.path()), {});
  EXPECT_EQ(num_entries, 1);
}

TEST(Files, LeavesTheTargetAndNoTemporaryFileWhenRenamingFails) {
  const TemporaryFolder folder("whet-test-");
  fs::create_directories(folder.path() / "target" / "in the way");
  EXPECT_THROW(write_file_atomically(folder.path() / "target", "x"), EnvironmentError);
  EXPECT_TRUE(fs::exists(folder.path() / "target" / "in the way"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, ReadsFilesThatHideTheirSize) { EXPECT_NE(read_file("/proc/self/status"), ""); }

TEST(Files, NamesTheFileAndTheReasonWhenReadingFails) {
  const TemporaryFolder folder("whet-test-");
  const std::string base = folder.path().string();
  EXPECT_EQ(
      message_of_reading(folder.path() / "absent"),
      "cannot read " + base + "/absent: No such file or directory"
  );
  EXPECT_EQ(message_of_reading(folder.path()), "cannot read " + base + ": Is a directory");
}

TEST(Files, RefusesAFileAboveTheLimit) {
  const TemporaryFolder folder("whet-test-");
  const fs::path path = folder.path() / "file";
  write_file_atomically(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_EQ(message_of_reading(path, 4), "cannot read " + path.string() + ": larger than 4 bytes");
  EXPECT_EQ(message_of_reading("/dev/zero", 1000), "cannot read /dev/zero: larger than 1000 bytes");
}

TEST(TemporaryFolder, IsPrivateAndGoesWithItsContent) {
  fs::path path;
  {
    const TemporaryFolder folder("whet-test-");
    path = folder.path();
    write_file_atomically(path / "a" / "b", "x");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0700u);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, TakesAnAbsolutePrefix) {
  const TemporaryFolder outer("whet-test-");
  const TemporaryFolder inner((outer.path() / "in-").string());
  EXPECT_EQ(inner.path().parent_path(), outer.path());
  EXPECT_THROW(TemporaryFolder("/absent/folder/x"), EnvironmentError);
}

}  // namespace
}  // namespace whet
