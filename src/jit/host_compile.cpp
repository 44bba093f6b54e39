#include "jit/host_compile.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/subprocess.hpp"
#include "jit/compile_log.hpp"

namespace whet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

ProcessResult run_compiler(
    const std::string& compiler,
    const std::vector<std::string>& arguments,
    const std::filesystem::path& temporary_folder,
    std::string_view text,
    steady_clock::time_point deadline
) {
  ProcessOptions process;
  process.arguments = {compiler};
  process.arguments.insert(process.arguments.end(), arguments.begin(), arguments.end());
  // English messages; and a compiler that is killed leaves its files where we delete them.
  process.set_environment = {{"LC_ALL", "C"}, {"TMPDIR", temporary_folder.string()}};
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  try {
    return run_process(process, std::max(left, milliseconds(1)), text);
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(fmt::format(
        "the host compiler does not start: {}; install g++ 12 or later, or name one with "
        "--host-compiler",
        error.what()
    ));
  }
}

}  // namespace

std::vector<std::string> host_compile_arguments(bool native) {
  std::vector<std::string> arguments = {
      "-std=c++20",
      "-O3",
      "-fPIC",
      "-shared",
      // Each op is rounded as eager rounds it.
      "-ffp-contract=off",
      // No kernel reads errno or traps, and both forbid vectorising.
      "-fno-math-errno",
      "-fno-trapping-math",
      // Scratch and the workspace hold one type after another at the same place.
      "-fno-strict-aliasing",
      "-fmax-errors=8",
  };
  if (native) {
    arguments.emplace_back("-march=native");
  }
  return arguments;
}

std::optional<std::string> host_compiler_identity(
    const std::string& compiler,
    const std::vector<std::string>& arguments,
    steady_clock::time_point deadline
) {
  const TemporaryFolder folder("whet-compiler-");
  const auto ask = [&](const std::vector<std::string>& question) -> std::optional<std::string> {
    const ProcessResult answer = run_compiler(compiler, question, folder.path(), "", deadline);
    if (answer.timed_out) {
      return std::nullopt;
    }
    if (answer.exit.signaled || answer.exit.code != 0) {
      throw EnvironmentError(fmt::format(
          "{} {}: {}: {}",
          compiler,
          question.back(),
          answer.exit.describe(),
          first_errors(answer.error_output)
      ));
    }
    return answer.output;
  };
  std::vector<std::string> macros_question = arguments;
  for (const char* argument : {"-dM", "-E", "-x", "c++", "/dev/null"}) {
    macros_question.emplace_back(argument);
  }
  const std::optional<std::string> version = ask({"--version"});
  const std::optional<std::string> macros = version ? ask(macros_question) : std::nullopt;
  if (!macros) {
    return std::nullopt;
  }
  return fmt::format("{} {}", version->substr(0, version->find('\n')), sha256_hex(*macros));
}

CompiledCode compile_on_host(
    const std::string& compiler,
    const std::vector<std::string>& arguments,
    std::string_view text,
    steady_clock::time_point deadline
) {
  const auto start = steady_clock::now();
  const TemporaryFolder folder("whet-compile-");
  const std::filesystem::path object = folder.path() / "kernel.so";
  // Libraries among the arguments must come behind the text.
  std::vector<std::string> all = {"-x", "c++", "-", "-o", object.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const ProcessResult result = run_compiler(compiler, all, folder.path(), text, deadline);
  if (result.timed_out) {
    const auto waited = std::chrono::round<milliseconds>(steady_clock::now() - start);
    return {
        .status = Status::CompileTimedOut,
        .detail = fmt::format("{} did not end within {} ms", compiler, waited.count()),
    };
  }
  if (result.error_output.find("No space left on device") != std::string::npos) {
    throw EnvironmentError(
        fmt::format("{}: {}", folder.path().string(), first_errors(result.error_output))
    );
  }
  if (result.exit.signaled || result.exit.code != 0) {
    return {
        .status = Status::CompileFailed,
        .detail = fmt::format(
            "{}: {}\n{}", compiler, result.exit.describe(), first_errors(result.error_output)
        ),
    };
  }
  return {.bytes = read_file(object)};
}

}  // namespace whet
