"""Robots and motions to be shown together: what a caller gave, checked; as a session, a scene, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.viewer.html import page_html
from robomorph.viewer.html_file import write_html
from robomorph.viewer.marks import LAYERS, marks_of
from robomorph.viewer.motions import motion_document
from robomorph.viewer.poses import sevens
from robomorph.viewer.scene import make_scene
from robomorph.viewer.session import Session
from robomorph.viewer.shown import Shown, make_shown
from robomorph.viewer.trajectory import Trajectory, as_trajectory


@dataclass
class Exhibit:
    """Robots (ghosts last) and motions with the number of the robot that makes each; marks: that stand still,
    in the page's form."""

    shown: list[Shown]
    motions: list[tuple[int, Trajectory]]
    marks: list[dict[str, Any]] = field(default_factory=list)

    def session(self) -> Session:
        self.document()  # warnings about meshes belong to the caller
        return Session(self.shown, self.document)

    def document(self) -> dict[str, Any]:
        """The scene: robots as they are now, and the motions."""
        robots = [
            {**entry, "q": shown.q.tolist(), "poses": sevens(shown.robot.link_poses(shown.q)).tolist()}
            for entry, shown in zip(self._scene["robots"], self.shown, strict=True)
        ]
        return {**self._scene, "robots": robots}

    def page(self, session: Session) -> str:
        """The live page."""
        return page_html(session.scene()["scene"], live=True)

    def file(self) -> str:
        """The page that needs no server; marks of all layers are in it."""
        marks = [mark for i, shown in enumerate(self.shown) for mark in _all_marks(i, shown)]
        return page_html({**self.document(), "marks": [*self.marks, *marks]})

    def save(self, path: str | Path) -> None:
        """That page as a file."""
        write_html(path, self.file())

    @cached_property
    def _scene(self) -> dict[str, Any]:
        """Shapes, meshes and motions are read and computed once."""
        motions = [motion_document(self.shown[i], motion, i) for i, motion in self.motions]
        return make_scene(self.shown, trajectories=motions)


def make_exhibit(
    robot: Any,
    trajectory: Any = None,
    *,
    q: Any = None,
    frames: Any = None,
    f_ext: Any = None,
    ghosts: Sequence[Any] = (),
    move_base: bool = False,
    rate: float | None = None,
) -> Exhibit:
    """What `robomorph.view` was asked to show; its words are those of `view`."""
    alone = isinstance(robot, Robot)
    robots: list[Any] = [robot] if alone else _listed("robot", robot)
    places = [q] if alone else [None] * len(robots) if q is None else _listed("q", q)
    if len(places) != len(robots):
        raise ArgumentError(
            f"q: expected one configuration for each of {len(robots)} robots, found {len(places)}"
        )
    if not isinstance(move_base, bool):
        raise ArgumentError(f"move_base: expected True or False, found {move_base!r}")
    shown = [
        make_shown(one, at, frames if i == 0 else None, f_ext if i == 0 else None, move_base=move_base)
        for i, (one, at) in enumerate(zip(robots, places, strict=True))
    ]
    motions = _motions(shown, trajectory, rate)
    if q is None:
        for i, motion in reversed(motions):  # a robot begins where its first motion does
            shown[i].q, shown[i].start = motion.q[0].copy(), motion.q[0].copy()
    return Exhibit([*shown, *(_ghost(robots[0], ghost) for ghost in ghosts)], motions)


def _listed(name: str, given: Any) -> list[Any]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        found = "none" if isinstance(given, Sequence) and not given else type(given).__name__
        raise ArgumentError(f"{name}: expected one for a robot, or a list, found {found}")
    return list(given)


def _motions(shown: list[Shown], given: Any, rate: float | None) -> list[tuple[int, Trajectory]]:
    if given is None:
        if rate is not None:
            raise ArgumentError("rate: expected with a trajectory, found without: leave it out")
        return []
    if not _is_list_of_motions(given):
        return [(0, as_trajectory(shown[0].robot, given, rate))]
    if len(shown) == 1:
        return [(0, as_trajectory(shown[0].robot, one, rate)) for one in given]
    if len(given) != len(shown):
        raise ArgumentError(
            f"trajectory: expected one (or None) for each of {len(shown)} robots, found {len(given)}"
        )
    pairs = enumerate(given)
    return [(i, as_trajectory(shown[i].robot, one, rate)) for i, one in pairs if one is not None]


def _is_list_of_motions(given: Any) -> bool:
    """A list of numbers is one motion; one of trajectories, files or pairs several."""
    return isinstance(given, list) and not all(isinstance(x, (int, float, list)) for x in given)


def _ghost(first: Robot, given: Any) -> Shown:
    """A configuration of the first robot, or a pair (robot, q)."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Robot):
        first, given = given
    if given is None:
        raise ArgumentError("ghosts: expected configurations (nq,) or pairs (robot, q), found None")
    return make_shown(first, given, ghost=True)


def _all_marks(index: int, shown: Shown) -> list[dict[str, Any]]:
    if shown.ghost:
        return []
    frame = shown.frames[0] if shown.frames else None
    return marks_of(index, shown, shown.q, shown.robot.link_poses(shown.q), LAYERS, frame)
