#include "codegen/text.hpp"

#include <bit>
#include <cctype>
#include <cmath>

namespace whet {

void TextWriter::raw_line(const std::string& text) {
  text_.append(static_cast<std::size_t>(2 * level_), ' ');
  text_ += text;
  text_ += '\n';
}

void TextWriter::close(std::string_view after) {
  --level_;
  raw_line("}" + std::string(after));
}

void TextWriter::verbatim(std::string_view text) {
  text_ += text;
  if (!text.empty() && text.back() != '\n') {
    text_ += '\n';
  }
}

std::string identifier(const std::string& name) {
  std::string result = name;
  for (char& c : result) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return result;
}

std::string type_name(const std::string& name) {
  std::string result;
  bool upper = true;
  for (const char c : identifier(name)) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result;
}

std::string f32_literal(float value) {
  if (!std::isfinite(value)) {
    return fmt::format("f32_from_bits(0x{:08x}u)", std::bit_cast<std::uint32_t>(value));
  }
  const std::string shortest = fmt::format("{}", value);
  const bool integral = shortest.find_first_of(".e") == std::string::npos;
  return shortest + (integral ? ".0f" : "f");
}

}  // namespace whet
