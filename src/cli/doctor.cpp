#include "cli/doctor.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "jit/cuda_device.hpp"
#include "jit/nvrtc.hpp"
#include "schedule/device_limits.hpp"
#include "store/schema.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

/// First line of what a program prints, or nothing when it does not run or fails.
std::optional<std::string> first_line_of(const std::vector<std::string>& arguments) {
  try {
    const ProcessResult result =
        run_process({.arguments = arguments}, std::chrono::milliseconds(30'000));
    if (result.timed_out || result.exit.signaled || result.exit.code != 0) {
      return std::nullopt;
    }
    return result.output.substr(0, result.output.find('\n'));
  } catch (const EnvironmentError&) {
    return std::nullopt;
  }
}

Finding examine_compiler() {
  if (const auto version = first_line_of({"c++", "--version"})) {
    return {"host compiler", State::Fine, *version, ""};
  }
  return {
      "host compiler",
      State::Missing,
      "c++ does not run: nothing can be tuned for the CPU",
      "scripts/setup.sh, or apt-get install g++"};
}

Finding examine_nvrtc() {
  try {
    const Nvrtc nvrtc = find_nvrtc({});
    return {"NVRTC", State::Fine, fmt::format("{} ({})", nvrtc.version, nvrtc.path), ""};
  } catch (const Error& error) {
    return {
        "NVRTC",
        State::Optional,
        error.what(),
        "needed only for --target cuda: scripts/setup.sh installs it"};
  }
}

std::vector<Finding> examine_gpus(const Environment& environment) {
  const DriverInfo info = query_driver();
  std::vector<Finding> findings;
  if (info.driver) {
    findings.push_back(
        {"CUDA driver",
         State::Fine,
         fmt::format(
             "{} (CUDA {}), NVML {}",
             info.version.empty() ? "version unknown" : info.version,
             info.cuda_version,
             info.nvml ? "there" : "missing: clocks are not recorded"
         ),
         ""}
    );
  } else {
    findings.push_back(
        {"CUDA driver", State::Optional, info.problem, "needed only for --target cuda"}
    );
  }
  for (const CudaDeviceInfo& gpu : info.devices) {
    findings.push_back(
        {fmt::format("GPU {}", gpu.ordinal),
         State::Fine,
         fmt::format(
             "{} ({}, {})",
             gpu.name,
             cuda_arch(gpu.capability_major, gpu.capability_minor),
             gpu.uuid
         ),
         ""}
    );
  }
  if (info.driver && info.devices.empty()) {
    const auto& visible = environment.cuda_visible_devices;
    findings.push_back(
        {"GPU",
         State::Optional,
         info.problem,
         visible ? fmt::format("CUDA_VISIBLE_DEVICES is '{}': does it hide the GPU?", *visible)
                 : "needed only for --target cuda"}
    );
  }
  return findings;
}

Finding examine_program(const char* name, const Environment& environment, const char* without) {
  const fs::path program = environment.program_folder / name;
  if (access(program.c_str(), X_OK) == 0) {
    return {name, State::Fine, program.string(), ""};
  }
  return {
      name,
      State::Missing,
      fmt::format("not at {}: {}", program.string(), without),
      "scripts/setup.sh, then build all targets"};
}

Finding examine_reference(const Environment& environment) {
  Finding finding = examine_program(
      "whet-reference", environment, "no candidate can be validated without LibTorch"
  );
  if (finding.state != State::Fine) {
    return finding;
  }
  // Its help is enough: the loader brings LibTorch in before main.
  if (!first_line_of({finding.found, "--help"})) {
    finding.state = State::Missing;
    finding.found += ": does not start";
    finding.to_do = "its LibTorch moved or is missing: scripts/setup.sh, then build again";
  }
  return finding;
}

Finding examine_cores() {
  const DeviceLimits host = host_limits(0);
  return {
      "cores",
      State::Fine,
      fmt::format("{} allowed: {} ({}-byte vectors)", host.num_sms, host.name, host.vector_bytes),
      ""};
}

/// The folder exists, is ours and private, or can be made.
Finding examine_cache(const Environment& environment) {
  const fs::path& folder = environment.cache_folder;
  if (folder.empty()) {
    return {"cache folder", State::Missing, "HOME and XDG_CACHE_HOME are not set", "set one"};
  }
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    return {"cache folder", State::Fine, folder.string() + " (made on first use)", ""};
  }
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return {
        "cache folder",
        State::Missing,
        folder.string() + ": not ours, or others may write to it",
        fmt::format("chmod 700 {}, or point XDG_CACHE_HOME elsewhere", folder.string())};
  }
  return {"cache folder", State::Fine, folder.string(), ""};
}

Finding examine_configs(const Environment& environment) {
  if (environment.configs_folder.empty()) {
    return {
        "configs",
        State::Missing,
        "no configs/tolerances.json near the program",
        "run whet from its archive or checkout"};
  }
  return {"configs", State::Fine, environment.configs_folder.string(), ""};
}

Finding examine_sqlite(const DoctorOptions& options, const Environment& environment) {
  const std::string file =
      options.database.empty() ? environment.database.string() : options.database;
  std::error_code error;
  return {
      "SQLite",
      State::Fine,
      fmt::format(
          "{}, journal mode {}; records in {}{}",
          sqlite3_libversion(),
          may_use_wal(sqlite3_libversion_number(), false) ? "WAL" : "DELETE (no WAL fix yet)",
          file.empty() ? "(--db needed)" : file,
          fs::exists(file, error) ? "" : " (made on first use)"
      ),
      ""};
}

std::string_view mark(State state) {
  switch (state) {
    case State::Fine:
      return "ok      ";
    case State::Optional:
      return "optional";
    case State::Missing:
      break;
  }
  return "MISSING ";
}

Json to_json(const Finding& finding) {
  constexpr std::string_view kStates[] = {"fine", "optional", "missing"};
  return Json{
      {"name", finding.name},
      {"state", kStates[static_cast<int>(finding.state)]},
      {"found", finding.found},
      {"to_do", finding.to_do}};
}

}  // namespace

std::vector<Finding> examine(const DoctorOptions& options, const Environment& environment) {
  std::vector<Finding> findings{
      examine_cores(),
      examine_compiler(),
      examine_program("whet-compile", environment, "nothing can be compiled"),
      examine_program("whet-worker", environment, "nothing can be run"),
      examine_reference(environment),
      examine_configs(environment),
      examine_cache(environment),
      examine_sqlite(options, environment),
      examine_nvrtc()};
  for (Finding& finding : examine_gpus(environment)) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

int run_doctor(const DoctorOptions& options, const Environment& environment) {
  bool complete = true;
  Json list = Json::array();
  for (const Finding& finding : examine(options, environment)) {
    complete = complete && finding.state != State::Missing;
    if (options.json) {
      list.push_back(to_json(finding));
      continue;
    }
    fmt::print("{}  {:<14} {}\n", mark(finding.state), finding.name, finding.found);
    if (!finding.to_do.empty()) {
      fmt::print("{:>27}{}\n", "→ ", finding.to_do);
    }
  }
  if (options.json) {
    fmt::print("{}\n", Json{{"schema", "whet.doctor/1"}, {"findings", list}}.dump(2));
  }
  return complete ? 0 : 3;
}

}  // namespace whet
