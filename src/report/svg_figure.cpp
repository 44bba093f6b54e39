#include "report/svg_figure.hpp"

#include <fmt/format.h>

#include "report/markup.hpp"

namespace whet {
namespace {

std::string_view anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::Start:
      return "start";
    case Anchor::Middle:
      return "middle";
    case Anchor::End:
      break;
  }
  return "end";
}

}  // namespace

SvgFigure::SvgFigure(
    std::string_view id,
    double width,
    double height,
    std::string_view title,
    std::string_view description
)
    : head_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"{0}-title "
          "{0}-desc\" viewBox=\"0 0 {1:.0f} {2:.0f}\" width=\"{1:.0f}\" height=\"{2:.0f}\">\n"
          "<title id=\"{0}-title\">{3}</title>\n<desc id=\"{0}-desc\">{4}</desc>\n",
          id,
          width,
          height,
          escape_markup(title),
          escape_markup(description)
      )) {}

void SvgFigure::text(Point at, Anchor anchor, std::string_view css_class, std::string_view words) {
  body_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
      at.x,
      at.y,
      anchor_name(anchor),
      css_class,
      escape_markup(words)
  );
}

void SvgFigure::line(Point from, Point to, std::string_view css_class) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
      from.x,
      from.y,
      to.x,
      to.y,
      css_class
  );
}

void SvgFigure::box(const Area& area, std::string_view css_class) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n",
      area.x,
      area.y,
      area.width,
      area.height,
      css_class
  );
}

void SvgFigure::circle(
    Point center, double radius, std::string_view css_class, std::string_view words
) {
  body_ += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" class=\"{}\"",
      center.x,
      center.y,
      radius,
      css_class
  );
  body_ +=
      words.empty() ? "/>\n" : fmt::format("><title>{}</title></circle>\n", escape_markup(words));
}

void SvgFigure::dots(std::span<const Point> points, std::string_view css_class) {
  std::string path;
  for (const Point& point : points) {
    // A line of no length with round caps is a disc.
    path += fmt::format("M{:.1f} {:.1f}h0", point.x, point.y);
  }
  body_ += fmt::format("<path d=\"{}\" class=\"dots {}\"/>\n", path, css_class);
}

void SvgFigure::steps(std::span<const Point> points, std::string_view css_class) {
  std::string path;
  for (const Point& point : points) {
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", point.x, point.y)
                         : fmt::format("H{:.1f}V{:.1f}", point.x, point.y);
  }
  body_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", path, css_class);
}

void SvgFigure::x_axis(const Area& area, const Axis& axis, std::span<const Tick> ticks) {
  for (const Tick& tick : ticks) {
    const double x = area.x + position(axis, tick.value) * area.width;
    line({x, area.y}, {x, area.bottom() + 4.0}, "grid");
    text({x, area.bottom() + 18.0}, Anchor::Middle, "tick", tick.label);
  }
}

void SvgFigure::y_axis(const Area& area, const Axis& axis, std::span<const Tick> ticks) {
  for (const Tick& tick : ticks) {
    const double y = area.bottom() - position(axis, tick.value) * area.height;
    line({area.x - 4.0, y}, {area.right(), y}, "grid");
    text({area.x - 8.0, y + 4.0}, Anchor::End, "tick", tick.label);
  }
}

std::string SvgFigure::markup() const { return head_ + body_ + "</svg>\n"; }

}  // namespace whet
