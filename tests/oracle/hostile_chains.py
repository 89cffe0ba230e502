"""Chains that ask much of fixed point: of all proportions, ranges and couplings."""

from __future__ import annotations

from typing import NamedTuple

Triple = tuple[float, float, float]
Range = tuple[float, float]


class Link(NamedTuple):
    """A joint and its link: where it stands, what it does, and whom it follows (index, ratio, offset)."""

    xyz: Triple = (0.1, 0.0, 0.0)
    axis: Triple = (0.0, 0.0, 1.0)
    limit: Range | None = None
    rpy: Triple = (0.0, 0.0, 0.0)
    slides: bool = False
    follows: tuple[int, float, float] | None = None


Y, X, SKEW = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.36, -0.48, 0.8)
_ROUND = [
    Link((0.0, 0.0, 0.2)),
    Link((0.0, 0.0, 0.1), Y),
    Link((0.3, 0.0, 0.0), Y),
    Link((0.2, 0.0, 0.0), SKEW),
]
_SLIDE = (-0.3, 0.4)

HOSTILE: dict[str, list[Link]] = {
    "a joint": [Link()],
    "links of a tenth of a millimetre and of ten metres": [
        Link((1e-4, 0.0, 0.0)),
        Link((10.0, 0.0, 0.0), Y),
        Link((0.0, 1e-4, 0.0), X),
        Link((0.0, 0.0, 3.0), SKEW),
        Link((1e-4, 1e-4, 0.0), Y),
    ],
    "tiny": [Link((1e-5 * k, 0.0, 1e-5), axis) for k, axis in enumerate((X, Y, SKEW, Y))],
    "huge": [Link((1e5, 2e4 * k, 0.0), axis) for k, axis in enumerate((SKEW, Y, X, Y))],
    "ranges without width": [
        *_ROUND,
        Link((0.2, 0.0, 0.0), Y, (0.7, 0.7)),
        Link(axis=SKEW, limit=(-1.1, -1.1)),
        Link((0.0, 0.1, 0.0), SKEW, (0.05, 0.05), slides=True),
    ],
    "ranges of less than a word": [
        *_ROUND,
        Link(axis=Y, limit=(0.3, 0.3 + 1e-9)),
        Link(axis=X, limit=(0, 1e-12)),
    ],
    "many turns": [Link(axis=axis, limit=(-40.0, 45.0)) for axis in (SKEW, Y, X, Y)],
    "ranges without zero": [
        Link((0.0, 0.0, 0.1), limit=(1.0, 2.0)),
        Link(axis=Y, limit=(-2.5, -1.0)),
        Link((0.2, 0.0, 0.0), Y, (7.0, 9.0)),
        Link(axis=X, limit=(0.2, 0.3), slides=True),
    ],
    "followers": [
        *_ROUND,
        Link(axis=Y, follows=(1, -2.5, 0.4)),
        Link((0.1, 0.1, 0.0), SKEW, follows=(2, 7.5, -11.0)),
        Link((0.1, 0.0, 0.0), Y, follows=(3, 0.14, 300.0)),
    ],
    "a follower far slower, of a joint with limits": [
        *_ROUND,
        Link(axis=Y, limit=(-3.0, 3.0)),
        Link((0.2, 0.0, 0.0), SKEW, follows=(4, 1e-7, 0.3)),
    ],
    "a slide that turns a joint": [
        *_ROUND,
        Link(axis=X, limit=_SLIDE, slides=True),
        Link((0.2, 0.0, 0.1), SKEW, follows=(4, 3.0, 0.2)),
    ],
    "a joint that moves a slide": [
        *_ROUND,
        Link(axis=Y, limit=(-2.0, 2.0)),
        Link((0.2, 0.0, 0.1), SKEW, follows=(4, -0.1, 0.2), slides=True),
    ],
    "slides alone": [
        Link(axis=X, limit=(-1.0, 2.0), slides=True),
        Link(axis=Y, limit=(0.5, 0.75), slides=True),
        Link(axis=SKEW, limit=(-3.0, -1.0), slides=True),
    ],
    "a long slide": [*_ROUND, Link(axis=SKEW, limit=(-40.0, 90.0), slides=True), Link(axis=Y)],
    "parallel axes": [Link((0.1, 0.0, 0.0), Y) for _ in range(12)],
    "axes in one line": [
        Link((0.0, 0.0, 0.1)),
        Link((0.0, 0.0, 0.1)),
        Link((0.0, 0.0, 0.0)),
        Link(axis=Y),
        Link(),
    ],
    "two hundred": [Link((0.02, 0.0, 0.0), axis) for axis in (Y, X, (0.0, 0.0, 1.0), Y) for _ in range(50)],
}


def urdf(name: str, links: list[Link], tip: Triple = (0.1, 0.02, 0.0)) -> str:
    """The chain; the frame at its end is `tool`."""
    parts = [f'<robot name="{name}"><link name="link0"/>']
    for k, link in enumerate(links):
        kind = "prismatic" if link.slides else "continuous" if link.limit is None else "revolute"
        low, high = link.limit or (-1e3, 1e3)
        limit = f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
        follows = ""
        if link.follows:
            source, ratio, offset = link.follows
            follows = f'<mimic joint="joint{source}" multiplier="{ratio}" offset="{offset}"/>'
        parts.append(
            f'<link name="link{k + 1}"/><joint name="joint{k}" type="{kind}"><parent link="link{k}"/>'
            f'<child link="link{k + 1}"/><origin xyz="{_text(link.xyz)}" rpy="{_text(link.rpy)}"/>'
            f'<axis xyz="{_text(link.axis)}"/>{"" if kind == "continuous" else limit}{follows}</joint>'
        )
    parts.append(
        f'<link name="tool"/><joint name="end" type="fixed"><parent link="link{len(links)}"/>'
        f'<child link="tool"/><origin xyz="{_text(tip)}"/></joint></robot>'
    )
    return "\n".join(parts)


def _text(values: Triple) -> str:
    return " ".join(repr(float(x)) for x in values)
