"""A small picture of an arm in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomorph.robot import Robot

_WIDTH, _HEIGHT = 56, 20
_ASPECT = 0.5  # a character is about twice as high as wide


def draw_arm(robot: Robot, q: Any, frame: str) -> str:
    """The joints from the world to `frame` and the lines between them, seen from the side that shows most:
    o a joint, X the frame, # the base. The caption names the axes."""
    import numpy as np

    points = arm_points(robot, q, frame)
    spread = np.ptp(points, axis=0)
    across = 0 if spread[0] >= spread[1] else 1
    flat = points[:, [across, 2]]
    low, high = flat.min(axis=0), flat.max(axis=0)
    wide, tall = (max(float(x), 1e-6) for x in high - low)
    scale = min((_WIDTH - 3) * _ASPECT / wide, (_HEIGHT - 3) / tall)
    columns = np.rint(1 + (flat[:, 0] - low[0]) * scale / _ASPECT).astype(int)
    rows = np.rint(1 + (high[1] - flat[:, 1]) * scale).astype(int)
    grid = [[" "] * (int(columns.max()) + 2) for _ in range(int(rows.max()) + 2)]
    for k in range(len(points) - 1):
        _line(grid, (int(columns[k]), int(rows[k])), (int(columns[k + 1]), int(rows[k + 1])))
    for k in range(len(points)):
        grid[int(rows[k])][int(columns[k])] = "#" if k == 0 else "X" if k == len(points) - 1 else "o"
    picture = "\n".join("".join(row).rstrip() for row in grid)
    return f"{picture}\n{'xy'[across]} to the right, z up; {spread[across]:.3g} m by {spread[2]:.3g} m"


def arm_points(robot: Robot, q: Any, frame: str) -> Any:
    """(n, 3): the world's origin, the origin of every body that carries the frame, the frame's."""
    import numpy as np

    model = robot.model
    body = model.frames[model.frame_index(frame)].body
    names = [frame]
    while body >= 0:
        names.insert(0, model.bodies[body].name)
        body = model.bodies[body].parent
    poses = [robot.forward_kinematics(q, name)[:3, 3] for name in dict.fromkeys(names)]
    return np.array([np.zeros(3), *poses])


def _line(grid: list[list[str]], a: tuple[int, int], b: tuple[int, int]) -> None:
    """A line of the character that is closest to its slope."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    steps = max(abs(dx), abs(dy))
    if steps == 0:
        return
    steep, flat = abs(dy) > 2 * abs(dx), abs(dx) > 2 * abs(dy)
    sign = "|" if steep else "-" if flat else "\\" if (dx > 0) == (dy > 0) else "/"
    for k in range(1, steps):
        grid[a[1] + round(k * dy / steps)][a[0] + round(k * dx / steps)] = sign
