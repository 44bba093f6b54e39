#include "jit/cubin_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.hpp"
#include "base/files.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

const ArtifactIdentity kIdentity{
    .target = "cuda sm_90a",
    .compiler = "NVRTC 13.0",
    .arguments = {"-a", "-b"},
    .source_sha256 = "00"};
const Resources kResources{
    .registers = 40,
    .spill_store_bytes = 1,
    .spill_load_bytes = 2,
    .static_shared_bytes = 3,
    .dynamic_shared_bytes = 4,
    .code_bytes = 5};

class CubinCacheTest : public testing::Test {
 protected:
  fs::path folder() const { return parent_.path() / "cache"; }
  void overwrite(const fs::path& file, const std::string& bytes) const {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string refusal() const {
    try {
      const CubinCache cache(folder());
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder parent_{"whet-cache-test-"};
  const std::string key_ = artifact_key(kIdentity);
  const std::string bytes_ = std::string("cubin\0bytes", 11);
};

TEST_F(CubinCacheTest, GivesBackWhatWasStored) {
  const CubinCache cache(folder());
  EXPECT_FALSE(cache.find(key_, ".cubin"));
  cache.store(key_, ".cubin", bytes_, kResources);
  const std::optional<CubinCache::Entry> entry = cache.find(key_, ".cubin");
  ASSERT_TRUE(entry);
  EXPECT_EQ(read_file(entry->artifact), bytes_);
  EXPECT_EQ(entry->resources, kResources);
}

TEST_F(CubinCacheTest, DoesNotCountAnAlteredArtifact) {
  const CubinCache cache(folder());
  const fs::path artifact = cache.store(key_, ".cubin", bytes_, kResources).artifact;
  std::string flipped = bytes_;
  flipped[3] = static_cast<char>(flipped[3] ^ 1);
  for (const std::string& content : {std::string(), bytes_.substr(0, 5), flipped}) {
    overwrite(artifact, content);
    EXPECT_FALSE(cache.find(key_, ".cubin"));
  }
  cache.store(key_, ".cubin", bytes_, kResources);
  EXPECT_TRUE(cache.find(key_, ".cubin"));
}

TEST_F(CubinCacheTest, DoesNotCountAnArtifactWithABrokenNote) {
  const CubinCache cache(folder());
  const fs::path artifact = cache.store(key_, ".cubin", bytes_, kResources).artifact;
  const fs::path note = fs::path(artifact).replace_extension(".json");
  for (const std::string& content :
       {std::string(), std::string("{}"), read_file(note).substr(0, 30)}) {
    overwrite(note, content);
    EXPECT_FALSE(cache.find(key_, ".cubin"));
  }
  fs::remove(note);
  EXPECT_FALSE(cache.find(key_, ".cubin"));
}

TEST_F(CubinCacheTest, LeavesNothingElseInTheFolder) {
  CubinCache(folder()).store(key_, ".cubin", bytes_, kResources);
  const auto files = fs::directory_iterator(folder());
  EXPECT_EQ(std::distance(fs::begin(files), fs::end(files)), 2);
}

TEST_F(CubinCacheTest, MakesItsFolderPrivate) {
  const CubinCache cache(folder() / "deeper" / "");
  struct stat status {};
  ASSERT_EQ(stat((folder() / "deeper").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST_F(CubinCacheTest, RefusesAFolderThatOthersMayWriteTo) {
  fs::create_directory(folder());
  for (const fs::perms write : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder(), fs::perms::owner_all | write);
    EXPECT_NE(refusal().find("others may write to it"), std::string::npos) << refusal();
  }
}

TEST_F(CubinCacheTest, RefusesAFolderOfAnotherUser) {
  fs::create_directory(folder());
  if (::chown(folder().c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  EXPECT_NE(refusal().find("belongs to user 12345"), std::string::npos) << refusal();
}

TEST_F(CubinCacheTest, RefusesALink) {
  fs::create_directory_symlink(parent_.path(), folder());
  EXPECT_NE(refusal().find("is not a folder"), std::string::npos) << refusal();
}

TEST(ArtifactKey, DependsOnEachField) {
  ArtifactIdentity target = kIdentity;
  target.target = "cuda sm_90";
  ArtifactIdentity compiler = kIdentity;
  compiler.compiler = "NVRTC 13.1";
  ArtifactIdentity arguments = kIdentity;
  arguments.arguments = {"-a -b"};
  ArtifactIdentity source = kIdentity;
  source.source_sha256 = "01";
  for (const ArtifactIdentity& other : {target, compiler, arguments, source}) {
    EXPECT_NE(artifact_key(other), artifact_key(kIdentity));
  }
}

}  // namespace
}  // namespace whet
