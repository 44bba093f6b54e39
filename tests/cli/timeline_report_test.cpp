// What a timeline becomes: numbers, a trace, a picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/timeline_slices.hpp"
#include "report/timeline_summary.hpp"
#include "report/timeline_svg.hpp"
#include "report/timeline_trace.hpp"

namespace whet {
namespace {

const TimelineTitle kTitle{
    .workload = "a<b & \"c\"", .device = "an SM", .configuration = "blocks=2"};

/// Two blocks: the second enters 10 ns late, and reads early in front of phase 2.
Timeline example() {
  Timeline timeline;
  timeline.phases = {
      {.tasks = {"mm1"}, .edge = "launch"},
      {.tasks = {"mm2", "map<1>"}, .edge = "grid", .has_teams = true}};
  timeline.blocks = {
      {.processor = 4, .enter_ns = 0, .phases = {{20, 20, 20, 50}, {70, 70, 70, 100}}},
      {.processor = 5, .enter_ns = 10, .phases = {{20, 20, 20, 40}, {45, 50, 70, 90}}}};
  timeline.num_launches = 15;
  timeline.alignment = "one clock";
  timeline.step_time_ns = 120;
  return timeline;
}

TEST(TimelineSlices, CoverABlocksTimeWithoutGaps) {
  using Kind = TimelineSlice::Kind;
  const Timeline timeline = example();

  EXPECT_EQ(
      slices_of(timeline, timeline.blocks[1]),
      (std::vector<TimelineSlice>{
          {Kind::Launch, 0, 10, 20},
          {Kind::Work, 0, 20, 40},
          {Kind::Wait, 1, 40, 45},
          {Kind::Work, 1, 45, 50},
          {Kind::Wait, 1, 50, 70},
          {Kind::Work, 1, 70, 90}})
  );
}

TEST(TimelineSlices, OfAStepInALaunchOfSeveralWaitForTheStepBefore) {
  Timeline timeline = example();
  timeline.phases[0].edge = "step";

  EXPECT_EQ(
      slices_of(timeline, timeline.blocks[0]).front(),
      (TimelineSlice{TimelineSlice::Kind::Wait, 0, 0, 20})
  );
}

TEST(TimelineSummary, AddsUpWorkAndWaitOfEachPhase) {
  const TimelineSummary summary = summarize(example());

  EXPECT_EQ(summary.phases[0], (PhaseSummary{25, 30, 15, 20, 50}));
  EXPECT_EQ(summary.phases[1], (PhaseSummary{27.5, 30, 22.5, 45, 100}));
}

TEST(TimelineSummary, SharesOutAllBlocksTime) {
  const TimelineSummary summary = summarize(example());

  EXPECT_EQ(summary.total_ns, 100.0);
  EXPECT_DOUBLE_EQ(summary.work_share, (30 + 30 + 20 + 5 + 20) / 200.0);
  EXPECT_DOUBLE_EQ(summary.launch_share, (20 + 10 + 10) / 200.0);
  EXPECT_DOUBLE_EQ(summary.wait_share, (20 + 5 + 20 + 10) / 200.0);
}

TEST(TimelineTable, EndsWithTheSharesAndSaysWhatStampsCost) {
  Timeline timeline = example();
  timeline.blocks[0].phases[0].end_ns = 49;
  const std::string table = timeline_table(timeline, 110);

  EXPECT_NE(table.find("mm2, map<1> *\n"), std::string::npos) << table;
  EXPECT_NE(table.find("120 ns a step with them, 110 ns without"), std::string::npos) << table;
  EXPECT_TRUE(table.ends_with("total 100 ns: 52 % work, 28 % wait, 20 % launch\n")) << table;
}

TEST(TimelineTable, QuotesNoTimeOfTheEmulation) {
  Timeline timeline = example();
  timeline.has_time = false;

  const std::string table = timeline_table(timeline, 0.0);

  EXPECT_EQ(table.find(" ns"), std::string::npos) << table;
  EXPECT_EQ(table.find("a step with"), std::string::npos) << table;
}

TEST(TimelineTrace, IsTheJsonThatTraceViewersOpen) {
  const Json trace = Json::parse(to_trace(example(), kTitle));

  ASSERT_TRUE(trace.at("traceEvents").is_array());
  std::vector<std::string> names;
  for (const Json& event : trace.at("traceEvents")) {
    EXPECT_TRUE(event.at("pid").is_number_integer() && event.at("tid").is_number_integer());
    if (event.at("ph") == "M") {
      EXPECT_TRUE(event.at("args").at("name").is_string());
      continue;
    }
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_GE(event.at("ts").get<double>(), 0.0);
    EXPECT_GT(event.at("dur").get<double>(), 0.0);
    if (event.at("tid") == 1) {
      names.push_back(event.at("name"));
    }
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "launch", "phase 1: mm1", "wait", "phase 2: mm2, map<1>", "wait", "phase 2: mm2, map<1>"})
  );
}

TEST(TimelineTrace, CountsInMicroseconds) {
  const Json trace = Json::parse(to_trace(example(), kTitle));

  const Json& last = trace.at("traceEvents").back();

  EXPECT_DOUBLE_EQ(last.at("ts").get<double>(), 0.070);
  EXPECT_DOUBLE_EQ(last.at("dur").get<double>(), 0.020);
}

/// What is not well-formed: tags that do not match, bare "<" or "&", attributes without quotes.
/// Knows as much XML as the pictures use.
std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '&') {
      const std::size_t end = text.find(';', at);
      const std::string entity = text.substr(at, end == std::string::npos ? 8 : end - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
          entity != "&#39;") {
        return "bare & at " + std::to_string(at);
      }
    }
    if (text[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = text.find('>', at);
    const std::string tag = text.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (end == std::string::npos || tag.find('<') != std::string::npos ||
        std::count(tag.begin(), tag.end(), '"') % 2 != 0) {
      return "bad tag: " + tag;
    }
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) {
        return "unexpected <" + tag + ">";
      }
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

TEST(TimelineSvg, IsWellFormedWithAnyNames) {
  const std::string svg = to_svg(example(), kTitle);

  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("a&lt;b &amp; &quot;c&quot; on an SM"), std::string::npos);
}

TEST(TimelineSvg, HasARectangleASliceAndALegend) {
  const std::string svg = to_svg(example(), kTitle);

  std::size_t num_rectangles = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos;
       at = svg.find("<rect", at + 1)) {
    ++num_rectangles;
  }
  EXPECT_EQ(num_rectangles, 1u + (4u + 6u) + (2u + 2u));  // background, slices, legend
  EXPECT_NE(svg.find("phase 2: mm2, map&lt;1&gt; (work 27.5 ns"), std::string::npos) << svg;
}

TEST(TimelineSvg, CutsLongTextBetweenCharacters) {
  TimelineTitle title = kTitle;
  title.configuration.clear();
  while (title.configuration.size() < 300) {
    title.configuration += "aé";
  }
  const std::string svg = to_svg(example(), title);

  EXPECT_NE(svg.find("aé…</text>"), std::string::npos);
}

}  // namespace
}  // namespace whet
