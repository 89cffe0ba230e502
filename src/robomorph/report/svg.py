"""The few shapes that all pictures are made of, as SVG."""

from __future__ import annotations

from html import escape

_FONT = "font-family='Helvetica, Arial, DejaVu Sans, sans-serif'"
_LINE = "#34495e"


def text(x: float, y: float, words: str, *, bold: bool = False, anchor: str = "start", size: int = 13) -> str:
    style = f"{_FONT} font-size='{size}'" + (" font-weight='bold'" if bold else "")
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {style}>{escape(words)}</text>"


def box(
    x: float, y: float, width: float, height: float, title: str, *lines: str, fill: str = "#eef3f8"
) -> str:
    """A titled box; every line takes 18 units of height."""
    parts = [
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6' fill='{fill}' stroke='{_LINE}'/>",
        text(x + 8, y + 18, title, bold=True),
        *(text(x + 8, y + 36 + 18 * k, line) for k, line in enumerate(lines)),
    ]
    return "".join(parts)


def bar(x: float, base: float, width: float, height: float, colour: str, hint: str) -> str:
    place = f"x='{x:.1f}' y='{base - height:.1f}' width='{width:.1f}' height='{height:.1f}'"
    return f"<rect {place} fill='{colour}'><title>{escape(hint)}</title></rect>"


def line(x0: float, y0: float, x1: float, y1: float, *, faint: bool = False) -> str:
    stroke = "stroke='#c8d0d8'" if faint else f"stroke='{_LINE}' stroke-width='2'"
    return f"<line x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}' {stroke}/>"


def right_arrow(x0: float, y: float, x1: float) -> str:
    head = f"<polygon points='{x1 - 8},{y - 5} {x1},{y} {x1 - 8},{y + 5}' fill='{_LINE}'/>"
    return line(x0, y, x1 - 7, y) + head


def down_arrow(x: float, y0: float, y1: float) -> str:
    head = f"<polygon points='{x - 5},{y1 - 8} {x},{y1} {x + 5},{y1 - 8}' fill='{_LINE}'/>"
    return line(x, y0, x, y1 - 7) + head


def up_arrow(x: float, y0: float, y1: float) -> str:
    head = f"<polygon points='{x - 5},{y1 + 8} {x},{y1} {x + 5},{y1 + 8}' fill='{_LINE}'/>"
    return line(x, y0, x, y1 + 7) + head


def page(width: float, height: float, parts: list[str]) -> str:
    size = f"width='{width:.0f}' height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}'"
    white = "<rect width='100%' height='100%' fill='white'/>"
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {size}>", white, *parts, "</svg>", ""])
