#include <algorithm>

#include "base/error.hpp"
#include "base/json.hpp"
#include "ir/file_names.hpp"
#include "ir/workload.hpp"

namespace whet {
namespace {

DimOverrides read_overrides(const JsonCursor& entry) {
  DimOverrides dims;
  if (const std::optional<JsonCursor> given = entry.find("dims")) {
    for (const auto& [name, size] : given->members()) {
      dims.emplace(name, size.as_integer(0, kMaxDim));
    }
  }
  return dims;
}

SuiteEntry read_entry(const JsonCursor& entry, const std::filesystem::path& folder) {
  entry.allow_only({"workload", "dims", "as"});
  const JsonCursor workload = entry.at("workload");
  SuiteEntry result{
      .workload = folder / std::filesystem::path(read_name(workload)),
      .dims = read_overrides(entry),
      .name = ""};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(result.workload, ignored)) {
    workload.fail("a workload file, relative to this one", result.workload.string());
  }
  const std::optional<JsonCursor> name = entry.find("as");
  result.name = name ? read_name(*name) : result.workload.stem().string();
  return result;
}

}  // namespace

Suite load_suite(const std::filesystem::path& path) {
  constexpr std::string_view kSchema = "whet.suite/1";
  const JsonCursor root = JsonCursor::parse_file(path);
  const JsonCursor schema = root.at("schema");
  if (schema.as_string() != kSchema) {
    schema.fail(fmt::format("\"{}\"", kSchema));
  }
  root.allow_only({"schema", "name", "about", "entries"});
  Suite suite{.name = read_name(root.at("name")), .about = "", .entries = {}};
  if (const std::optional<JsonCursor> about = root.find("about")) {
    suite.about = about->as_string();
  }
  for (const JsonCursor& entry : root.at("entries").items()) {
    SuiteEntry read = read_entry(entry, path.parent_path());
    const bool taken =
        std::any_of(suite.entries.begin(), suite.entries.end(), [&](const SuiteEntry& other) {
          return other.name == read.name;
        });
    if (taken) {
      entry.fail(
          "a name of its own for each entry",
          fmt::format("{} a second time (set \"as\")", quoted_name(read.name))
      );
    }
    suite.entries.push_back(std::move(read));
  }
  if (suite.entries.empty()) {
    root.at("entries").fail("at least one entry");
  }
  return suite;
}

}  // namespace whet
