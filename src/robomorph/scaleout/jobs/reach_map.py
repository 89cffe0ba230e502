"""A reachability map: of the targets in every voxel of a box, how many were reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_CELL, _GAP, _TOP = 12, 40, 40  # px
_VIEWS = (("x", "y", 2), ("x", "z", 1), ("y", "z", 0))  # across, up, and the axis that is summed over


class ReachMap:
    """Counts of a grid with `sides` voxels along each side of `box` (two corners, m)."""

    def __init__(self, box: Any, sides: int) -> None:
        self._lower, self._upper = (np.array(corner) for corner in box)
        self._sides = sides
        self.tried = np.zeros((sides,) * 3, np.int64)
        self.solved = np.zeros((sides,) * 3, np.int64)

    def add(self, places: Array, success: Array) -> None:
        """Targets (n, 3) in the box, and which were reached (n,). The upper faces belong to the last
        voxels."""
        share = (places - self._lower) / (self._upper - self._lower)
        index = np.clip((share * self._sides).astype(np.int64), 0, self._sides - 1)
        np.add.at(self.tried, tuple(index.T), 1)
        np.add.at(self.solved, tuple(index[success].T), 1)

    def arrays(self) -> dict[str, Array]:
        """tried, solved (n, n, n) over x, y, z; edges (3, n + 1) in m."""
        pairs = zip(self._lower, self._upper, strict=True)
        edges = np.stack([np.linspace(a, b, self._sides + 1) for a, b in pairs])
        return {"tried": self.tried, "solved": self.solved, "edges": edges}

    def svg(self, title: str) -> str:
        """Three views along the axes: the share of the targets behind every square that was reached."""
        width = _CELL * self._sides
        size = (3 * (width + _GAP) + _GAP, width + _TOP + _GAP)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
            'font-family="sans-serif" font-size="13">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{_GAP}" y="22">{_escaped(title)}</text>',
        ]
        for k, view in enumerate(_VIEWS):
            parts += self._view(_GAP + k * (width + _GAP), width, view)
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _view(self, left: int, width: int, view: tuple[str, str, int]) -> list[str]:
        across, up, axis = view
        tried, solved = self.tried.sum(axis=axis), self.solved.sum(axis=axis)
        out = [
            f'<text x="{left}" y="{_TOP + width + 18}">{across}: {self._range(across)}, '
            f"{up}: {self._range(up)}</text>"
        ]
        for (i, j), count in np.ndenumerate(tried):
            if count:
                shade = round(255 * (1.0 - solved[i, j] / count))
                y = _TOP + width - _CELL * (j + 1)
                fill = f"rgb({shade},{(255 + shade) // 2},{shade})"
                out.append(
                    f'<rect x="{left + _CELL * i}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{fill}"/>'
                )
        return out

    def _range(self, axis: str) -> str:
        k = "xyz".index(axis)
        return f"{self._lower[k]:.2f} to {self._upper[k]:.2f} m"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
