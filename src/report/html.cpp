#include "report/html.hpp"

#include <fmt/format.h>

#include "report/html_sections.hpp"
#include "report/markup.hpp"
#include "report/page_style.hpp"

namespace whet {
namespace {

/// How the numbers came about, in short; docs/method.md has it in full.
constexpr const char* kMethod =
    "<section id=\"method\">\n<h2>Method</h2>\n"
    "<p>Each candidate is compiled, validated against LibTorch and timed in processes of its own. "
    "Screening orders candidates; it decides nothing. The fastest and the default configuration "
    "are measured again, interleaved, in several fresh processes, and the default stays unless the "
    "paired comparison excludes it.</p>\n"
    "<p>A <strong>time a step</strong> is the median over processes of the medians of each "
    "process, from samples taken after the choice. Its <strong>interval</strong> is the t interval "
    "of the logarithms of these, at the confidence that the session names: the process is the "
    "unit of replication, so many samples of few processes have a wide one. One process gives no "
    "interval: both ends are the median.</p>\n"
    "<p>A <strong>ratio</strong> is the time of what stands in the column over the winner's, both "
    "of one session and interleaved. It is withheld as <em>unsteady</em> where the interval of "
    "either is wider than a quarter of its median. The <strong>limit</strong> is what no schedule "
    "can beat by the costs of the device; – where these are not known.</p>\n</section>\n";

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
    body += kMethod;
  }
  return head(title) + "<body>\n<main>\n" + body + "</main>\n</body>\n</html>\n";
}

}  // namespace whet
