"""Derivatives of lambda . tau for given multipliers lambda, without any matrix.

lambda . tau = sum over links of w . F: F = I a + v x* I v is the force on a link, and w its virtual motion,
which the rates lambda would give it: w = w_parent + S lambda. The world's own virtual motion is that of the
multipliers on the root's wrench (zero without). With P, A, D of gradient_composite.py and
    W = w_parent x S,   b = sum of I w,   d = sum of D^T w   over everything the joint carries,
    d/dq   = W . f + A . b + P . d
    d/dqd  = (P + v x S) . b + S . d
    d/dqdd = S . b.
By P = v_parent x S and e = v_parent x* b, all axes of a joint share one vector each:
    d/dq   = -S . (w_parent x* f + a_parent x* b + v_parent x* (d - e))
    d/dqd  =  S . (d - 2 e - (v - v_parent) x* b).
D^T w is a pure moment. With (w, u) = v, (t, y) = w and p the linear momentum it is
    (tr J - 2 J) (w x t) + 2 (p x y + u x (t x h)),
by the identity (tr J - J)(a x b) = J a x b + a x J b of symmetric J.
"""

from __future__ import annotations

from robomorph.algorithms.gradient_composite import velocity_map
from robomorph.algorithms.inputs import set_rates, user_vector
from robomorph.algorithms.inverse_dynamics import RNEA, joint_motion
from robomorph.algorithms.joint_forces import diagonal
from robomorph.algorithms.own_forces import inertia, position_slopes, rate_slopes, transposed_times
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.spatial import (
    BodyInertia,
    Force,
    Motion,
    Scalar,
    Symmetric,
    Vec3,
    add3,
    cross3,
    scale3,
)


def _set_multipliers(state: State) -> None:
    """The first nv multipliers belong to torques; six more, if there are any, to the root's wrench, linear
    first."""
    values: list[Scalar] = state.whole["multipliers"]
    nv = state.tree.nv
    set_rates(state, "lambda", values[:nv])
    mu = values[nv:]
    state.fields["w", WORLD] = Motion.of([*mu[3:], *mu[:3]]) if mu else Motion()


def turning_tensor(inertia: BodyInertia) -> Symmetric:
    """tr J - 2 J."""
    j = inertia.second
    diagonal = (j.yy + j.zz - j.xx, j.xx + j.zz - j.yy, j.xx + j.yy - j.zz)
    return Symmetric(*diagonal, -2.0 * j.xy, -2.0 * j.xz, -2.0 * j.yz)


def turning_moment(inertia: BodyInertia, v: Motion, momentum: Force, w: Motion) -> Vec3:
    """D^T w of one body."""
    shifts = add3(cross3(momentum.lin, w.lin), cross3(v.lin, cross3(w.ang, inertia.first)))
    return add3(turning_tensor(inertia).apply(cross3(v.ang, w.ang)), scale3(2.0, shifts))


def _virtual_step(site: Site) -> None:
    """Outward: virtual motions; also I w and D^T w of the link alone."""
    carried = site["X"].motion(site.parent("w"))
    site["w_carried"] = carried
    site["w"] = carried + joint_motion(site, site["lambda"])
    site["b"] = site.link.inertia.apply(site["w"])
    site["d"] = turning_moment(site.link.inertia, site["v"], site["momentum"], site["w"])


def _virtual_axes_step(site: Site) -> None:
    """Per axis W."""
    site["W"] = [site["w_carried"].cross(unit) for unit in site.link.joint.subspace]


def _virtual_map_step(site: Site) -> None:
    site["Dw"] = velocity_map(site.link.inertia, site["w"], site["b"])


def _momentum_step(site: Site) -> None:
    site.send("b", site["X"].force_back(site["b"]))


def _turning_step(site: Site) -> None:
    if site.link.parent != WORLD:
        up = site["X"].moment_back(site["d"])
        site.state.fields["d", site.link.parent] = add3(site.parent("d"), up)


def _adjoint_step(site: Site) -> None:
    """What the joint's positions, rates and accelerations do to lambda . tau."""
    b, v = site["b"], site["v_carried"]
    turning, e = Force(site["d"]), v.cross_force(b)
    position = site["w_carried"].cross_force(site["f"]) + site["a_carried"].cross_force(b)
    position = position + v.cross_force(turning - e)
    rate = turning - e.scaled(2.0) - site["v_joint"].cross_force(b)
    units = site.link.joint.subspace
    site["by_q"] = [-position.dot(unit) for unit in units]
    site["by_qd"] = [rate.dot(unit) for unit in units]
    site["by_qdd"] = [b.dot(unit) for unit in units]
    if site.link.forces:
        _add_own(site)


def _add_own(site: Site) -> None:
    """What the joint asks for by itself."""
    weights = site["lambda"]
    slopes = {"by_q": position_slopes(site.link), "by_qd": rate_slopes(site.state, site.link)}
    slopes["by_qdd"] = diagonal(inertia(site.state, site.link))
    for name, rows in slopes.items():
        own = transposed_times(rows, weights)
        if own is not None:
            site[name] = [a + x for a, x in zip(site[name], own, strict=True)]


def _gather(state: State) -> None:
    for name in ("q", "qd", "qdd"):
        values = [x for link in state.tree.links for x in state.fields[f"by_{name}", link.index]]
        state.whole[f"d{name}"] = user_vector(state.tree, values)


# Virtual motions with what a link alone makes of them.
VIRTUAL: tuple[Sweep | Stage, ...] = (
    Stage("multipliers", _set_multipliers),
    Sweep("virtual motions", _virtual_step),
    Sweep("turning moments", _turning_step, inward=True),
)
VIRTUAL_AXES = Sweep("virtual axes", _virtual_axes_step)
VIRTUAL_MAPS = Sweep("virtual velocity maps", _virtual_map_step)
# After inverse dynamics, in fields: what the multipliers make of it.
ADJOINT: tuple[Sweep | Stage, ...] = (
    *VIRTUAL,
    Sweep("virtual momenta", _momentum_step, inward=True),
    Sweep("torque adjoint", _adjoint_step),
    Stage("gather adjoint", _gather),
)
TORQUE_ADJOINT: tuple[Sweep | Stage, ...] = (*RNEA, *ADJOINT)
