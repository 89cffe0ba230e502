"""Robots as lines: a strip of snapshots, and a tree of links."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.evidence.view import Html, View, join, number, tag, words

_TALL, _WIDE = 150.0, 120.0
_ROW = 15.0


def stick_strip(snapshots: View) -> Html:
    """Snapshots side by side, each from the side (x, z) and from the front (y, z), all to one scale."""
    points = [end for shot in snapshots.value for bone in shot["bones"] for end in bone]
    spans = [max(p[k] for p in points) - min(p[k] for p in points) for k in range(3)]
    scale = min(_TALL / max(spans[2], 1e-6), _WIDE / max(spans[0], spans[1], 1e-6))
    low = [min(p[k] for p in points) for k in range(3)]
    cells = []
    for shot in snapshots:
        views = [_sticks(shot["bones"].value, axis, low, spans, scale) for axis in (0, 1)]
        cells.append(tag("div", *views, number(shot["time_s"], "sig2"), " s", class_="panel"))
    return tag("div", *cells, class_="patterns")


def _sticks(
    bones: Sequence[Sequence[Sequence[float]]],
    axis: int,
    low: Sequence[float],
    spans: Sequence[float],
    scale: float,
) -> Html:
    def place(end: Sequence[float]) -> str:
        x = 6.0 + (end[axis] - low[axis] - spans[axis] / 2.0) * scale + _WIDE / 2.0
        y = 6.0 + (spans[2] - (end[2] - low[2])) * scale
        return f"{x:.1f} {y:.1f}"

    path = "".join(f"M{place(a)}L{place(b)}" for a, b in bones)
    seen = "from the side" if axis == 0 else "from the front"
    box = f"viewBox='0 0 {_WIDE + 12:.0f} {spans[2] * scale + 12:.0f}'"
    name = f"role='img' aria-label='the robot as lines, {seen}'"
    return Html(f"<svg {box} {name}><path class='line k{axis}' d='{path}'/></svg>")


def tree_picture(rows: View) -> Html:
    """Links below each other, moved to the right by their distance from the root, joined to their parents."""
    at = {row["link"].value: k for k, row in enumerate(rows)}
    deepest = max(row["depth"].value for row in rows)
    step = min(22.0, 230.0 / max(1, deepest))
    parts = []
    for k, row in enumerate(rows):
        x, y = 6.0 + step * row["depth"].value, 10.0 + _ROW * k
        parent = row.get("parent")
        if parent is not None:
            above = at[parent.value]
            px, py = 6.0 + step * (row["depth"].value - 1), 10.0 + _ROW * above
            parts.append(f"<path class='axis' d='M{px:.1f} {py:.1f}V{y:.1f}H{x:.1f}'/>")
        kind = "k1" if parent is None else "k0"
        parts.append(f"<circle class='fill {kind}' cx='{x:.1f}' cy='{y:.1f}' r='3'/>")
        parts.append(f"<text x='{x + 6:.1f}' y='{y + 4:.1f}'>{words(row['link'], svg=True)}</text>")
    box = f"viewBox='0 0 380 {10.0 + _ROW * len(rows):.0f}'"
    svg = Html(f"<svg {box} role='img' aria-label='the tree of links from its root'>{''.join(parts)}</svg>")
    return tag("div", join(tag("div", svg)), class_="panels")
