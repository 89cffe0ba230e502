"""Second derivatives of lambda . tau in closed form, one pass of six carried vectors per degree of freedom.

With the fields of torque_adjoint.py, over everything joint k carries, and D[w] the velocity map of virtual
motions, joint k sends towards the root
    C1 = S x* f + D P + I A        C2 = I W + S x* b        R = D S + I (P + v x S)        I S
    c3 = D^T W - D[w]^T P + S x d  e  = -D[w]^T S           (moments),
and for every joint j on the way, k itself included,
    d2/dq_j dq_k   = W_j . C1 + A_j . C2 + P_j . c3
    d2/dq_j dqd_k  = W_j . R + P_j . e            d2/dqd_j dq_k  = (P_j + v x S_j) . C2 + S_j . c3
    d2/dqd_j dqd_k = S_j . e
    d2/dq_j dqdd_k = W_j . I S                    d2/dqdd_j dq_k = S_j . C2.
All others are zero: torques are linear in accelerations, and their mass matrix depends on q alone.

Two axes of one joint do not commute: d2/dq_j dq_k is the change along k of the derivative by j, which is
W_k . C1 + A_k . C2 + P_k . c3 with what axis j sends. Of S_j . e it is the mean that is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.gradient_composite import AXIS_DERIVATIVES, VELOCITY_MAPS
from robomorph.algorithms.inputs import user_matrix
from robomorph.algorithms.inverse_dynamics import RNEA
from robomorph.algorithms.mass_matrix import COMPOSITES
from robomorph.algorithms.own_forces import rate_curvature
from robomorph.algorithms.sweep import Site, Stage, State, Sweep
from robomorph.algorithms.torque_adjoint import VIRTUAL, VIRTUAL_AXES, VIRTUAL_MAPS
from robomorph.algorithms.tree import Dof
from robomorph.spatial import Force, Transform, Vec3, add3, cross3, dot3, neg3, sub3

BLOCKS = ("qq", "q_qd", "qd_qd", "q_qdd")
_Entries = dict[tuple[int, int], Any]


@dataclass(frozen=True, slots=True)
class _Sent:
    """What joint k sends towards the root."""

    position: Force  # C1
    virtual: Force  # C2
    turning: Vec3  # c3
    rate: Force  # R
    spin: Vec3  # e
    inertial: Force  # I S

    def back(self, x: Transform) -> _Sent:
        return _Sent(
            x.force_back(self.position),
            x.force_back(self.virtual),
            x.moment_back(self.turning),
            x.force_back(self.rate),
            x.moment_back(self.spin),
            x.force_back(self.inertial),
        )


def _virtual_map_send_step(site: Site) -> None:
    site.send("Dw", site["Dw"].back(site["X"]))


def _sent(state: State, dof: Dof) -> _Sent:
    def field(name: str) -> Any:
        return state.fields[name, dof.link]

    unit = state.tree.links[dof.link].joint.subspace[dof.k]
    p, a, w = field("P")[dof.k], field("A")[dof.k], field("W")[dof.k]
    composite, d_map, virtual = field("composite"), field("D"), field("Dw")
    turning = sub3(d_map.apply_transposed(w), virtual.apply_transposed(p))
    return _Sent(
        unit.cross_force(field("f")) + d_map.apply(p) + composite.apply(a),
        composite.apply(w) + unit.cross_force(virtual.momentum),
        add3(turning, cross3(unit.ang, field("d"))),
        d_map.apply(unit) + composite.apply(field("sway")[dof.k]),
        neg3(virtual.apply_transposed(unit)),
        field("reaction")[dof.k],
    )


def _meet(state: State, j: Dof, k: Dof, sent: _Sent, blocks: dict[str, _Entries]) -> None:
    """Entries between joint j and joint k, which it carries or is."""

    def field(name: str) -> Any:
        return state.fields[name, j.link][j.k]

    unit = state.tree.links[j.link].joint.subspace[j.k]
    w, a, p = field("W"), field("A"), field("P")
    qq = sent.position.dot(w) + sent.virtual.dot(a) + dot3(p.ang, sent.turning)
    spin = dot3(unit.ang, sent.spin)
    blocks["qq"][k.index, j.index] = qq
    if j.link != k.link:
        blocks["qq"][j.index, k.index] = qq
    elif j.index != k.index:  # two axes of one joint are met both ways; this is the half of each
        spin = 0.5 * spin + blocks["qd_qd"].get((k.index, j.index), 0.0)
    for pair in ((j.index, k.index), (k.index, j.index)):
        blocks["qd_qd"][pair] = spin
    blocks["q_qd"][j.index, k.index] = sent.rate.dot(w) + dot3(p.ang, sent.spin)
    blocks["q_qdd"][j.index, k.index] = sent.inertial.dot(w)
    if j.link != k.link:
        rate = sent.virtual.dot(field("sway")) + dot3(unit.ang, sent.turning)
        blocks["q_qd"][k.index, j.index] = rate
        blocks["q_qdd"][k.index, j.index] = sent.virtual.dot(unit)


def _entries(state: State) -> None:
    tree = state.tree
    blocks: dict[str, _Entries] = {name: {} for name in BLOCKS}
    for dof in tree.dofs:
        sent, here = _sent(state, dof), tree.links[dof.link]
        while True:
            for other in tree.link_dofs[here.index]:
                _meet(state, other, dof, sent, blocks)
            if here.parent < 0:
                break
            sent = sent.back(state.fields["X", here.index])
            here = tree.links[here.parent]
    _add_own(state, blocks["qd_qd"])
    for name, entries in blocks.items():
        state.whole[name] = user_matrix(tree, entries)


def _add_own(state: State, entries: _Entries) -> None:
    """What joints ask for by themselves: their slopes by places and accelerations are constant."""
    for link in state.tree.links:
        rows = rate_curvature(state, link, state.fields["lambda", link.index])
        dofs = state.tree.link_dofs[link.index]
        for i, row in zip(dofs, rows or (), strict=rows is not None):
            for j, value in zip(dofs, row, strict=True):
                entries[i.index, j.index] = entries[i.index, j.index] + value


# What does not depend on the multipliers, and what does.
MOTION: tuple[Sweep | Stage, ...] = (*RNEA, AXIS_DERIVATIVES, *COMPOSITES, VELOCITY_MAPS)
OF_MULTIPLIERS: tuple[Sweep | Stage, ...] = (
    *VIRTUAL,
    VIRTUAL_AXES,
    VIRTUAL_MAPS,
    Sweep("virtual maps", _virtual_map_send_step, inward=True),
    Stage("torque hessian", _entries),
)
TORQUE_HESSIAN: tuple[Sweep | Stage, ...] = (*MOTION, *OF_MULTIPLIERS)
