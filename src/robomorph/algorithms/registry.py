"""Every algorithm: its arguments, its results and the formulations that compete for a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.algorithms.forward_dynamics import AT_ACCELERATION, FORWARD, SOLVE_GRADIENTS
from robomorph.algorithms.gradient_columns import COLUMNS
from robomorph.algorithms.gradient_composite import COMPOSITE
from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.inverse_dynamics import RNEA
from robomorph.algorithms.kinematics import (
    CENTER_OF_MASS,
    CENTER_OF_MASS_JACOBIAN,
    ENERGY,
    FORWARD_KINEMATICS,
    JACOBIAN,
)
from robomorph.algorithms.mass_matrix import COMPOSITES, CRBA, INVERSE, INVERT
from robomorph.algorithms.sweep import Stage, State, Sweep, run
from robomorph.algorithms.tree import Tree
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer

Parts = tuple[Sweep | Stage, ...]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm. `inputs` name vectors over coordinates (q) or degrees of freedom (the others);
    `outputs` map a result's public name to where the formulation leaves it."""

    name: str
    inputs: tuple[str, ...]
    outputs: dict[str, str]
    formulations: dict[str, Parts]
    wrenches: bool = False  # does it take external forces?
    frame: bool = False  # is it about one named frame?
    regroup: bool = True  # may inertial parameters be regrouped? Not where masses themselves are asked for.

    def ports(self, tree: Tree, wrench_links: Sequence[str]) -> tuple[Port, ...]:
        sizes = {"q": tree.nq}
        ports = [Port(name, (sizes.get(name, tree.nv),)) for name in self.inputs]
        if wrench_links:
            ports.append(Port("f_ext", (len(wrench_links), 6)))
        return tuple(ports)


def trace(
    algorithm: Algorithm,
    tree: Tree,
    formulation: str,
    *,
    outputs: Sequence[str],
    wrench_links: Sequence[str] = (),
    frame: str | None = None,
) -> Program:
    """The straight-line program of one formulation for one robot."""
    tracer = Tracer()
    ports = algorithm.ports(tree, wrench_links)
    state = State(tree)
    state.whole["frame"] = frame
    set_inputs(state, tracer.inputs(ports), wrench_links)
    run(state, algorithm.formulations[formulation])
    results = {name: state.whole[algorithm.outputs[name]] for name in outputs}
    return tracer.program(algorithm.name, ports, results)




ALGORITHMS: dict[str, Algorithm] = {
    a.name: a
    for a in (
        Algorithm("inverse_dynamics", ("q", "qd", "qdd"), {"tau": "tau"}, {"rnea": RNEA}, wrenches=True),
        Algorithm("mass_matrix", ("q",), {"mass": "mass"}, {"crba": CRBA}),
        Algorithm("mass_matrix_inverse", ("q",), {"minv": "minv"}, {"crba+ltl": INVERSE}),
        Algorithm("forward_dynamics", ("q", "qd", "tau"), {"qdd": "qdd"}, {"crba+ltl": FORWARD}, wrenches=True),
        Algorithm(
            "inverse_dynamics_gradient",
            ("q", "qd", "qdd"),
            {"dtau_dq": "dtau_dq", "dtau_dqd": "dtau_dqd"},
            {"columns": RNEA + COLUMNS, "composite": RNEA + COMPOSITES + COMPOSITE},
            wrenches=True,
        ),
        Algorithm(
            "forward_dynamics_gradient",
            ("q", "qd", "tau"),
            {"qdd": "qdd", "dqdd_dq": "dqdd_dq", "dqdd_dqd": "dqdd_dqd", "minv": "minv"},
            {
                "columns": (*FORWARD, *AT_ACCELERATION, *COLUMNS, *SOLVE_GRADIENTS, INVERT),
                "composite": (*FORWARD, *AT_ACCELERATION, *COMPOSITE, *SOLVE_GRADIENTS, INVERT),
            },
            wrenches=True,
        ),
        Algorithm("forward_kinematics", ("q",), {"pose": "pose"}, {"chain": FORWARD_KINEMATICS}, frame=True),
        Algorithm("jacobian", ("q",), {"jacobian": "jacobian"}, {"geometric": JACOBIAN}, frame=True),
        Algorithm("center_of_mass", ("q",), {"com": "com"}, {"sum": CENTER_OF_MASS}, regroup=False),
        Algorithm(
            "center_of_mass_jacobian",
            ("q",),
            {"com_jacobian": "com_jacobian"},
            {"composite": CENTER_OF_MASS_JACOBIAN},
            regroup=False,
        ),
        Algorithm(
            "energy",
            ("q", "qd"),
            {"kinetic": "kinetic", "potential": "potential"},
            {"sum": ENERGY},
            regroup=False,
        ),
    )
}
