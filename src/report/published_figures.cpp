// Figures of what was measured after the choice.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/format.hpp"
#include "report/session_figures.hpp"
#include "report/svg_figure.hpp"
#include "stats/quantile.hpp"

namespace whet {
namespace {

/// A class of the page's style; the third peer looks like the first again.
std::string series_class(const PublishedSeries& series) {
  constexpr std::size_t kNumOurs = 2;
  constexpr std::size_t kNumPeers = 2;
  const std::size_t colour = series.colour;
  return fmt::format(
      "series-{}", colour < kNumOurs ? colour : kNumOurs + (colour - kNumOurs) % kNumPeers
  );
}

std::string describe_size(const PublishedSeries& series) {
  const auto by_process = times_by_process(series);
  const std::size_t num_samples = times_ns(series).size();
  return fmt::format(
      "{} sample{}, {} process{}",
      num_samples,
      num_samples == 1 ? "" : "s",
      by_process.size(),
      by_process.size() == 1 ? "" : "es"
  );
}

std::string describe_time(const PublishedSeries& series) {
  return series.time_ns ? format_summary(*series.time_ns)
                        : format_time(median(times_ns(series))) + ", no interval";
}

/// A row of the comparison: names at the left, marks in the middle, figures at the right.
void draw_times(
    SvgFigure& figure, const Area& area, const Axis& axis, const PublishedSeries& series
) {
  const std::string css_class = series_class(series);
  const std::vector<double> times = times_ns(series);
  const double y = area.y + area.height / 2.0;
  const auto x_of = [&](double time_ns) { return area.x + position(axis, time_ns) * area.width; };
  // Narrower than this is not seen.
  const auto box = [&](double low, double high, double height, const std::string& name) {
    const double x = x_of(low);
    figure.box({x - 0.75, y - height / 2.0, x_of(high) - x + 1.5, height}, name);
  };
  figure.text({area.x - 16.0, y - 2.0}, Anchor::End, "name", series.name);
  figure.text({area.x - 16.0, y + 13.0}, Anchor::End, "note", describe_size(series));
  if (series.time_ns) {
    box(series.time_ns->low, series.time_ns->high, 30.0, "interval " + css_class);
  }
  figure.line({x_of(quantile(times, 0.05)), y}, {x_of(quantile(times, 0.95)), y}, "whisker");
  box(quantile(times, 0.25), quantile(times, 0.75), 12.0, "quartiles " + css_class);
  for (const auto& [process, of_process] : times_by_process(series)) {
    figure.circle(
        {x_of(median(of_process)), y},
        3.5,
        "process " + css_class,
        fmt::format(
            "{}, process {}: median {} of {}",
            series.name,
            process,
            format_time(median(of_process)),
            of_process.size()
        )
    );
  }
  figure.text({area.right() + 16.0, y + 4.0}, Anchor::Start, "value", describe_time(series));
}

/// All but the farthest samples, and the published interval.
Axis samples_axis(const PublishedSeries& series, std::span<const double> times) {
  std::vector<double> shown{quantile(times, 0.02), quantile(times, 0.98)};
  if (series.time_ns) {
    shown.push_back(series.time_ns->low);
    shown.push_back(series.time_ns->high);
  }
  return linear_axis(shown);
}

}  // namespace

std::string times_figure(const std::string& id, std::span<const PublishedSeries> all) {
  constexpr double kRow = 46.0;
  const Area plot{200.0, 8.0, 470.0, kRow * static_cast<double>(all.size())};
  std::vector<double> extremes;
  std::string description;
  for (const PublishedSeries& series : all) {
    const std::vector<double> times = times_ns(series);
    extremes.push_back(quantile(times, 0.05));
    extremes.push_back(quantile(times, 0.95));
    for (const auto& [process, of_process] : times_by_process(series)) {
      extremes.push_back(median(of_process));
    }
    if (series.time_ns) {
      extremes.push_back(series.time_ns->low);
      extremes.push_back(series.time_ns->high);
    }
    description += fmt::format(
        "{}{}: {}, {}",
        description.empty() ? "" : "; ",
        series.name,
        describe_time(series),
        describe_size(series)
    );
  }
  const Axis axis = time_axis(extremes);
  SvgFigure figure(id, 900.0, plot.bottom() + 48.0, "Time a step, side by side", description);
  figure.x_axis(plot, axis, time_ticks(axis));
  figure.text(
      {plot.x + plot.width / 2.0, plot.bottom() + 38.0},
      Anchor::Middle,
      "axis",
      axis.is_log ? "time a step (logarithmic)" : "time a step"
  );
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Area row{plot.x, plot.y + kRow * static_cast<double>(i), plot.width, kRow};
    draw_times(figure, row, axis, all[i]);
  }
  return figure.markup();
}

std::string samples_figure(const std::string& id, const PublishedSeries& series) {
  constexpr double kRow = 22.0;
  const auto by_process = times_by_process(series);
  const std::vector<double> times = times_ns(series);
  const Axis axis = samples_axis(series, times);
  const Area plot{84.0, 44.0, 340.0, kRow * static_cast<double>(by_process.size())};
  const auto num_beyond = std::ranges::count_if(times, [&](double time_ns) {
    return time_ns < axis.low || time_ns > axis.high;
  });
  const std::string beyond = num_beyond == 0 ? "" : fmt::format("; {} beyond the ends", num_beyond);
  SvgFigure figure(
      id,
      440.0,
      plot.bottom() + 28.0,
      fmt::format("Samples of {}", series.name),
      fmt::format("{}: {}{}", describe_size(series), describe_time(series), beyond)
  );
  figure.text({8.0, 16.0}, Anchor::Start, "name", series.name);
  figure.text({8.0, 34.0}, Anchor::Start, "note", describe_size(series) + beyond);
  figure.x_axis(plot, axis, time_ticks(axis, 4.0));
  const auto x_of = [&](double time_ns) { return plot.x + position(axis, time_ns) * plot.width; };
  if (series.time_ns) {
    const double x = x_of(series.time_ns->low);
    figure.box(
        {x - 0.75, plot.y, x_of(series.time_ns->high) - x + 1.5, plot.height},
        "interval " + series_class(series)
    );
  }
  double top = plot.y;
  for (const auto& [process, of_process] : by_process) {
    figure.text(
        {plot.x - 8.0, top + 15.0}, Anchor::End, "tick", fmt::format("process {}", process)
    );
    std::vector<Point> points;
    for (std::size_t i = 0; i < of_process.size(); ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(of_process.size());
      points.push_back({x_of(of_process[i]), top + 2.0 + (kRow - 4.0) * share});
    }
    figure.dots(points, series_class(series));
    const double x = x_of(median(of_process));
    figure.line({x, top + 1.0}, {x, top + kRow - 1.0}, "median");
    top += kRow;
  }
  return figure.markup();
}

}  // namespace whet
