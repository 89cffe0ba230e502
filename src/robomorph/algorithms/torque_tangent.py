"""The change of inverse dynamics with a change of its arguments, in one pass out and one back.

With s = S dq, r = S dqd, x = S dqdd across a joint, in the link's frame, and P, A, D of gradient_composite.py
summed over all joints that carry the link,
    n = n_parent + v_parent x s + r
    m = m_parent + a_parent x s + v_parent x (v_parent x s + 2 r) + (v - v_parent) x r + x
    force on the link changes by D n + I m, and beyond its joint also by s x* f, as the joint turns the force.
Of n, D sees the turn t alone. With (w, u) = v and p the linear momentum it makes of it
    ((tr J - 2 J) t x w + 2 h x (t x u), 2 t x p),
the transpose of what torque_adjoint.py does.
"""

from __future__ import annotations

from robomorph.algorithms.inputs import set_rates, user_vector
from robomorph.algorithms.inverse_dynamics import RNEA, joint_motion
from robomorph.algorithms.joint_forces import diagonal
from robomorph.algorithms.own_forces import inertia, position_slopes, rate_slopes, times
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.algorithms.torque_adjoint import turning_tensor
from robomorph.algorithms.wrenches import changed_wrenches
from robomorph.spatial import ZERO3, BodyInertia, Force, Motion, Scalar, Vec3, add3, cross3, scale3


def turned_force(inertia: BodyInertia, v: Motion, momentum: Force, turn: Vec3) -> Force:
    """D of one body, of a motion of which it sees the turn."""
    twice = scale3(2.0, turn)
    bend = cross3(inertia.first, cross3(twice, v.lin))
    return Force(add3(cross3(turning_tensor(inertia).apply(turn), v.ang), bend), cross3(twice, momentum.lin))


def _begin(state: State) -> None:
    nothing: list[Scalar] = [0.0] * state.tree.nv
    for name in ("q", "qd", "qdd"):
        set_rates(state, f"change of {name}", state.whole.get(f"d{name}", nothing))
    state.fields["turn", WORLD] = ZERO3
    state.fields["push", WORLD] = Motion()


def _change_step(site: Site) -> None:
    """Outward: n (its turn) and m, and the change of the force on the link alone."""
    across = [joint_motion(site, site[f"change of {name}"]) for name in ("q", "qd", "qdd")]
    place, rate, rest = across
    v, x = site["v_carried"], site["X"]
    moved = v.cross(place)
    turn = add3(x.vector_into(site.parent("turn")), add3(moved.ang, rate.ang))
    push = x.motion(site.parent("push")) + site["a_carried"].cross(place) + rest
    push = push + v.cross(moved + rate.scaled(2.0)) + site["v_joint"].cross(rate)
    site["turn"], site["push"], site["place"] = turn, push, place
    turned = turned_force(site.link.inertia, site["v"], site["momentum"], turn)
    site["df"] = turned + site.link.inertia.apply(push)


def _take_wrenches(state: State) -> None:
    """External wrenches push the other way."""
    for link, wrench in changed_wrenches(state).items():
        state.fields["df", link] = state.fields["df", link] - wrench


def _change_back_step(site: Site) -> None:
    change: Force = site["df"]
    site["dtau"] = [change.dot(unit) for unit in site.link.joint.subspace]
    if site.link.forces:
        _add_own(site)
    site.send("df", site["X"].force_back(change + site["place"].cross_force(site["f"])))


def _add_own(site: Site) -> None:
    """What the joint asks for by itself."""
    link, state = site.link, site.state
    slopes = (position_slopes(link), rate_slopes(state, link), diagonal(inertia(state, link)))
    for name, rows in zip(("q", "qd", "qdd"), slopes, strict=True):
        own = times(rows, site[f"change of {name}"])
        if own is not None:
            site["dtau"] = [a + x for a, x in zip(site["dtau"], own, strict=True)]


def _gather(state: State) -> None:
    values = [x for link in state.tree.links for x in state.fields["dtau", link.index]]
    state.whole["change of tau"] = user_vector(state.tree, values)


# After inverse dynamics, in fields: from `dq`, `dqd` and `dqdd`, as far as they are given, and `df_ext`.
TANGENT: tuple[Sweep | Stage, ...] = (
    Stage("changes", _begin),
    Sweep("changes of motions", _change_step),
    Stage("changes of wrenches", _take_wrenches),
    Sweep("changes of torques", _change_back_step, inward=True),
    Stage("gather changes", _gather),
)
TORQUE_TANGENT: tuple[Sweep | Stage, ...] = (*RNEA, *TANGENT)
