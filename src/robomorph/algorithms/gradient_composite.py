"""Gradient of inverse dynamics from composite quantities (Singh, Russell and Wensing, 2022), in body frames.

With v, a the motion of a link, S a unit motion of joint j and lambda its parent:
    P = v_lambda x S,   A = a_lambda x S + v_lambda x P
and, over everything joint i carries, the inertia I, the force f and the velocity map
    D = sum of (v x*) I - I (v x) + (I v) x~*,
the entries for i carried by j (or i = j) are
    dtau_i/dq_j  = S_i . (D_i P_j + I_i A_j)
    dtau_i/dqd_j = S_i . (D_i S_j + I_i (P_j + v x S_j))
and for i strictly nearer the root than j
    dtau_i/dq_j  = S_i . (D_j P_j + I_j A_j + S_j x* f_j)
    dtau_i/dqd_j = S_i . (D_j S_j + I_j (P_j + v x S_j)).

D maps a motion (w, u) to (T w - n x w, -2 p x w): T symmetric, (n, p) the momentum. It is
carried by these twelve numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.inputs import user_matrix
from robomorph.algorithms.own_forces import position_slopes, rate_slopes
from robomorph.algorithms.sweep import Site, Stage, State, Sweep
from robomorph.spatial import Force, Motion, Symmetric, Transform, Vec3, add3, cross3, dot3, scale3, sub3
from robomorph.spatial.inertia import BodyInertia


@dataclass(frozen=True, slots=True)
class VelocityMap:
    """D by its free parameters: a symmetric tensor and a momentum."""

    tensor: Symmetric
    momentum: Force

    def __add__(self, o: VelocityMap) -> VelocityMap:
        return VelocityMap(self.tensor + o.tensor, self.momentum + o.momentum)

    def apply(self, m: Motion) -> Force:
        ang = sub3(self.tensor.apply(m.ang), cross3(self.momentum.ang, m.ang))
        return Force(ang, scale3(-2.0, cross3(self.momentum.lin, m.ang)))

    def apply_transposed(self, m: Motion) -> Vec3:
        """D^T m, of which the linear part is zero."""
        ang = add3(self.tensor.apply(m.ang), cross3(self.momentum.ang, m.ang))
        return add3(ang, scale3(2.0, cross3(self.momentum.lin, m.lin)))

    def back(self, x: Transform) -> VelocityMap:
        tensor, _ = x.tensor_back(self.tensor, self.momentum.lin)
        return VelocityMap(tensor, x.force_back(self.momentum))


def velocity_map(inertia: BodyInertia, v: Motion, momentum: Force) -> VelocityMap:
    """D of one body: w x J - J w x, less u x h x + h x u x, as the symmetric tensor."""
    j, h, w, u = inertia.second.rows(), inertia.first, v.ang, v.lin
    c = [cross3(w, row) for row in j]  # c[k] = w x (column k of J); (w x J)[i][k] = c[k][i]
    hx, hy, hz = h[0] * u[0], h[1] * u[1], h[2] * u[2]
    tensor = Symmetric(
        2.0 * (c[0][0] + (hy + hz)),
        2.0 * (c[1][1] + (hx + hz)),
        2.0 * (c[2][2] + (hx + hy)),
        c[1][0] + c[0][1] - (h[0] * u[1] + h[1] * u[0]),
        c[2][0] + c[0][2] - (h[0] * u[2] + h[2] * u[0]),
        c[2][1] + c[1][2] - (h[1] * u[2] + h[2] * u[1]),
    )
    return VelocityMap(tensor, momentum)


def derivative_step(site: Site) -> None:
    """Outward: P, A and v x S of every axis of the link's own joint, and its own D."""
    carried, joint = site["v_carried"], site["v_joint"]
    rates, accelerations, sways = [], [], []
    for unit in site.link.joint.subspace:
        rate = carried.cross(unit)
        rates.append(rate)
        accelerations.append(site["a_carried"].cross(unit) + carried.cross(rate))
        sways.append(rate + (rate + joint.cross(unit)))
    site["P"], site["A"], site["sway"] = rates, accelerations, sways
    site["D"] = velocity_map(site.link.inertia, site["v"], site["momentum"])


