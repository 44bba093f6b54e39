// Reads every #include of ours and holds it to the table of docs/architecture.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

/// What each folder may use directly; what those use, it may use too. src/cli may use all.
const std::map<std::string, Names> kDependsOn = {
    {"base", {}},
    {"stats", {"base"}},
    {"ir", {"base"}},
    {"schedule", {"ir"}},
    {"artifact", {"schedule"}},
    {"codegen", {"artifact"}},
    {"model", {"schedule"}},
    {"jit", {"codegen", "evaluation"}},
    {"timing", {"stats"}},
    {"evaluation", {"schedule"}},
    {"store", {"evaluation", "artifact"}},
    {"retrieval", {"store", "codegen", "jit"}},
    {"report", {"store", "stats", "model"}},
    {"harness", {"evaluation", "artifact", "timing"}},
    {"harness children", {"harness", "codegen", "jit"}},
    {"tuner", {"stats", "model", "store", "harness"}},
};

struct SourceFile {
  std::vector<std::string> quoted;  ///< project includes
  std::vector<std::string> angled;
};
using Tree = std::map<std::string, SourceFile>;  ///< by path from the repository root

SourceFile parse_includes(const std::string& text) {
  static const std::regex pattern(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"])");
  SourceFile file;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    ((*it)[1] == "<" ? file.angled : file.quoted).push_back((*it)[2]);
  }
  return file;
}

/// The names, without extension, of the sources that a CMake target of harness/ lists.
Names sources_of(const std::string& target) {
  const fs::path folder = fs::path(WHET_SOURCE_DIR) / "harness";
  const std::string text =
      read_file(folder / "CMakeLists.txt") + read_file(folder / "processes.cmake");
  std::smatch list;
  Names names;
  if (std::regex_search(
          text, list, std::regex("add_(?:library|executable)\\(" + target + "\\s([^)]*)\\)")
      )) {
    const std::string sources = list[1];
    const std::regex source(R"((\w+)\.cpp)");
    for (std::sregex_iterator it(sources.begin(), sources.end(), source), end; it != end; ++it) {
      names.insert((*it)[1]);
    }
  }
  return names;
}

Names sources_of_all(std::initializer_list<const char*> targets) {
  Names names;
  for (const char* target : targets) {
    names.merge(sources_of(target));
  }
  return names;
}

/// Which files of harness/ belong to the child programs, and which of those to whet-reference.
struct HarnessParts {
  Names children = sources_of_all(
      {"whet_worker_parts",
       "whet_compile_parts",
       "whet_probe_parts",
       "whet_reference_parts",
       "whet-worker",
       "whet-compile",
       "whet-calibrate",
       "whet-reference"}
  );
  Names reference = sources_of_all({"whet_reference_parts", "whet-reference"});
};

bool is_harness_part(const std::string& path, const Names& parts) {
  return path.starts_with("harness/") && parts.contains(fs::path(path).stem().string());
}

std::string layer_of(const std::string& path, const HarnessParts& parts) {
  if (is_harness_part(path, parts.children)) {
    return "harness children";
  }
  const std::string rest = path.starts_with("src/") ? path.substr(4) : path;
  return rest.substr(0, rest.find('/'));
}

bool may_use(const std::string& from, const std::string& to) {
  if (from == to || (from == "cli" && to != "harness children")) {
    return true;
  }
  const auto direct = kDependsOn.find(from);
  return direct != kDependsOn.end() &&
         std::any_of(direct->second.begin(), direct->second.end(), [&](const auto& next) {
           return may_use(next, to);
         });
}

bool is_torch_header(const std::string& header) {
  return header.starts_with("ATen/") || header.starts_with("torch/") || header.starts_with("c10/");
}

bool is_cuda_header(const std::string& header) {
  static const std::regex pattern(
      "(cuda|nv|cupti|cublas|cudnn|curand|cooperative_groups|cub/|cute/|cutlass/|thrust/|mma\\.h).*"
  );
  return std::regex_match(header, pattern);
}

/// The file of ours that a quoted include means, as the two include roots say.
std::optional<std::string> resolve(const Tree& tree, const std::string& include) {
  for (const std::string& path : {"src/" + include, include}) {
    if (tree.contains(path)) {
      return path;
    }
  }
  return std::nullopt;
}

std::vector<std::string> find_forbidden_arrows(const Tree& tree, const HarnessParts& parts) {
  std::vector<std::string> forbidden;
  for (const auto& [path, file] : tree) {
    for (const std::string& include : file.quoted) {
      const std::optional<std::string> used = resolve(tree, include);
      if (!used || !may_use(layer_of(path, parts), layer_of(*used, parts))) {
        forbidden.push_back(path + ": " + include);
      }
    }
  }
  return forbidden;
}

