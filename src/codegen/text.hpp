#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace whet {

/// Emitted text, indented by two spaces a level.
class TextWriter {
 public:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    raw_line(fmt::format(text, std::forward<Args>(args)...));
  }
  /// A line that ends in "{" and opens a level.
  template <typename... Args>
  void open(fmt::format_string<Args...> text, Args&&... args) {
    raw_line(fmt::format(text, std::forward<Args>(args)...) + " {");
    ++level_;
  }
  void close(std::string_view after = "");
  void blank() { text_ += '\n'; }
  void raw_line(const std::string& text);
  /// Text as it is, such as a helper file.
  void verbatim(std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int level_ = 0;
};

/// "mm1.fwd" as an identifier: "mm1_fwd".
std::string identifier(const std::string& name);
/// "mm1_fwd" as a type: "Mm1Fwd".
std::string type_name(const std::string& name);
/// An f32 constant that every compiler reads back bit for bit.
std::string f32_literal(float value);

}  // namespace whet
