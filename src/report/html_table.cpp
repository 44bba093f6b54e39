#include "report/html_table.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "report/markup.hpp"

namespace whet {
namespace {

std::string class_of(const HtmlColumn& column) {
  return column.is_number ? " class=\"number\"" : "";
}

}  // namespace

HtmlTable::HtmlTable(const std::string& caption, const std::vector<HtmlColumn>& columns)
    : columns_(columns),
      head_(fmt::format("<caption>{}</caption>\n<thead><tr>", escape_markup(caption))) {
  for (const HtmlColumn& column : columns_) {
    head_ +=
        fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), escape_markup(column.name));
  }
  head_ += "</tr></thead>\n";
}

void HtmlTable::row(const std::vector<std::string>& cells) {
  WHET_CHECK(cells.size() == columns_.size(), "a cell a column");
  body_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    body_ += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", class_of(columns_[i]), cells[i])
                    : fmt::format("<td{}>{}</td>", class_of(columns_[i]), cells[i]);
  }
  body_ += "</tr>\n";
}

std::string HtmlTable::markup() const {
  return fmt::format(
      "<div class=\"scroll\"><table>{}<tbody>\n{}</tbody></table></div>\n", head_, body_
  );
}

}  // namespace whet
