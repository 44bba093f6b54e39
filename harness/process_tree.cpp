#include "harness/process_tree.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace whet {
namespace {

namespace fs = std::filesystem;

/// The parent of a process, or 0 when it is gone. The second field of /proc/PID/stat is the
/// program's name in parentheses and may hold spaces and parentheses itself.
pid_t parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= line.size()) {
    return 0;
  }
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      children.emplace(parent_of(entry->path()), static_cast<pid_t>(std::stol(name)));
    }
  }
  return children;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  const std::multimap<pid_t, pid_t> children = children_by_parent();
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) {
      found.push_back(child->second);
    }
  }
  found.erase(found.begin());
  return found;
}

void kill_descendants(pid_t root) noexcept {
  try {
    // A stopped process starts no other, so the second round that finds nothing new has found all.
    constexpr int kMaxRounds = 20;
    std::vector<pid_t> stopped;
    for (int round = 0; round < kMaxRounds; ++round) {
      std::vector<pid_t> found = descendants_of(root);
      std::sort(found.begin(), found.end());
      if (found == stopped) {
        break;
      }
      for (const pid_t pid : found) {
        ::kill(pid, SIGSTOP);
      }
      stopped = found;
    }
    for (const pid_t pid : stopped) {
      ::kill(pid, SIGKILL);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "whet: cannot end the children of process %d: %s\n", root, error.what());
  }
}

}  // namespace whet
