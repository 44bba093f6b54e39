// How the search went: each candidate where it came.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/format.hpp"
#include "report/session_figures.hpp"
#include "report/svg_figure.hpp"

namespace whet {
namespace {

constexpr Area kPlot{80.0, 40.0, 800.0, 240.0};
constexpr double kFailed = kPlot.y + kPlot.height + 14.0;  // where the others are marked

/// Screening medians by evaluation; nothing where the candidate is not Ok or has none.
std::vector<std::optional<double>> screening_times(const SessionReport& report) {
  std::vector<std::optional<double>> times;
  for (const Evaluation& evaluation : report.evaluations) {
    times.push_back(
        evaluation.status == Status::Ok ? median_time_ns(evaluation, "screen") : std::nullopt
    );
  }
  return times;
}

class SearchFigure {
 public:
  SearchFigure(const SessionReport& report, std::vector<std::optional<double>> times)
      : report_(report),
        times_(std::move(times)),
        x_axis_{.low = 0.0, .high = static_cast<double>(times_.size()) + 1.0} {
    std::vector<double> valid;
    for (const auto& time_ns : times_) {
      if (time_ns) {
        valid.push_back(*time_ns);
      }
    }
    y_axis_ = time_axis(valid);
    best_ns_ = *std::ranges::min_element(valid);
    num_valid_ = valid.size();
  }

  std::string draw(const std::string& id) {
    SvgFigure figure(
        id,
        900.0,
        kFailed + 52.0,
        "Screening median of each candidate, and the best so far",
        fmt::format(
            "{} candidates, {} with a time; the best is {}",
            times_.size(),
            num_valid_,
            format_time(best_ns_)
        )
    );
    figure.y_axis(kPlot, y_axis_, time_ticks(y_axis_, 6.0));
    draw_evaluations_axis(figure);
    draw_best(figure);
    for (std::size_t i = 0; i < times_.size(); ++i) {
      draw_candidate(figure, i);
    }
    draw_legend(figure);
    return figure.markup();
  }

 private:
  double x_of(double number) const { return kPlot.x + position(x_axis_, number) * kPlot.width; }
  double y_of(double time_ns) const {
    return kPlot.bottom() - position(y_axis_, time_ns) * kPlot.height;
  }

  void draw_evaluations_axis(SvgFigure& figure) const {
    const Area all{kPlot.x, kPlot.y, kPlot.width, kFailed + 8.0 - kPlot.y};
    std::vector<Tick> ticks = count_ticks(x_axis_);
    std::erase_if(ticks, [&](const Tick& tick) {
      return tick.value < 1.0 || tick.value > static_cast<double>(times_.size());
    });
    figure.x_axis(all, x_axis_, ticks);
    figure.text({kPlot.x - 8.0, kFailed + 4.0}, Anchor::End, "tick", "not valid");
    figure.text(
        {kPlot.x + kPlot.width / 2.0, kFailed + 44.0}, Anchor::Middle, "axis", "evaluation"
    );
    figure.text(
        {8.0, 16.0},
        Anchor::Start,
        "axis",
        y_axis_.is_log ? "screening median, time a step (logarithmic)"
                       : "screening median, time a step"
    );
  }

  void draw_best(SvgFigure& figure) const {
    std::vector<Point> points;
    std::optional<double> best_ns;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (times_[i] && *times_[i] < best_ns.value_or(*times_[i] + 1.0)) {
        best_ns = times_[i];
        points.push_back({x_of(static_cast<double>(i) + 1.0), y_of(*best_ns)});
      }
    }
    points.push_back({kPlot.right(), points.back().y});
    figure.steps(points, "best");
  }

  void draw_candidate(SvgFigure& figure, std::size_t i) const {
    const Evaluation& evaluation = report_.evaluations[i];
    const double x = x_of(static_cast<double>(i) + 1.0);
    if (!times_[i]) {
      const bool is_refused = evaluation.status == Status::ConstraintViolated;
      figure.circle(
          {x, kFailed},
          2.5,
          is_refused ? "refused" : "failed",
          fmt::format("{}: {}", i + 1, status_name(evaluation.status))
      );
      return;
    }
    const Point at{x, y_of(*times_[i])};
    const bool is_winner = evaluation.configuration == report_.decision.winner;
    const std::string words = fmt::format("{}: {}", i + 1, format_time(*times_[i]));
    if (i == 0) {
      figure.circle(at, 4.5, "default", words + ", default configuration");
    } else {
      figure.circle(at, 3.0, "candidate", words);
    }
    if (is_winner) {
      figure.circle(at, 7.0, "winner");
    }
  }

  void draw_legend(SvgFigure& figure) const {
    constexpr double kY = 12.0;
    const auto words = [&figure](double x, const std::string& text) {
      figure.text({x, kY + 4.0}, Anchor::Start, "note", text);
    };
    figure.circle({420.0, kY}, 3.0, "candidate");
    words(432.0, "candidate");
    figure.circle({520.0, kY}, 4.5, "default");
    words(532.0, "default configuration");
    figure.circle({695.0, kY}, 7.0, "winner");
    words(710.0, "winner");
    figure.line({770.0, kY}, {798.0, kY}, "best");
    words(806.0, "best so far");
  }

  const SessionReport& report_;
  std::vector<std::optional<double>> times_;
  Axis x_axis_;
  Axis y_axis_;
  double best_ns_ = 0.0;
  std::size_t num_valid_ = 0;
};

}  // namespace

std::string search_figure(const std::string& id, const SessionReport& report) {
  std::vector<std::optional<double>> times = screening_times(report);
  if (std::ranges::none_of(times, [](const auto& time_ns) { return time_ns.has_value(); })) {
    return "";
  }
  return SearchFigure(report, std::move(times)).draw(id);
}

}  // namespace whet
