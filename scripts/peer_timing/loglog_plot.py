"""A plot of two logarithmic axes as SVG text, with nothing but the standard library."""
import html
import math

WIDTH, HEIGHT = 720, 460
LEFT, RIGHT, TOP, BOTTOM = 76, 180, 44, 56
COLOURS = ("#0b63c4", "#c4460b", "#3d8b37", "#8a3ab9", "#6b6b6b")


class _Axis:
    """Maps values to pixels, from a power of `base` to one."""

    def __init__(self, values, first_px, last_px, base):
        low, high = min(values), max(values)
        self.base = base
        self.first = math.floor(math.log(low, base) + 1e-9)
        self.last = max(math.ceil(math.log(high, base) - 1e-9), self.first + 1)
        self._first_px, self._last_px = first_px, last_px

    def px(self, value):
        share = (math.log(value, self.base) - self.first) / (self.last - self.first)
        return self._first_px + share * (self._last_px - self._first_px)

    def ticks(self):
        return [self.base**power for power in range(self.first, self.last + 1)]


def _text(x, y, text, anchor="middle", extra=""):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(text)}</text>'
    )


def _line(x1, y1, x2, y2, style):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def _grid(x_axis, y_axis):
    parts = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value in x_axis.ticks():
        x = x_axis.px(value)
        parts += [_line(x, TOP, x, bottom, 'stroke="#ddd"'), _text(x, bottom + 18, f"{value:g}")]
    for value in y_axis.ticks():
        y = y_axis.px(value)
        parts += [_line(LEFT, y, right, y, 'stroke="#ddd"')]
        parts += [_text(LEFT - 8, y + 4, f"{value:g}", "end")]
    return parts


def _series(name, points, colour, row, x_axis, y_axis):
    path = " ".join(f"{x_axis.px(x):.1f},{y_axis.px(y):.1f}" for x, y in points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for x, y in points:
        title = html.escape(f"{name}: {y:.3g} at {x:g}")
        parts.append(
            f'<circle cx="{x_axis.px(x):.1f}" cy="{y_axis.px(y):.1f}" r="3.5" fill="{colour}">'
            f"<title>{title}</title></circle>"
        )
    y = TOP + 14 + 20 * row
    x = WIDTH - RIGHT + 14
    parts += [_line(x, y - 4, x + 18, y - 4, f'stroke="{colour}" stroke-width="2"')]
    parts += [_text(x + 24, y, name, "start")]
    return parts


def loglog_svg(title, x_label, y_label, series, marks=()):
    """SVG text of `series` {name: [(x, y), …]}, all above 0, and `marks` [(x, label), …], each a
    dashed line across. Along x ticks are powers of two, along y of ten."""
    points = [point for line in series.values() for point in line]
    x_axis = _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT, 2)
    y_axis = _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP, 10)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
        f' viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text((LEFT + WIDTH - RIGHT) / 2, 24, title, extra=' font-size="15"'),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x_label),
        _text(18, HEIGHT / 2, y_label, extra=f' transform="rotate(-90 18 {HEIGHT / 2:.0f})"'),
        *_grid(x_axis, y_axis),
    ]
    for row, (name, line) in enumerate(series.items()):
        parts += _series(name, line, COLOURS[row % len(COLOURS)], row, x_axis, y_axis)
    for x, label in marks:
        at = x_axis.px(x)
        parts.append(_line(at, TOP, at, HEIGHT - BOTTOM, 'stroke="#333" stroke-dasharray="5 4"'))
        parts.append(_text(at + 4, HEIGHT - BOTTOM - 8, label, "start"))
    return "\n".join([*parts, "</svg>"]) + "\n"
