#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "base/subprocess.hpp"
#include "report/html.hpp"
#include "report/published_series.hpp"
#include "support/report_samples.hpp"

namespace whet {
namespace {

testing::AssertionResult says(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos ? testing::AssertionSuccess()
                                              : testing::AssertionFailure() << "no " << part;
}

std::size_t count(const std::string& page, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Whether a strict parser takes the page: tags balance, attributes are quoted, names of elements
/// (`id`) are unique and links within the page lead somewhere.
testing::AssertionResult is_well_formed(const std::string& page) {
  ProcessOptions options;
  options.arguments = {
      "python3",
      "-c",
      "import sys, xml.etree.ElementTree as tree\n"
      "root = tree.fromstring(sys.stdin.buffer.read())\n"
      "ids = [e.get('id') for e in root.iter() if e.get('id')]\n"
      "assert len(ids) == len(set(ids)), 'an id occurs twice'\n"
      "links = [e.get('href') for e in root.iter('a')]\n"
      "assert all(link[0] == '#' and link[1:] in ids for link in links), links\n"};
  const ProcessResult result = run_process(options, std::chrono::seconds(60), page);
  return result.exit.code == 0 ? testing::AssertionSuccess()
                               : testing::AssertionFailure() << result.error_output << page;
}

TEST(HtmlReport, HasASectionForEachQuestion) {
  const std::string page = to_html("t", {reports::tuned()});

  for (const char* heading : {"Times", "Search", "Knobs", "Failures", "Environment"}) {
    EXPECT_TRUE(says(page, std::string("<h3>") + heading + "</h3>"));
  }
  EXPECT_TRUE(says(page, "<h2>Method</h2>"));
  EXPECT_TRUE(says(page, "<summary>Raw samples</summary>"));
  // Side by side, a panel for each of three series, the search.
  EXPECT_EQ(count(page, "<svg xmlns"), 5U);
}

TEST(HtmlReport, QuotesTheRecordsNumbers) {
  const std::string page = to_html("t", {reports::tuned()});

  EXPECT_TRUE(says(page, "<strong>1.00 µs</strong> <small>[990 ns, 1.01 µs]</small>"));
  EXPECT_TRUE(says(page, "[1.98 µs, 2.02 µs]</small> <span class=\"ratio\">2.00 x</span>"));
  EXPECT_TRUE(says(page, "<td class=\"number\">250 ns</td><td class=\"number\">4.0</td>"));
  EXPECT_TRUE(says(page, "80 samples, 4 processes"));
  EXPECT_TRUE(says(page, "7 candidates, 5 with a time; the best is 1.01 µs"));
  EXPECT_TRUE(says(page, "<dt>confidence of intervals</dt><dd>95 %</dd>"));
  EXPECT_TRUE(says(page, "<dt>clock</dt><dd>1980 MHz</dd>"));
}

TEST(HtmlReport, WithholdsTheRatioToWhatIsUnsteady) {
  const std::string page = to_html("t", {reports::tuned()});

  EXPECT_TRUE(says(page, "<span class=\"ratio\">unsteady</span>"));
  EXPECT_TRUE(says(page, "libtorch-eager: fresh processes disagree"));
}

TEST(HtmlReport, ShowsWhatAKnobBrought) {
  const std::string page = to_html("t", {reports::tuned()});

  EXPECT_TRUE(says(page, "<li class=\"best\">16: 1.01 µs <small>+0.0 %, 3 valid</small></li>"));
  EXPECT_TRUE(says(page, "<li class=\"few\">64 (default): too few (1)</li>"));
}

TEST(HtmlReport, CountsFailuresWithAnExampleOfEach) {
  const std::string page = to_html("t", {reports::tuned()});

  EXPECT_TRUE(says(
      page,
      "<th scope=\"row\">ConstraintViolated</th><td class=\"number\">1</td>"
      "<td class=\"number\">2</td><td>shared_memory: needs 3, has &quot;2&quot;</td>"
  ));
  EXPECT_TRUE(says(
      page,
      "<summary>error: &lt;b&gt;no&lt;/b&gt;</summary>\n"
      "<pre>error: &lt;b&gt;no&lt;/b&gt;\nfile.cu:1: &#39;x&#39; &amp; y</pre>"
  ));
}

TEST(HtmlReport, HoldsEveryRawSample) {
  SessionReport report = reports::tuned();
  report.evaluations[4].blocks.back().samples.back().time_ns = 1234.567;

  const std::string page = to_html("t", {report});

  EXPECT_TRUE(says(page, " 1234.567</td>"));
  EXPECT_EQ(count(page, "<td>publish</td>"), 3U * 8U);
  EXPECT_EQ(count(page, "<td>screen</td>"), 5U);
}

TEST(HtmlReport, EscapesWhatComesFromData) {
  const std::string page = to_html("</title><script>", {reports::tuned()});

  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_TRUE(says(page, "&lt;script&gt;alert(&quot;on&#39;line&quot;)&lt;/script&gt;"));
  EXPECT_TRUE(is_well_formed(page));
}

TEST(HtmlReport, LoadsNothing) {
  const std::string page = to_html("t", {reports::tuned()});

  EXPECT_TRUE(says(page, "content=\"default-src 'none'; "));
  EXPECT_EQ(count(page, "http://") + count(page, "https://"), count(page, "http://www.w3.org/"));
  EXPECT_EQ(page.find("url("), std::string::npos);
}

TEST(HtmlReport, IsWellFormedForSeveralSessions) {
  EXPECT_TRUE(is_well_formed(to_html("t", {reports::tuned(), reports::without_valid()})));
}

TEST(HtmlReport, SaysThatThereIsNothing) {
  const std::string page = to_html("t", {});

  EXPECT_TRUE(says(page, "There is nothing to report"));
  EXPECT_TRUE(is_well_formed(page));
}

TEST(HtmlReport, OfNoValidCandidateShowsTheFailures) {
  const std::string page = to_html("t", {reports::without_valid()});

  EXPECT_TRUE(says(page, "NoValid: no candidate was valid"));
  EXPECT_TRUE(says(page, "Nothing was measured after the choice."));
  EXPECT_TRUE(says(page, "No candidate was timed."));
  EXPECT_TRUE(says(page, "<td>w1: error 2, limit 1</td>"));
  EXPECT_EQ(count(page, "<svg xmlns"), 0U);
}

TEST(HtmlReport, DrawsASingleSample) {
  SessionReport report = reports::tuned();
  report.evaluations.resize(1);
  report.evaluations[0].blocks = {
      {.process = 0,
       .block = 0,
       .num_steps = 1,
       .purpose = "publish",
       .samples = {{.time_ns = 500.0}}}};
  report.decision = {
      .verdict = Verdict::KeepBaseline,
      .winner = report.evaluations[0].configuration,
      .delegate_to = "",
      .time_ns = TimeSummary{500.0, 500.0, 500.0},
      .steps_per_launch = 1,
      .tie_set = {},
      .baselines = {},
      .detail = Json::object()};

  const std::string page = to_html("t", {report});

  EXPECT_TRUE(says(page, "1 sample, 1 process"));
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_EQ(page.find("inf\""), std::string::npos);
  EXPECT_TRUE(is_well_formed(page));
}

TEST(HtmlReport, OfASessionWithoutCandidatesIsAPage) {
  EXPECT_TRUE(is_well_formed(to_html("t", {SessionReport{}})));
}

TEST(PublishedSeries, AreTheWinnerThenWhatItWasComparedWith) {
  const SessionReport report = reports::tuned();

  const std::vector<PublishedSeries> all = published_series(report);

  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "winner");
  EXPECT_EQ(all[0].time_ns, report.decision.time_ns);
  EXPECT_EQ(all[1].name, "default configuration");
  EXPECT_EQ(all[1].time_ns->median, 2000.0);
  EXPECT_EQ(all[2].name, "libtorch-graph");
  EXPECT_EQ(times_ns(all[2]).size(), 80U);
  EXPECT_EQ(all[2].colour, 2U);
}

TEST(PublishedSeries, NamesAPickThatLostItsClaim) {
  SessionReport report = reports::tuned();
  report.decision.winner = report.evaluations[0].configuration;
  report.decision.detail["unconfirmed"] = Json::object();

  const std::vector<PublishedSeries> all = published_series(report);

  EXPECT_EQ(all[0].name, "winner (the default)");
  EXPECT_EQ(all[1].name, "unconfirmed");
  EXPECT_EQ(all[1].time_ns, std::nullopt);
}

}  // namespace
}  // namespace whet
