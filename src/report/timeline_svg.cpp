#include "report/timeline_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/axis.hpp"
#include "report/markup.hpp"
#include "report/timeline_summary.hpp"

namespace whet {
namespace {

using Kind = TimelineSlice::Kind;

constexpr double kWidth = 1200.0;
constexpr double kLeft = 110.0;  // of the rows; their labels stand there
constexpr double kRight = 30.0;
constexpr double kTop = 76.0;  // the title's lines stand above
constexpr double kLine = 20.0;
constexpr std::size_t kMaxCharacters = 150;  // of a line of 12 px letters

constexpr std::string_view kWaitColour = "#cfcfcf";
constexpr std::string_view kLaunchColour = "#e9e4d8";
constexpr std::array<std::string_view, 10> kPhaseColours = {
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#e15759",
    "#76b7b2",
    "#edc948",
    "#b07aa1",
    "#ff9da7",
    "#9c755f",
    "#2f4b7c"};

std::string_view colour_of(const TimelineSlice& slice) {
  switch (slice.kind) {
    case Kind::Launch:
      return kLaunchColour;
    case Kind::Wait:
      return kWaitColour;
    case Kind::Work:
      break;
  }
  return kPhaseColours[slice.phase_idx % kPhaseColours.size()];
}

std::string shortened(const std::string& text) {
  if (text.size() <= kMaxCharacters) {
    return text;
  }
  std::size_t end = kMaxCharacters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;  // not inside a character of UTF-8
  }
  return text.substr(0, end) + "…";
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline),
        total_ns_(std::max(end_ns(timeline), 1.0)),
        row_height_(std::clamp(
            kRowsHeight / static_cast<double>(std::max<std::size_t>(timeline.blocks.size(), 1)),
            4.0,
            28.0
        )) {}

  std::string draw(const TimelineTitle& title) {
    draw_title(title);
    draw_axis();
    for (std::size_t row = 0; row < timeline_.blocks.size(); ++row) {
      draw_row(row);
    }
    draw_legend();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" font-size=\"12\" "
        "font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" "
        "fill=\"#222222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
        kWidth,
        legend_y_ + 10.0,
        body_
    );
  }

 private:
  static constexpr double kRowsHeight = 640.0;

  double x_of(double time_ns) const {
    return kLeft + time_ns / total_ns_ * (kWidth - kLeft - kRight);
  }
  double rows_end() const {
    return kTop + row_height_ * static_cast<double>(timeline_.blocks.size());
  }

  void text(double x, double y, const std::string& words, std::string_view attributes = "") {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
        x,
        y,
        attributes,
        escape_markup(shortened(words))
    );
  }

  void draw_title(const TimelineTitle& title) {
    const TimelineSummary summary = summarize(timeline_);
    text(
        10.0,
        22.0,
        fmt::format("{} on {}", title.workload, title.device),
        " font-size=\"15\" font-weight=\"bold\""
    );
    text(10.0, 42.0, title.configuration, " fill=\"#555555\"");
    text(
        10.0,
        60.0,
        fmt::format(
            "{} from the first block's start to the last one's end: {:.0f} % work, {:.0f} % wait, "
            "{:.0f} % launch",
            format_stretch(timeline_, summary.total_ns),
            100.0 * summary.work_share,
            100.0 * summary.wait_share,
            100.0 * summary.launch_share
        )
    );
  }

  void draw_axis() {
    const double step = axis_step(total_ns_);
    for (int i = 0; i * step <= total_ns_; ++i) {
      const double x = x_of(i * step);
      body_ += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#bbbbbb\"/>\n",
          x,
          kTop,
          rows_end() + 6.0
      );
      text(
          x,
          rows_end() + kLine,
          i == 0 ? "0" : format_stretch(timeline_, i * step),
          " text-anchor=\"middle\""
      );
    }
  }

  void draw_row(std::size_t row) {
    const BlockTimeline& block = timeline_.blocks[row];
    const double y = kTop + row_height_ * static_cast<double>(row);
    // Labels need 13 px each.
    const auto stride = static_cast<std::size_t>(std::ceil(13.0 / row_height_));
    if (row % stride == 0) {
      text(
          kLeft - 8.0,
          y + row_height_ / 2.0 + 4.0,
          fmt::format("block {} ({})", row, block.processor),
          " text-anchor=\"end\" font-size=\"11\""
      );
    }
    for (const TimelineSlice& slice : slices_of(timeline_, block)) {
      const bool works = slice.kind == Kind::Work;
      body_ += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
          "fill=\"{}\"><title>{}, {}</title></rect>\n",
          x_of(slice.begin_ns),
          y,
          x_of(slice.end_ns) - x_of(slice.begin_ns),
          row_height_ - (row_height_ > 8.0 ? 2.0 : 0.5),
          colour_of(slice),
          escape_markup(
              works                        ? phase_label(timeline_, slice.phase_idx)
              : slice.kind == Kind::Launch ? "launch"
                                           : "wait"
          ),
          format_stretch(timeline_, slice.end_ns - slice.begin_ns)
      );
    }
  }

  void legend_line(std::string_view colour, const std::string& words) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\"/>\n",
        kLeft,
        legend_y_ - 12.0,
        colour
    );
    text(kLeft + 22.0, legend_y_, words);
    legend_y_ += kLine;
  }

  void draw_legend() {
    legend_y_ = rows_end() + 3.0 * kLine;
    const TimelineSummary summary = summarize(timeline_);
    for (std::size_t p = 0; p < summary.phases.size(); ++p) {
      legend_line(
          kPhaseColours[p % kPhaseColours.size()],
          fmt::format(
              "{} (work {}, most {}; wait {}{})",
              phase_label(timeline_, p),
              format_stretch(timeline_, summary.phases[p].work_ns),
              format_stretch(timeline_, summary.phases[p].max_work_ns),
              format_stretch(timeline_, summary.phases[p].wait_ns),
              timeline_.phases[p].has_teams ? "; the first team's" : ""
          )
      );
    }
    legend_line(kWaitColour, "wait");
    legend_line(kLaunchColour, "launch");
    text(
        kLeft,
        legend_y_,
        "rows: block (its SM or core); clocks: " + timeline_.alignment,
        " fill=\"#555555\""
    );
    legend_y_ += kLine;
  }

  const Timeline& timeline_;
  double total_ns_;
  double row_height_;
  double legend_y_ = 0.0;  ///< of the next line
  std::string body_;
};

}  // namespace

std::string to_svg(const Timeline& timeline, const TimelineTitle& title) {
  return Picture(timeline).draw(title);
}

}  // namespace whet
