#include "jit/compile_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace whet {
namespace {

std::string_view line_at(std::string_view text, std::size_t position) {
  const std::size_t newline =
      position == 0 ? std::string_view::npos : text.rfind('\n', position - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return text.substr(begin);
}

/// The integer that stands before `unit`, as 16 in "16 bytes spill stores".
std::optional<std::int64_t> number_before(std::string_view text, std::string_view unit) {
  const std::size_t end = text.find(unit);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') {
    --begin;
  }
  std::int64_t number = 0;
  const auto [_, error] = std::from_chars(text.data() + begin, text.data() + end, number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string first_errors(std::string_view log, std::size_t max_bytes) {
  std::size_t error = std::string_view::npos;
  for (const std::string_view mark : {"error", "Error", "fatal"}) {
    error = std::min(error, log.find(mark));
  }
  std::string_view text = error == std::string_view::npos ? log : line_at(log, error);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) {
    text.remove_suffix(1);
  }
  if (text.size() <= max_bytes) {
    return std::string(text);
  }
  const std::size_t newline = text.rfind('\n', max_bytes);
  const std::size_t cut = newline == std::string_view::npos || newline == 0 ? max_bytes : newline;
  return fmt::format("{}\n… ({} more bytes)", text.substr(0, cut), text.size() - cut);
}

std::optional<PtxasReport> parse_ptxas_report(std::string_view log, std::string_view entry) {
  constexpr std::string_view kHeading = "Compiling entry function '";
  const std::size_t begin = log.find(fmt::format("{}{}'", kHeading, entry));
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view section = log.substr(begin + kHeading.size());
  section = section.substr(0, section.find(kHeading));
  const std::optional<std::int64_t> registers = number_before(section, " registers");
  if (!registers) {
    return std::nullopt;
  }
  // ptxas leaves out what is zero.
  return PtxasReport{
      .registers = *registers,
      .spill_store_bytes = number_before(section, " bytes spill stores").value_or(0),
      .spill_load_bytes = number_before(section, " bytes spill loads").value_or(0),
      .static_shared_bytes = number_before(section, " bytes smem").value_or(0),
  };
}

}  // namespace whet
