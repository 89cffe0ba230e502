"""The robot that a plan is about: its links from the root it stands on, and its coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.balls import Ball, Matrix, Vector, ball
from robomorph.checker.document import Refused
from robomorph.checker.urdf import MOVING, Description, Joint, Mass, Placement, read_urdf

OPTIONS = ("root", "floating_base", "mimic", "snap", "gravity", "locked", "payloads", "tool_frames")


@dataclass(frozen=True)
class Step:
    """From a link to the next one, through a joint, in the file's direction or against it.

    source: which coordinate moves it, or None if it stands: own position = multiplier * that + offset.
    """

    joint: Joint
    forward: bool
    source: int | None
    multiplier: Ball
    offset: Fraction

    @property
    def near(self) -> str:
        return self.joint.parent if self.forward else self.joint.child

    @property
    def far(self) -> str:
        return self.joint.child if self.forward else self.joint.parent


@dataclass(frozen=True)
class Robot:
    """steps: parents before children. joints: those with a coordinate of their own, in its order.
    counted: masses that the centre of mass counts; moved: those that some coordinate moves."""

    root: str
    file_root: str
    chosen: bool
    steps: tuple[Step, ...]
    joints: tuple[Joint, ...]
    counted: tuple[Mass, ...]
    moved: tuple[Mass, ...]
    frames: Mapping[str, tuple[str, Placement | None]]
    gravity: Vector | None  # None: straight down
    snap: float

    def limits(self, which: int) -> list[float]:
        """lower, upper, velocity or effort of every joint, by number."""
        return [joint.limits[which] for joint in self.joints]


def read_robot(data: Any) -> Robot:
    fields = read.record(data, "robot", ("text", "options"))
    options = read.record(fields["options"], "robot options", OPTIONS)
    if read.flag(options["floating_base"], "floating_base"):
        raise Refused("robot: expected a base that stands: a floating one is no spline")
    snap = read.number(options["snap"], "snap")
    described = read_urdf(read.name(fields["text"], "robot text"), snap)
    children = {joint.child for joint in described.joints}
    roots = [link for link in described.links if link not in children]
    if len(roots) != 1:
        raise Refused(f"robot: expected one root link, found {len(roots)}")
    root = roots[0] if options["root"] is None else read.name(options["root"], "root")
    if root not in described.links:
        raise Refused(f"robot: root: no link is called {root!r}")
    walked = _walk(described, root)
    return _assemble(described, walked, options, roots[0], root, snap)


def _walk(described: Description, root: str) -> list[tuple[Joint, bool]]:
    """Joints depth first from the root, in the order of the file among those of one link."""
    known = set(described.links)
    for joint in described.joints:
        if not {joint.parent, joint.child} <= known:
            raise Refused(f"robot: joint {joint.name!r}: expected links that the file describes")
    beside: dict[str, list[tuple[Joint, bool, str]]] = {link: [] for link in described.links}
    for joint in described.joints:
        beside[joint.parent].append((joint, True, joint.child))
        beside[joint.child].append((joint, False, joint.parent))
    out: list[tuple[Joint, bool]] = []
    reached, waiting = {root}, list(reversed(beside[root]))
    while waiting:
        joint, forward, far = waiting.pop()
        if far not in reached:
            reached.add(far)
            out.append((joint, forward))
            waiting += reversed(beside[far])
    if reached != known or len(out) != len(described.joints):
        raise Refused("robot: expected one tree of links")
    return out


def _assemble(
    described: Description,
    walked: list[tuple[Joint, bool]],
    options: Mapping[str, Any],
    file_root: str,
    root: str,
    snap: float,
) -> Robot:
    locked = _locked(described, options["locked"])
    follow = read.flag(options["mimic"], "mimic")
    by_name = {joint.name: joint for joint in described.joints}
    free = [
        joint
        for joint, _ in walked
        if joint.kind in MOVING and joint.name not in locked and not (follow and joint.mimic)
    ]
    place = {joint.name: k for k, joint in enumerate(free)}
    steps = []
    for joint, forward in walked:
        source, multiplier, offset = _leader(joint, by_name, follow)
        if source is None or by_name[source].kind == "fixed":
            steps.append(Step(joint, forward, None, 0, offset))
        elif source in locked:
            steps.append(Step(joint, forward, None, 0, multiplier * locked[source] + offset))
        else:
            steps.append(Step(joint, forward, place[source], ball(multiplier), offset))
    moving = {root: False}
    for step in steps:
        moving[step.far] = moving[step.near] or step.source is not None
    masses = [*described.masses, *_payloads(options["payloads"], set(described.links))]
    moved = tuple(mass for mass in masses if moving[mass.link])
    chosen = options["root"] is not None
    gravity = None
    if options["gravity"] is not None:
        gravity = [ball(x) for x in read.numbers(options["gravity"], "gravity", 3)]
    return Robot(
        root,
        file_root,
        chosen,
        tuple(steps),
        tuple(free),
        tuple(masses) if chosen else moved,
        moved,
        _frames(described, options["tool_frames"]),
        gravity,
        snap,
    )


def _leader(joint: Joint, joints: Mapping[str, Joint], follow: bool) -> tuple[str | None, Fraction, Fraction]:
    """The joint that another one follows, at the end of a chain of mimics: multiplier and offset."""
    multiplier, offset, seen = Fraction(1), Fraction(0), {joint.name}
    if joint.kind == "fixed":
        return None, Fraction(0), Fraction(0)
    while follow and joint.mimic is not None:
        name, own, shift = joint.mimic
        if name not in joints or name in seen:
            raise Refused(f"robot: joint {joint.name!r}: expected a mimic that leads to another joint")
        seen.add(name)
        offset += multiplier * shift
        multiplier *= own
        joint = joints[name]
    return joint.name, multiplier, offset


def _locked(described: Description, data: Any) -> dict[str, Fraction]:
    if not isinstance(data, Mapping):
        raise Refused("robot: locked: expected an object")
    kinds = {joint.name: joint.kind for joint in described.joints}
    out = {}
    for joint, value in data.items():
        if kinds.get(joint) not in MOVING:
            raise Refused(f"robot: locked: no moving joint is called {joint!r}")
        out[joint] = Fraction(read.numbers(value, f"locked {joint}", 1)[0])
    return out


def _payloads(data: Any, links: set[str]) -> list[Mass]:
    if not isinstance(data, Mapping) or not set(data) <= links:
        raise Refused("robot: payloads: expected an object from links")
    out = []
    for link, value in data.items():
        fields = read.record(value, f"payload of {link}", ("mass", "com", "tensor"))
        out.append(
            Mass(
                link,
                ball(read.number(fields["mass"], "mass")),
                [ball(x) for x in read.numbers(fields["com"], "com", 3)],
                _matrix(fields["tensor"], "tensor", 3),
            )
        )
    return out


def _frames(described: Description, data: Any) -> dict[str, tuple[str, Placement | None]]:
    frames: dict[str, tuple[str, Placement | None]] = {link: (link, None) for link in described.links}
    if not isinstance(data, Mapping) or set(data) & set(frames):
        raise Refused("robot: tool_frames: expected an object from new names")
    for name, value in data.items():
        fields = read.record(value, f"tool frame {name}", ("link", "pose"))
        if fields["link"] not in described.links:
            raise Refused(f"robot: tool frame {name!r}: no link is called {fields['link']!r}")
        pose = _matrix(fields["pose"], "pose", 4)
        frames[name] = (
            fields["link"],
            Placement([row[:3] for row in pose[:3]], [row[3] for row in pose[:3]]),
        )
    return frames


def _matrix(data: Any, what: str, size: int) -> Matrix:
    rows = read.items(data, what)
    if len(rows) != size:
        raise Refused(f"{what}: expected {size} rows, found {len(rows)}")
    return [[ball(x) for x in read.numbers(row, what, size)] for row in rows]