std::vector<std::string> find_foreign_headers(const Tree& tree, const HarnessParts& parts) {
  std::vector<std::string> forbidden;
  // Calls itself for what `path` includes, so that a header cannot hide LibTorch from this test.
  std::function<void(const std::string&, const std::string&, Names&)> visit =
      [&](const std::string& user, const std::string& path, Names& seen) {
        if (!seen.insert(path).second) {
          return;
        }
        for (const std::string& header : tree.at(path).angled) {
          if (is_cuda_header(header) ||
              (is_torch_header(header) && !is_harness_part(user, parts.reference))) {
            forbidden.push_back(user + ": " + header + (user == path ? "" : " through " + path));
          }
        }
        for (const std::string& include : tree.at(path).quoted) {
          if (const auto next = resolve(tree, include)) {
            visit(user, *next, seen);
          }
        }
      };
  for (const auto& [path, file] : tree) {
    Names seen;
    visit(path, path, seen);
  }
  return forbidden;
}

Tree read_tree() {
  Tree tree;
  const fs::path root = WHET_SOURCE_DIR;
  const Names extensions = {".cpp", ".hpp", ".h", ".cu", ".cuh"};
  for (const char* folder : {"src", "harness", "tuner"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && extensions.contains(entry.path().extension().string())) {
        tree[fs::relative(entry.path(), root).generic_string()] =
            parse_includes(read_file(entry.path()));
      }
    }
  }
  return tree;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

TEST(Layers, HaveOnlyTheArrowsOfTheTable) {
  EXPECT_EQ(joined(find_forbidden_arrows(read_tree(), HarnessParts())), "");
}

TEST(Layers, KeepLibTorchInTheReferenceAndCudaHeadersOut) {
  EXPECT_EQ(joined(find_foreign_headers(read_tree(), HarnessParts())), "");
}

TEST(Layers, KnowWhichFilesBelongToTheChildPrograms) {
  const HarnessParts parts;
  EXPECT_TRUE(parts.children.contains("worker_main"));
  EXPECT_TRUE(parts.children.contains("compile_main"));
  EXPECT_TRUE(parts.reference.contains("reference_main"));
  EXPECT_FALSE(parts.reference.contains("worker_main"));
}

TEST(LayersTest, FindsIncludesButNotTextAboutThem) {
  const SourceFile file = parse_includes(
      "#pragma once\n#include <vector>\n  # include \"ir/program.hpp\"\n"
      "// #include <cuda.h>\nauto s = \"#include <cuda.h>\";\n#include <fmt/format.h>"
  );
  EXPECT_EQ(file.angled, (std::vector<std::string>{"vector", "fmt/format.h"}));
  EXPECT_EQ(file.quoted, (std::vector<std::string>{"ir/program.hpp"}));
}

TEST(LayersTest, RefusesArrowsBackAndUnknownFiles) {
  const HarnessParts parts{.children = {"worker_main"}, .reference = {}};
  const Tree tree = {
      {"src/base/a.hpp", {}},
      {"src/jit/b.hpp", {.quoted = {"base/a.hpp"}, .angled = {}}},
      {"src/ir/c.cpp", {.quoted = {"jit/b.hpp", "base/a.hpp", "absent.hpp"}, .angled = {}}},
      {"harness/worker_main.cpp", {.quoted = {"jit/b.hpp"}, .angled = {}}},
      {"harness/parent.cpp", {.quoted = {"jit/b.hpp"}, .angled = {}}},
  };
  EXPECT_EQ(
      joined(find_forbidden_arrows(tree, parts)),
      "harness/parent.cpp: jit/b.hpp\nsrc/ir/c.cpp: jit/b.hpp\nsrc/ir/c.cpp: absent.hpp\n"
  );
}

TEST(LayersTest, RefusesForeignHeadersEvenThroughOurs) {
  const HarnessParts parts{.children = {"walk"}, .reference = {"walk"}};
  const Tree tree = {
      {"harness/walk.hpp", {.quoted = {}, .angled = {"ATen/ATen.h"}}},
      {"harness/parent.cpp", {.quoted = {"harness/walk.hpp"}, .angled = {}}},
      {"src/jit/driver.cpp", {.quoted = {}, .angled = {"cuda.h", "vector"}}},
  };
  EXPECT_EQ(
      joined(find_foreign_headers(tree, parts)),
      "harness/parent.cpp: ATen/ATen.h through harness/walk.hpp\nsrc/jit/driver.cpp: cuda.h\n"
  );
}

}  // namespace
}  // namespace whet
