"""The papers' sparsity figure: what the joints' transforms cost as hardware, dense, superposed and one by
one.

A unit that multiplies any joint's 6x6 motion transform with a vector needs a multiplier per entry that some
joint populates, and per row an adder less than its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.algorithms.frames import plan_frames
from robomorph.algorithms.tree import Tree, TreeLink, build_tree
from robomorph.ir.program import Port
from robomorph.ir.trace import Tracer
from robomorph.model import Model
from robomorph.spatial import Transform

Pattern = tuple[tuple[bool, ...], ...]

DENSE: Pattern = ((True,) * 6,) * 6
# Spatial motion transforms, angular first: the linear velocity of the parent never reaches the angular rows.
AGNOSTIC: Pattern = ((True,) * 3 + (False,) * 3,) * 3 + ((True,) * 6,) * 3


@dataclass(frozen=True, slots=True)
class TransformUnit:
    """Multipliers and adders of one unit for a pattern (averages may be fractions)."""

    multipliers: float
    adders: float

    @classmethod
    def of(cls, pattern: Pattern) -> TransformUnit:
        rows = [sum(row) for row in pattern]
        return cls(sum(rows), sum(max(0, n - 1) for n in rows))


@dataclass(frozen=True)
class SparsityFigure:
    """Per joint and for the whole robot. `kept` is the share of the average joint's saved operations that the
    one superposed unit still saves, counted from a dense unit; `kept_beyond_agnostic` the same counted from
    the robot-agnostic one. The papers' hand-made unit kept 33.3%; they do not say from which of the two."""

    joints: tuple[TransformUnit, ...]
    dense: TransformUnit
    agnostic: TransformUnit
    superposed: TransformUnit
    average: TransformUnit

    @property
    def kept(self) -> float:
        return _saved(self.dense, self.superposed) / _saved(self.dense, self.average)

    @property
    def kept_beyond_agnostic(self) -> float:
        gain = _saved(self.agnostic, self.average)
        return _saved(self.agnostic, self.superposed) / gain if gain else 1.0


def _saved(base: TransformUnit, unit: TransformUnit) -> float:
    return (base.multipliers + base.adders) - (unit.multipliers + unit.adders)


def sparsity_figure(model: Model, *, fitted: bool) -> SparsityFigure:
    """With `fitted`, internal frames chosen to be sparse; without, the description's own, axes turned onto
    z."""
    tree = build_tree(model, plan_frames(model, fit=fitted), regroup=True)
    patterns = joint_patterns(tree)
    units = [TransformUnit.of(p) for p in patterns]
    count = len(units)
    average = TransformUnit(sum(u.multipliers for u in units) / count, sum(u.adders for u in units) / count)
    return SparsityFigure(
        tuple(units),
        TransformUnit.of(DENSE),
        TransformUnit.of(AGNOSTIC),
        TransformUnit.of(superpose(patterns)),
        average,
    )


def joint_patterns(tree: Tree) -> list[Pattern]:
    """Which entries of every joint's transform are not zero for all configurations."""
    return [_pattern(link) for link in tree.links]


def superpose(patterns: Sequence[Pattern]) -> Pattern:
    return tuple(tuple(any(p[i][j] for p in patterns) for j in range(6)) for i in range(6))


def _pattern(link: TreeLink) -> Pattern:
    tracer = Tracer()
    q = tracer.inputs([Port("q", (link.joint.nq,))])["q"]
    matrix = Transform(link.placement).then(link.joint.transform(q, link.turn)).matrix()
    return tuple(tuple(not (isinstance(x, float) and x == 0.0) for x in row) for row in matrix)
