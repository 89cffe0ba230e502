"""Inverse dynamics: the recursive Newton-Euler algorithm (RNEA), with external forces."""

from __future__ import annotations

import numpy as np

from robomorph.algorithms.algorithm import VECTOR, Algorithm
from robomorph.algorithms.inputs import user_vector
from robomorph.algorithms.joint_forces import across
from robomorph.algorithms.own_forces import with_own
from robomorph.algorithms.sweep import Site, Stage, State, Sweep
from robomorph.spatial import Force, Motion, Scalar


def joint_motion(site: Site, rates: list[Scalar]) -> Motion:
    """The motion across a link's joint: its subspace times `rates`."""
    return across(site.link.joint, rates)


def velocity_step(site: Site) -> None:
    carried = site["X"].motion(site.parent("v"))
    across = joint_motion(site, site["qd"])
    site["v_carried"], site["v_joint"] = carried, across
    site["v"] = carried + across


def momentum_step(site: Site) -> None:
    momentum = site.link.inertia.apply(site["v"])
    site["momentum"] = momentum
    site["gyroscopic"] = site["v"].cross_force(momentum)


def bias_acceleration_step(site: Site) -> None:
    """Accelerations with the joints' own left out: what gravity and velocity alone cause."""
    carried = site["X"].motion(site.parent("a"))
    site["a_carried"] = carried
    site["a"] = carried + site["v"].cross(site["v_joint"])


def acceleration_step(site: Site) -> None:
    bias_acceleration_step(site)
    site["a"] = site["a"] + joint_motion(site, site["qdd"])


def force_step(site: Site) -> None:
    force = site.link.inertia.apply(site["a"]) + site["gyroscopic"]
    external = site.state.fields.get(("f_ext", site.link.index))
    site["f"] = force if external is None else force - external


def torque_step(site: Site) -> None:
    """Inward: the force through the joint, its work along the joint's axes, and on to the parent."""
    force: Force = site["f"]
    tau = [force.dot(unit) for unit in site.link.joint.subspace]
    site["tau"] = with_own(site.state, site.link, tau)
    site.send("f", site["X"].force_back(force))


def _gather(state: State) -> None:
    tree = state.tree
    state.whole["tau"] = user_vector(
        tree, [t for link in tree.links for t in state.fields["tau", link.index]]
    )


VELOCITIES = Sweep("velocities", velocity_step)
MOMENTA = Sweep("momenta", momentum_step)
ACCELERATIONS = Sweep("accelerations", acceleration_step)
BIAS_ACCELERATIONS = Sweep("bias accelerations", bias_acceleration_step)
FORCES = Sweep("forces", force_step)
TORQUES = Sweep("torques", torque_step, inward=True)

GATHER = Stage("gather torques", _gather)

RNEA: tuple[Sweep | Stage, ...] = (VELOCITIES, MOMENTA, ACCELERATIONS, FORCES, TORQUES, GATHER)
# The same with all joint accelerations zero: gravity, Coriolis and external forces.
BIAS: tuple[Sweep | Stage, ...] = (VELOCITIES, MOMENTA, BIAS_ACCELERATIONS, FORCES, TORQUES, GATHER)

INVERSE_DYNAMICS = Algorithm(
    "inverse_dynamics",
    inputs=("q", "qd", "qdd"),
    outputs={"tau": VECTOR},
    formulations={"rnea": RNEA},
    wrenches=True,
    title="Joint forces for given accelerations (recursive Newton-Euler).",
    doc="""Joint torques (..., nv) for a motion. `f_ext`: wrenches on links, as a mapping from link name to
        (..., 6) or an array (..., n_links, 6), [force, moment] in the link's frame at its origin.""",
    textbook=lambda known: {"tau": known.inverse_dynamics(known.qdd)},
)
BIAS_TORQUE = Algorithm(
    "bias_torque",
    inputs=("q", "qd"),
    outputs={"tau": VECTOR},
    formulations={"rnea": BIAS},
    wrenches=True,
    title="Joint forces at zero acceleration: Coriolis, centrifugal and gravity.",
    doc="""Joint torques (..., nv) at zero acceleration: Coriolis and centrifugal forces, gravity, and what
        holds against `f_ext` (as in `inverse_dynamics`). M qdd + bias is `inverse_dynamics`.""",
    textbook=lambda known: {"tau": known.inverse_dynamics(np.zeros_like(known.qd))},
)
