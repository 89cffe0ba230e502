"""The shape of a description: one tree, every name known once, mimic joints that lead somewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robomorph.naming import hint, listed

from ..errors import ModelError
from .arrays import LARGEST
from .description import Description, Joint, Link, Mimic
from .kinds import FIXED, is_scalar
from .notes import MIMIC_UNUSED, NEGATIVE_DYNAMICS, Notes, Place, fault


@dataclass(frozen=True, eq=False)
class Tree:
    """The links from the root, depth first in file order; `joints[i]` leads to `links[i + 1]`."""

    description: Description
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    mimics: Mapping[str, Mimic]  # joint name -> what it follows, chains resolved; empty if mimics are free
    file_root: str | None = None  # the file's own root link, if the caller chose one


def joint_place(description: Description, joint: Joint) -> Place:
    """Where `joint` stands, for messages."""
    return Place(description.source, joint.line, f'<joint name="{joint.name}">')


def link_place(description: Description, link: Link) -> Place:
    """Where `link` stands, for messages."""
    return Place(description.source, link.line, f'<link name="{link.name}">')


def arrange(description: Description, notes: Notes, *, mimic: bool) -> Tree:
    """Check that links and joints form one tree, and order them depth first.

    With `mimic` False a <mimic> that leads nowhere is noted, since it does no harm then.
    """
    _check_unique(description, description.links, "link")
    _check_unique(description, description.joints, "joint")
    links = {link.name: link for link in description.links}
    parents = _parent_joints(description, links)
    root = _root(description, parents)
    joints = depth_first(description, root)
    _note_negative(description, notes)
    if len(joints) + 1 < len(links):
        raise _loop(description, parents, {root.name, *(joint.child for joint in joints)})
    ordered = (root, *(links[joint.child] for joint in joints))
    return Tree(description, ordered, joints, _resolved_mimics(description, notes, mimic=mimic))


def _note_negative(description: Description, notes: Notes) -> None:
    for joint in description.joints:
        values = {name: getattr(joint, name) for name in ("armature", "damping", "friction", "stiffness")}
        found = ", ".join(f"{name} {value:g}" for name, value in values.items() if value < 0.0)
        if found:
            notes.add(NEGATIVE_DYNAMICS, joint_place(description, joint), found)


def _check_unique(description: Description, items: Sequence[Link] | Sequence[Joint], what: str) -> None:
    lines: dict[str, int] = {}
    for item in items:
        if item.name in lines:
            place = Place(description.source, item.line, f'<{what} name="{item.name}">')
            first = f" (the first is on line {lines[item.name]})" if lines[item.name] else ""
            found = f"a second {what} called {item.name!r}{first}"
            raise fault(
                place, expected=f"a {what} name used once", found=found, fix="rename or remove one of them"
            )
        lines[item.name] = item.line


def _parent_joints(description: Description, links: Mapping[str, Link]) -> dict[str, Joint]:
    """The joint that leads to each link; every link but the root has exactly one."""
    parents: dict[str, Joint] = {}
    for joint in description.joints:
        place = joint_place(description, joint)
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise fault(
                    place,
                    expected=f"a {end} link that the file describes",
                    found=repr(name),
                    fix=f"describe that link or correct the name; {hint(name, list(links))}",
                )
        if joint.parent == joint.child:
            raise fault(
                place,
                expected="two different links",
                found=f"a loop: parent and child are {joint.child!r}",
                fix="name another parent or child",
            )
        if joint.child in parents:
            other = parents[joint.child]
            found = (
                f"{joint.child!r} also below joint {other.name!r} (line {other.line}), which closes a loop"
            )
            raise fault(
                place,
                expected="a child link with one parent joint",
                found=found,
                fix="cut the loop by removing one of the two joints",
            )
        parents[joint.child] = joint
    return parents


def _root(description: Description, parents: Mapping[str, Joint]) -> Link:
    roots = [link for link in description.links if link.name not in parents]
    if not roots:
        raise _loop(description, parents, set())
    if len(roots) > 1:
        place = link_place(description, roots[1])
        found = f"{len(roots)}: {listed([link.name for link in roots])}"
        raise fault(
            place,
            expected="one root link, which no joint has as its child",
            found=found,
            fix="connect the others with joints, or remove them",
        )
    return roots[0]


def _loop(description: Description, parents: Mapping[str, Joint], reached: set[str]) -> ModelError:
    """The error for joints that form a closed loop among the links not `reached` from the root."""
    link = next(name for name in parents if name not in reached)
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = parents[link].parent
    cycle = [*path[path.index(link) :], link]
    return fault(
        joint_place(description, parents[link]),
        expected="a tree of links",
        found=f"a loop of links: {' <- '.join(cycle[:12])}",
        fix="cut the loop by removing one of its joints",
    )


def depth_first(description: Description, root: Link) -> tuple[Joint, ...]:
    """The joints below `root`, in file order among siblings."""
    children: dict[str, list[Joint]] = {}
    for joint in description.joints:
        children.setdefault(joint.parent, []).append(joint)
    ordered: list[Joint] = []
    waiting = list(reversed(children.get(root.name, [])))
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting.extend(reversed(children.get(joint.child, [])))
    return tuple(ordered)


def _resolved_mimics(description: Description, notes: Notes, *, mimic: bool) -> dict[str, Mimic]:
    joints = {joint.name: joint for joint in description.joints}
    resolved: dict[str, Mimic] = {}
    for joint in description.joints:
        if joint.mimic is None:
            continue
        try:
            resolved[joint.name] = _follow(description, joints, joint)
        except ModelError:
            if mimic:
                raise
            notes.add(MIMIC_UNUSED, joint_place(description, joint), f"mimics {joint.mimic.joint!r}")
    return resolved if mimic else {}


def _follow(description: Description, joints: Mapping[str, Joint], joint: Joint) -> Mimic:
    """Follow mimics of mimics to the independent joint: position = multiplier * its position + offset."""
    place, seen = joint_place(description, joint), [joint.name]
    current, multiplier, offset = joint, 1.0, 0.0
    while current.mimic is not None:
        step = current.mimic
        if step.joint not in joints:
            raise fault(
                joint_place(description, current),
                expected="<mimic> of a joint that the file describes",
                found=repr(step.joint),
                fix=f"correct the name, or load with mimic=False; {hint(step.joint, list(joints))}",
            )
        if step.joint == current.name:
            raise fault(
                joint_place(description, current),
                expected="<mimic> of another joint",
                found="of the joint itself",
                fix="name another joint, remove the <mimic>, or load with mimic=False",
            )
        if step.joint in seen:
            raise fault(
                place,
                expected="<mimic> joints that lead to an independent joint",
                found="a circle: " + " -> ".join([*seen, step.joint][:12]),
                fix="remove one <mimic> of the circle, or load with mimic=False",
            )
        offset += multiplier * step.offset
        multiplier *= step.multiplier
        seen.append(step.joint)
        current = joints[step.joint]
    if not is_scalar(current.kind) and current.kind != FIXED:
        raise fault(
            place,
            expected="<mimic> of a joint with one coordinate",
            found=f"{current.name!r} of type {current.kind}",
            fix="name a revolute, continuous or prismatic joint",
        )
    if not (abs(multiplier) <= LARGEST and abs(offset) <= LARGEST):
        raise fault(
            place,
            expected=f"<mimic> with a multiplier and an offset of at most {LARGEST:g} in size",
            found=f"{multiplier} and {offset} along the chain of mimics",
            fix="write smaller ones",
        )
    return Mimic(current.name, multiplier, offset)
