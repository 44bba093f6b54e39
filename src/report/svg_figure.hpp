#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/axis.hpp"

namespace whet {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// A rectangle of a figure, from its upper left corner.
struct Area {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

enum class Anchor { Start, Middle, End };

/// A picture of a page, in pixels from its upper left corner. Its marks have classes that the page
/// styles; all text is escaped.
class SvgFigure {
 public:
  /// `id` is the page's only one; `title` and `description` are for who cannot see it.
  SvgFigure(
      std::string_view id,
      double width,
      double height,
      std::string_view title,
      std::string_view description
  );

  void text(Point at, Anchor anchor, std::string_view css_class, std::string_view words);
  void line(Point from, Point to, std::string_view css_class);
  void box(const Area& area, std::string_view css_class);
  /// With words that show when it is pointed at, unless they are empty.
  void circle(Point center, double radius, std::string_view css_class, std::string_view words = "");
  /// Many round points in one mark; the style gives their size as `stroke-width`.
  void dots(std::span<const Point> points, std::string_view css_class);
  /// A line that goes right, then up or down, to each point.
  void steps(std::span<const Point> points, std::string_view css_class);
  /// Grid lines through `area` at the ticks, with their labels below it.
  void x_axis(const Area& area, const Axis& axis, std::span<const Tick> ticks);
  /// The same, with labels at its left; `low` is at the bottom.
  void y_axis(const Area& area, const Axis& axis, std::span<const Tick> ticks);

  /// The whole element.
  std::string markup() const;

 private:
  std::string head_;
  std::string body_;
};

}  // namespace whet
