// The HTML page of the built program, and what a browser makes of such pages.

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "cli/whet_program.hpp"
#include "report/html.hpp"
#include "store/record_store.hpp"
#include "support/record_samples.hpp"
#include "support/report_samples.hpp"

namespace whet {
namespace {

/// tests/cli/open_page.py on a page of its own.
ProcessResult open(const std::string& page) {
  const TemporaryFolder folder("whet-page-");
  const std::filesystem::path file = folder.path() / "page.html";
  write_file_atomically(file, page);
  ProcessOptions options;
  options.arguments = {"python3", WHET_SOURCE_DIR "/tests/cli/open_page.py", file.string()};
  options.set_environment = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  return run_process(options, std::chrono::seconds(30));
}

constexpr int kNoBrowser = 77;

TEST(HtmlPage, IsDrawnByABrowserWithoutComplaintOrRequest) {
  const ProcessResult result =
      open(to_html("whet: <t>", {reports::tuned(), reports::without_valid()}));
  if (result.exit.code == kNoBrowser) {
    GTEST_SKIP() << result.error_output;
  }

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json seen = Json::parse(result.output);
  EXPECT_EQ(seen["messages"], Json::array());
  EXPECT_EQ(seen["requests"], Json::array());
  EXPECT_GT(seen["pdf_bytes"], 1000);
  ASSERT_EQ(seen["views"].size(), 3U);
  for (const auto& [name, view] : seen["views"].items()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(view["overflows"], 0);
    EXPECT_GE(view["contrast"], 4.5);  // Source: WCAG 2.2, 1.4.3
    ASSERT_EQ(view["figures"].size(), 5U);
    for (const Json& figure : view["figures"]) {
      EXPECT_GT(figure["width"], 100) << figure;
      EXPECT_GT(figure["height"], 40) << figure;
      EXPECT_GT(figure["marks"], 5) << figure;
      EXPECT_EQ(figure["drawn"], figure["marks"]) << figure;
    }
  }
}

TEST(HtmlPage, OfAnotherKindWouldBeNoticed) {
  const ProcessResult result = open(
      "<!DOCTYPE html><p style=\"color: #777\">p</p><img src=\"absent.png\"/>"
      "<div style=\"width: 3000px; background: #eee\">d</div>"
      "<svg role=\"img\"><title>t</title><rect/></svg><script>nothing()</script>"
  );
  if (result.exit.code == kNoBrowser) {
    GTEST_SKIP() << result.error_output;
  }

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json seen = Json::parse(result.output);
  EXPECT_EQ(seen["messages"].size(), 2U) << seen["messages"];
  EXPECT_EQ(seen["requests"].size(), 1U);
  EXPECT_GT(seen["views"]["light"]["overflows"], 0);
  EXPECT_LT(seen["views"]["light"]["contrast"], 4.5);
  EXPECT_EQ(seen["views"]["light"]["figures"][0]["drawn"], 0);
}

TEST(ReportCommand, PrintsAPageOfTheDatabase) {
  const WhetProgram program;
  const std::string database = program.home() + "/r.db";
  {
    RecordStore store = RecordStore::open(database, RecordStore::Mode::ReadWrite);
    const SessionId session = store.begin_session(records::session_info());
    store.add_evaluation(session, records::evaluation(16, 2000.0));
    store.add_decision(session, records::decision(16));
  }

  const ProcessResult result = program.run({"report", "--format", "html", "--db", database});

  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  EXPECT_TRUE(result.output.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(says(result.output, "<h2>online</h2>"));
}

TEST(ReportCommand, SaysOnThePageThatADatabaseIsEmpty) {
  const WhetProgram program;
  const std::string database = program.home() + "/r.db";
  RecordStore::open(database, RecordStore::Mode::ReadWrite);

  const ProcessResult result = program.run({"report", "--format", "html", "--db", database});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_TRUE(says(result.output, "There is nothing to report"));
}

TEST(ReportCommand, RefusesAPageOfKnobsAlone) {
  const WhetProgram program;
  const std::string database = program.home() + "/r.db";
  RecordStore::open(database, RecordStore::Mode::ReadWrite);

  const ProcessResult result =
      program.run({"report", "--knobs", "--format", "html", "--db", database});

  EXPECT_EQ(result.exit.code, 2);
  EXPECT_TRUE(
      says(result.error_output, "expected text, markdown, csv or json with --knobs, found 'html'")
  );
}

}  // namespace
}  // namespace whet
