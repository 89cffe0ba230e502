"""`robomorph.view`: a robot in the browser, live, with sliders, a handle and motions.

Nothing else is imported before it is called: it is a name of the package, which must load quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomorph.viewer.live import Viewer


def view(
    robot: Any,
    trajectory: Any = None,
    *,
    q: Any = None,
    frames: Any = None,
    f_ext: Any = None,
    ghosts: Sequence[Any] = (),
    move_base: bool = False,
    rate: float | None = None,
    port: int = 0,
    open_browser: bool = True,
    block: bool | None = None,
) -> Viewer:
    """Show robots in a page of this computer: sliders for joints, a handle that inverse kinematics follows,
    and motions with plots against the limits (docs/viewer.md).

    robot: one, or a list. trajectory: a Trajectory, a plan, a simulated loop, the path of an NPZ or CSV file,
        a pair (times, q), or (T, nq) with `rate`; or a list: several of one robot, or one (or None) for each.
    q: (nq,) to begin with (a list of such for several robots); None: all zero, or as near as limits allow.
    frames: names of what the handle can hold; None: everything that moves.
    f_ext: link -> (6,) as in `inverse_dynamics`, drawn as arrows. With several robots, of the first.
    ghosts: configurations (nq,) of the first robot, shown faintly, or pairs (robot, q).
    move_base: a floating base follows the handle, too. rate: samples a second of a trajectory without times.
    port: 0 for any that is free. open_browser: False leaves opening `viewer.url` to you.
    block: wait until it is closed or interrupted; None: only in scripts that open a browser, as they would
        otherwise end before anything is seen.
    """
    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.live import present

    exhibit = make_exhibit(
        robot, trajectory, q=q, frames=frames, f_ext=f_ext, ghosts=ghosts, move_base=move_base, rate=rate
    )
    return present(exhibit, port, open_browser, block)
