"""M x = b by the articulated bodies of forward dynamics that are there already: no velocity, no gravity."""

from __future__ import annotations

from robomorph.algorithms.inputs import user_vector
from robomorph.algorithms.inverse_dynamics import joint_motion
from robomorph.algorithms.mass_matrix import solve
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.spatial import Force, Motion


def _start(state: State) -> None:
    for link in state.tree.links:
        first = link.v_start
        state.fields["share", link.index] = state.whole["right side"][first : first + link.joint.nv]
        state.fields["held", link.index] = Force()
    state.fields["solved motion", WORLD] = Motion()


def _share_step(site: Site) -> None:
    """Inward: what a joint does not take, its parent must hold."""
    units, held = site.link.joint.subspace, site["held"]
    site["share"] = [b - held.dot(unit) for b, unit in zip(site["share"], units, strict=True)]
    for force, push in zip(site["reach"], solve(site["joint_factors"], site["share"]), strict=True):
        held = held + force.scaled(push)
    site.send("held", site["X"].force_back(held))


def _solve_step(site: Site) -> None:
    carried = site["X"].motion(site.parent("solved motion"))
    left = [b - force.dot(carried) for b, force in zip(site["share"], site["reach"], strict=True)]
    site["solution"] = solve(site["joint_factors"], left)
    site["solved motion"] = carried + joint_motion(site, site["solution"])


def _gather(state: State) -> None:
    values = [x for link in state.tree.links for x in state.fields["solution", link.index]]
    state.whole["solution"] = user_vector(state.tree, values)


# After ARTICULATED: from `right side` to `solution`, in the user's order.
SOLVE_ARTICULATED: tuple[Sweep | Stage, ...] = (
    Stage("right side", _start),
    Sweep("shares", _share_step, inward=True),
    Sweep("solved motions", _solve_step),
    Stage("gather solution", _gather),
)
