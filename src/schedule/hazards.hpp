#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// What find_hazards() found, each line once, and what its checks ask of a schedule.
class Hazards {
 public:
  /// `program` knows the schedule's shadows as state. Both must outlive the object.
  Hazards(const Program& program, const Schedule& schedule)
      : program_(program), schedule_(schedule) {}

  template <typename... Args>
  void report(fmt::format_string<Args...> text, Args&&... args) {
    std::string line = fmt::format(text, std::forward<Args>(args)...);
    if (seen_.insert(line).second) {
      lines_.push_back(std::move(line));
    }
  }
  const std::vector<std::string>& lines() const { return lines_; }

  std::string name_of(ValueId v) const;
  const std::string& symbol(int buffer) const;
  /// Whether two buffers have bytes in common.
  bool overlap(int a, int b) const;

 private:
  const Program& program_;
  const Schedule& schedule_;
  std::vector<std::string> lines_;
  std::set<std::string> seen_;
};

}  // namespace whet
