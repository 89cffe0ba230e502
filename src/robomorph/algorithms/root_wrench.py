"""The wrench through which a robot is held: what its root exerts on everything that moves, with derivatives.

In the world's axes about the world's origin, linear first. It bears the weight and the accelerations of all
moving bodies, and the weight of what stands still but is part of the robot (a foot that it was re-rooted at).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robomorph.algorithms.gradient_composite import Carried
from robomorph.algorithms.mass_matrix import COMPOSITES
from robomorph.algorithms.sweep import WORLD, Stage, State, run
from robomorph.algorithms.tree import Tree
from robomorph.spatial import BodyInertia, Force, Motion, Scalar, Transform, neg3


def _wrench(state: State) -> None:
    total = state.whole.get("held", Force())
    for link in state.tree.links:
        if link.parent == WORLD:
            total = total + state.fields["X", link.index].force_back(state.fields["f", link.index])
    state.whole["wrench"] = linear_first(total)


def _derivatives(state: State) -> None:
    at_root: list[tuple[int, Carried]] = state.whole["at_root"]
    carried = [c.back(state.fields["X", first]) for first, c in at_root]
    for name, forces in (
        ("dwrench_dq", [c.position for c in carried]),
        ("dwrench_dqd", [c.rate for c in carried]),
        ("dwrench_dqdd", [c.inertial for c in carried]),
    ):
        state.whole[name] = _columns(state.tree, forces)


def linear_first(force: Force) -> list[Scalar]:
    return [*force.lin, *force.ang]


def _columns(tree: Tree, forces: Iterable[Force]) -> list[list[Scalar]]:
    """(6, nv) from a force for every internal degree of freedom."""
    out: list[list[Any]] = [[0.0] * tree.nv for _ in range(6)]
    for dof, force in zip(tree.dofs, forces, strict=True):
        for row, value in zip(out, linear_first(force), strict=True):
            row[dof.user] = row[dof.user] + dof.scale * value
    return out


def held_beside(whole: Tree, regrouped: Tree) -> Force:
    """Constant weight at the root (about the world's origin): what stands still, and what regrouping took
    from the first links, which no joint moves."""
    rest = _at_rest(whole) + BodyInertia.of([-x for x in _at_rest(regrouped).scalars()]) + whole.standing
    return rest.apply(Motion(lin=neg3(whole.gravity)))


def _at_rest(tree: Tree) -> BodyInertia:
    """The whole robot at its neutral configuration as one rigid body in the world."""
    state = State(tree)
    for link in tree.links:
        moves = link.joint.transform(link.joint.neutral(), link.turn)
        state.fields["X", link.index] = Transform(link.placement).then(moves)
    run(state, COMPOSITES)
    total = BodyInertia()
    for link in tree.links:
        if link.parent == WORLD:
            total = total + state.fields["X", link.index].inertia_back(state.fields["composite", link.index])
    return total


ROOT_WRENCH = Stage("root wrench", _wrench)  # after RNEA
ROOT_WRENCH_DERIVATIVES = Stage("root wrench derivatives", _derivatives)  # after COMPOSITE
