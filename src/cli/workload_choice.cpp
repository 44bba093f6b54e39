#include "cli/workload_choice.hpp"

#include <charconv>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

/// The path that the user means; an unreadable one is left for the parser to report.
fs::path find_file(const std::string& name, const Environment& environment) {
  std::error_code error;
  if (fs::exists(name, error) || name.find('/') != std::string::npos ||
      environment.workloads_folder.empty()) {
    return name;
  }
  for (const fs::path& shipped :
       {environment.workloads_folder / name, environment.workloads_folder / (name + ".json")}) {
    if (fs::exists(shipped, error)) {
      return shipped;
    }
  }
  return name;
}

WorkloadChoice load(const fs::path& path, const DimOverrides& dims) {
  WorkloadChoice choice;
  choice.workload = load_workload(path, dims);
  choice.source = {
      .text = read_file(path, JsonCursor::kMaxBytes), .name = path.string(), .dims = dims};
  choice.name = choice.workload.name;
  choice.key = workload_key(choice.workload.step);
  return choice;
}

}  // namespace

DimOverrides parse_dims(const std::vector<std::string>& texts) {
  DimOverrides dims;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    std::int64_t size = 0;
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, size);
    if (name.empty() || error != std::errc() || stop != end) {
      throw UserError(fmt::format("--dim: expected name=size, found '{}'", text));
    }
    if (!dims.emplace(name, size).second) {
      throw UserError(fmt::format("--dim: '{}' is given twice", name));
    }
  }
  return dims;
}

WorkloadChoice choose_workload(
    const std::string& file, const DimOverrides& dims, const Environment& environment
) {
  return load(find_file(file, environment), dims);
}

std::vector<WorkloadChoice> choose_suite(
    const std::string& file, const DimOverrides& dims, const Environment& environment
) {
  std::vector<WorkloadChoice> choices;
  for (const SuiteEntry& entry : load_suite(find_file(file, environment)).entries) {
    DimOverrides merged = dims;
    merged.insert(entry.dims.begin(), entry.dims.end());
    WorkloadChoice choice = load(entry.workload, merged);
    choice.name = entry.name;
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace whet