def velocity_map_step(site: Site) -> None:
    site.send("D", site["D"].back(site["X"]))


@dataclass(slots=True)
class Carried:
    """What joint j sends towards the root: four force vectors, met by every joint on the way."""

    position: Force
    rate: Force
    inertial: Force  # I_j S_j
    moment: Vec3  # D_j^T S_j

    def back(self, x: Transform) -> Carried:
        return Carried(
            x.force_back(self.position),
            x.force_back(self.rate),
            x.force_back(self.inertial),
            x.moment_back(self.moment),
        )


def _entries(state: State) -> None:
    tree, fields = state.tree, state.fields
    dq: dict[tuple[int, int], Any] = {}
    dqd: dict[tuple[int, int], Any] = {}
    at_root: list[tuple[int, Carried]] = []
    for link in tree.links:
        composite, d_map = fields["composite", link.index], fields["D", link.index]
        for dof in tree.link_dofs[link.index]:
            k, unit = dof.k, link.joint.subspace[dof.k]
            carried = Carried(
                d_map.apply(fields["P", link.index][k]) + composite.apply(fields["A", link.index][k]),
                d_map.apply(unit) + composite.apply(fields["sway", link.index][k]),
                fields["reaction", link.index][k],
                d_map.apply_transposed(unit),
            )
            _own_entries(state, dof.index, carried, dq, dqd)
            carried.position = carried.position + unit.cross_force(fields["f", link.index])
            here = link
            while here.parent >= 0:
                carried = carried.back(fields["X", here.index])
                here = tree.links[here.parent]
                _ancestor_entries(state, dof.index, here.index, carried, dq, dqd)
            at_root.append((here.index, carried))
    state.whole["dtau_dq"] = user_matrix(tree, dq)
    state.whole["dtau_dqd"] = user_matrix(tree, dqd)
    state.whole["at_root"] = at_root  # of every degree of freedom, with the first link on its way


def _own_entries(state: State, j: int, c: Carried, dq: dict[Any, Any], dqd: dict[Any, Any]) -> None:
    """Entries between the axes of one joint."""
    link, column = state.tree.links[state.tree.dofs[j].link], state.tree.dofs[j].k
    by_place, by_rate = position_slopes(link), rate_slopes(state, link)
    for dof in state.tree.link_dofs[link.index]:
        unit = link.joint.subspace[dof.k]
        position, rate = c.position.dot(unit), c.rate.dot(unit)
        dq[dof.index, j] = position if by_place is None else position + by_place[dof.k][column]
        dqd[dof.index, j] = rate if by_rate is None else rate + by_rate[dof.k][column]


def _ancestor_entries(
    state: State, j: int, ancestor: int, c: Carried, dq: dict[Any, Any], dqd: dict[Any, Any]
) -> None:
    """Entries between joint j and one joint nearer the root, both ways."""
    fields, subspace = state.fields, state.tree.links[ancestor].joint.subspace
    for dof in state.tree.link_dofs[ancestor]:
        k, unit = dof.k, subspace[dof.k]
        dq[dof.index, j] = c.position.dot(unit)
        dqd[dof.index, j] = c.rate.dot(unit)
        dq[j, dof.index] = dot3(c.moment, fields["P", ancestor][k].ang) + c.inertial.dot(
            fields["A", ancestor][k]
        )
        dqd[j, dof.index] = dot3(c.moment, unit.ang) + c.inertial.dot(fields["sway", ancestor][k])


VELOCITY_MAPS = Sweep("velocity maps", velocity_map_step, inward=True)
AXIS_DERIVATIVES = Sweep("axis derivatives", derivative_step)
COMPOSITE: tuple[Sweep | Stage, ...] = (
    AXIS_DERIVATIVES,
    VELOCITY_MAPS,
    Stage("gradient entries", _entries),
)
