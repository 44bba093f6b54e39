#pragma once

#include <string>
#include <vector>

namespace whet {

struct HtmlColumn {
  std::string name;
  bool is_number = false;  ///< stands at the right
};

/// A table of a page. Cells are markup, column names and the caption are text.
class HtmlTable {
 public:
  /// `caption` is for who cannot see the page.
  HtmlTable(const std::string& caption, const std::vector<HtmlColumn>& columns);

  /// The first cell names the row.
  void row(const std::vector<std::string>& cells);
  std::string markup() const;

 private:
  std::vector<HtmlColumn> columns_;
  std::string head_;
  std::string body_;
};

}  // namespace whet
