"""Derivatives of lambda . tau for given multipliers lambda, without any matrix.

lambda . tau = sum over links of w . F: F = I a + v x* I v is the force on a link, and w its virtual motion,
which the rates lambda would give it: w = w_parent + S lambda. The world's own virtual motion is that of the
multipliers on the root's wrench (zero without). With P, A, D of gradient_composite.py and
    W = w_parent x S,   b = sum of I w,   d = sum of D^T w   over everything the joint carries,
    d/dq   = W . f + A . b + P . d
    d/dqd  = (P + v x S) . b + S . d
    d/dqdd = S . b.
"""

from __future__ import annotations

from robomorph.algorithms.gradient_composite import derivative_step, velocity_map
from robomorph.algorithms.inputs import set_rates, user_vector
from robomorph.algorithms.inverse_dynamics import RNEA, joint_motion
from robomorph.algorithms.own_forces import inertia, position_slopes, rate_slopes, transposed_times
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.spatial import Motion, Scalar, dot3


def _set_multipliers(state: State) -> None:
    """The first nv multipliers belong to torques; six more, if there are any, to the root's wrench, linear
    first."""
    values: list[Scalar] = state.whole["multipliers"]
    nv = state.tree.nv
    set_rates(state, "lambda", values[:nv])
    mu = values[nv:]
    state.fields["w", WORLD] = Motion.of([*mu[3:], *mu[:3]]) if mu else Motion()


def _virtual_step(site: Site) -> None:
    """Outward: virtual motions, and per axis W; also D^T w and D[w] of the link alone."""
    carried = site["X"].motion(site.parent("w"))
    site["w"] = carried + joint_motion(site, site["lambda"])
    site["W"] = [carried.cross(unit) for unit in site.link.joint.subspace]
    site["b"] = site.link.inertia.apply(site["w"])
    site["d"] = site["D"].apply_transposed(site["w"])


def _virtual_map_step(site: Site) -> None:
    site["Dw"] = velocity_map(site.link.inertia, site["w"], site["b"])


def _momentum_step(site: Site) -> None:
    site.send("b", site["X"].force_back(site["b"]))


def _turning_step(site: Site) -> None:
    if site.link.parent != WORLD:
        up = site["X"].moment_back(site["d"])
        have = site.parent("d")
        site.state.fields["d", site.link.parent] = tuple(a + x for a, x in zip(have, up, strict=True))


def _gather(state: State) -> None:
    dq: list[Scalar] = []
    dqd: list[Scalar] = []
    dqdd: list[Scalar] = []
    for link in state.tree.links:
        weights = state.fields["lambda", link.index]
        by_place = transposed_times(position_slopes(link), weights)
        by_rate = transposed_times(rate_slopes(state, link), weights)
        here = {name: state.fields[name, link.index] for name in ("W", "P", "A", "sway", "b", "d", "f")}
        for k, unit in enumerate(link.joint.subspace):
            turning = dot3(here["P"][k].ang, here["d"])
            place = here["f"].dot(here["W"][k]) + here["b"].dot(here["A"][k]) + turning
            rate = here["b"].dot(here["sway"][k]) + dot3(unit.ang, here["d"])
            dq.append(place if by_place is None else place + by_place[k])
            dqd.append(rate if by_rate is None else rate + by_rate[k])
            change = here["b"].dot(unit)
            dqdd.append(change + inertia(state, link)[k] * weights[k] if link.forces else change)
    for name, values in (("dq", dq), ("dqd", dqd), ("dqdd", dqdd)):
        state.whole[name] = user_vector(state.tree, values)


# Virtual motions with what a link alone makes of them; D must be the link's own still.
VIRTUAL: tuple[Sweep | Stage, ...] = (
    *RNEA,
    Sweep("axis derivatives", derivative_step),
    Stage("multipliers", _set_multipliers),
    Sweep("virtual motions", _virtual_step),
    Sweep("turning moments", _turning_step, inward=True),
)
VIRTUAL_MAPS = Sweep("virtual velocity maps", _virtual_map_step)
TORQUE_ADJOINT: tuple[Sweep | Stage, ...] = (
    *VIRTUAL,
    Sweep("virtual momenta", _momentum_step, inward=True),
    Stage("torque adjoint", _gather),
)
