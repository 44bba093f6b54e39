#include "report/html.hpp"

#include <fmt/format.h>

#include "report/html_sections.hpp"
#include "report/markup.hpp"
#include "report/page_files.hpp"

namespace whet {
namespace {

std::string head(const std::string& title) {
  // The policy has the browser itself refuse scripts and whatever is not in the page.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; img-src data:\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<link rel=\"icon\" href=\"data:,\"/>\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      escape_markup(title),
      embedded::page_style
  );
}

}  // namespace

std::string to_html(const std::string& title, const std::vector<SessionReport>& reports) {
  std::string body = fmt::format("<h1>{}</h1>\n", escape_markup(title));
  if (reports.empty()) {
    body +=
        "<p class=\"empty\">There is nothing to report: the database holds no finished session for "
        "this question. <code>whet tune</code> or <code>whet suite</code> makes one.</p>\n";
  } else {
    body += overview_section(reports);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      body += session_section(fmt::format("session-{}", i + 1), reports[i]);
    }
    body += embedded::page_method;
  }
  return head(title) + "<body>\n<main>\n" + body + "</main>\n</body>\n</html>\n";
}

}  // namespace whet
