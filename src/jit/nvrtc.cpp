#include "jit/nvrtc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/subprocess.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libnvrtc.so.13";
constexpr const char* kAdvice =
    "install the CUDA 13 toolkit or `pip install nvidia-cuda-nvrtc`, or name the file with "
    "--nvrtc or WHET_NVRTC";

/// Where pip's nvidia-cuda-nvrtc puts the library, below a folder of Python packages.
fs::path in_packages(const fs::path& packages) { return packages / "nvidia/cu13/lib" / kName; }

/// Files of `folder`/.venv, whichever Python it has.
std::vector<fs::path> in_virtual_environment(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& python : fs::directory_iterator(folder / ".venv/lib", error)) {
    files.push_back(in_packages(python.path() / "site-packages"));
  }
  return files;
}

/// Folders that may hold a `.venv`: the current one, and those above this program.
std::vector<fs::path> project_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path current = fs::current_path(error);
  if (!error) {
    folders.push_back(current);
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    folders.push_back(folder);
  }
  return folders;
}

/// The file among the packages of the first `python3` in PATH; nothing if there is no Python.
std::optional<fs::path> in_python() {
  constexpr std::chrono::seconds kTimeout{5};
  try {
    ProcessOptions process;
    process.arguments = {
        "python3", "-c", "import sysconfig; print(sysconfig.get_path('purelib'), end='')"};
    const ProcessResult result = run_process(process, kTimeout);
    if (!result.timed_out && !result.exit.signaled && result.exit.code == 0) {
      return in_packages(result.output);
    }
  } catch (const EnvironmentError&) {
    // No Python: one place fewer to look.
  }
  return std::nullopt;
}

/// Tries files and names in turn, and remembers where it looked.
class Search {
 public:
  bool try_name(const std::string& name) {
    std::string error;
    found_ = SharedLibrary::open(name, SharedLibrary::Lifetime::Process, error);
    tried_.push_back(fmt::format("  {}: {}", name, error));
    return found_.has_value();
  }
  bool try_file(const fs::path& file) {
    std::error_code error;
    if (fs::exists(file, error)) {
      return try_name(file.string());
    }
    tried_.push_back(fmt::format("  {}: no such file", file.string()));
    return false;
  }
  bool try_files(const std::vector<fs::path>& files) {
    for (const fs::path& file : files) {
      if (try_file(file)) {
        return true;
      }
    }
    return false;
  }
  bool try_loaded() {
    found_ = SharedLibrary::find_loaded(kName);
    return found_.has_value();
  }

  SharedLibrary take() { return std::move(*found_); }
  [[noreturn]] void fail() const {
    throw EnvironmentError(
        fmt::format("no NVRTC found; searched\n{}\n{}", fmt::join(tried_, "\n"), kAdvice)
    );
  }

 private:
  std::optional<SharedLibrary> found_;
  std::vector<std::string> tried_;
};

bool search_all(Search& search) {
  if (search.try_loaded() || search.try_name(kName)) {
    return true;
  }
  for (const fs::path& folder : project_folders()) {
    if (search.try_files(in_virtual_environment(folder))) {
      return true;
    }
  }
  if (search.try_file(fs::path("/usr/local/cuda/lib64") / kName)) {
    return true;
  }
  const std::optional<fs::path> file = in_python();
  return file && search.try_file(*file);
}

SharedLibrary load(const fs::path& chosen) {
  Search search;
  const bool found = chosen.empty() ? search_all(search) : search.try_name(chosen.string());
  if (!found) {
    search.fail();
  }
  return search.take();
}

}  // namespace

Nvrtc find_nvrtc(const fs::path& chosen) {
  Nvrtc nvrtc{.library = load(chosen), .path = "", .version = ""};
  const auto require = [&](const char* name, auto*& function) {
    if (!nvrtc.library.find(name, function)) {
      throw EnvironmentError(fmt::format("{} has no {}: {}", nvrtc.path, name, kAdvice));
    }
  };
  require("nvrtcVersion", nvrtc.get_version);
  nvrtc.path = file_of_code(reinterpret_cast<const void*>(nvrtc.get_version));
  require("nvrtcGetErrorString", nvrtc.error_text);
  require("nvrtcCreateProgram", nvrtc.create_program);
  require("nvrtcDestroyProgram", nvrtc.destroy_program);
  require("nvrtcCompileProgram", nvrtc.compile_program);
  require("nvrtcGetProgramLogSize", nvrtc.log_size);
  require("nvrtcGetProgramLog", nvrtc.log);
  require("nvrtcGetCUBINSize", nvrtc.cubin_size);
  require("nvrtcGetCUBIN", nvrtc.cubin);
  require("nvrtcSetFlowCallback", nvrtc.set_flow_callback);
  int major = 0;
  int minor = 0;
  const nvrtc::Result result = nvrtc.get_version(&major, &minor);
  if (result != nvrtc::Result::Success) {
    throw EnvironmentError(fmt::format("{}: nvrtcVersion: {}", nvrtc.path, nvrtc.error_text(result))
    );
  }
  nvrtc.version = fmt::format("{}.{}", major, minor);
  return nvrtc;
}

}  // namespace whet
