"""From the user's vectors to fields of links, and back: mimic joints are resolved here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robomorph.algorithms.sweep import WORLD, State
from robomorph.algorithms.tree import Tree
from robomorph.spatial import Force, Motion, Scalar, Transform, neg3


def set_inputs(state: State, values: Mapping[str, Sequence[Scalar]], wrench_links: Sequence[str]) -> None:
    """Give every link its own slice of q, qd and qdd, its transform, and the wrenches on it."""
    for link in state.tree.links:
        scale, shift = link.coupling.scale, link.coupling.offset
        q = [scale * x + shift for x in values["q"][link.q_start : link.q_start + link.joint.nq]]
        moves = link.joint.transform(q, link.turn)
        state.fields["X", link.index] = Transform(link.placement).then(moves)
        if link.forces:
            state.fields["q", link.index] = q
    for name in ("qd", "qdd"):
        if name in values:
            set_rates(state, name, values[name])
    state.fields["v", WORLD] = Motion()
    # Gravity enters as an upward acceleration of the world.
    state.fields["a", WORLD] = Motion(lin=neg3(state.tree.gravity))
    if "f_ext" in values:
        set_wrenches(state, wrench_links, values["f_ext"])
    for name in ("q", "qd"):
        state.whole[f"{name}_in"] = list(values.get(name, ()))
    if "tau" in values:
        state.whole["tau_in"] = list(values["tau"])


def set_rates(state: State, name: str, values: Sequence[Scalar]) -> None:
    """Each link's joint rates (field `name`) from the user's vector over degrees of freedom."""
    for link in state.tree.links:
        own = values[link.v_start : link.v_start + link.joint.nv]
        state.fields[name, link.index] = [link.coupling.scale * x for x in own]


def set_wrenches(state: State, links: Sequence[str], values: Sequence[Scalar]) -> None:
    """External wrenches: six numbers per named link, linear first, in the link's frame at its origin."""
    for body, force in wrenches_by_link(state.tree, links, values).items():
        state.fields["f_ext", body] = force


def wrenches_by_link(tree: Tree, links: Sequence[str], values: Sequence[Scalar]) -> dict[int, Force]:
    """The wrench on each link that moves, at and in its internal frame."""
    wrenches: dict[int, Force] = {}
    for k, name in enumerate(links):
        body, placement = tree.frames[name]
        if body == WORLD:
            continue
        fx, fy, fz, nx, ny, nz = values[6 * k : 6 * k + 6]
        force = placement.force_back(Force((nx, ny, nz), (fx, fy, fz)))
        wrenches[body] = wrenches[body] + force if body in wrenches else force
    return wrenches


def user_vector(tree: Tree, internal: Sequence[Scalar]) -> list[Scalar]:
    """Generalised forces over internal degrees of freedom, gathered onto the user's."""
    out: list[Any] = [0.0] * tree.nv
    for dof, value in zip(tree.dofs, internal, strict=True):
        out[dof.user] = out[dof.user] + dof.scale * value
    return out


def user_matrix(tree: Tree, entries: Mapping[tuple[int, int], Scalar]) -> list[list[Scalar]]:
    """A matrix over internal degrees of freedom (missing entries are zero), gathered onto the user's."""
    out: list[list[Any]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for (i, j), value in entries.items():
        a, b = tree.dofs[i], tree.dofs[j]
        out[a.user][b.user] = out[a.user][b.user] + (a.scale * b.scale) * value
    return out
