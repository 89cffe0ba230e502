"""Every algorithm: its arguments, its results and the formulations that compete for a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robomorph.algorithms.articulated import ARTICULATED
from robomorph.algorithms.centroidal import CENTROIDAL_MOMENTUM, CENTROIDAL_MOMENTUM_MATRIX
from robomorph.algorithms.coriolis import CORIOLIS
from robomorph.algorithms.forward_dynamics import AT_ACCELERATION, FORWARD, SOLVE_GRADIENTS
from robomorph.algorithms.frame_motion import FRAME_ACCELERATION, FRAME_VELOCITY, JACOBIAN_RATE
from robomorph.algorithms.gradient_columns import COLUMNS
from robomorph.algorithms.gradient_composite import COMPOSITE
from robomorph.algorithms.gravity import GRAVITY
from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.inverse_dynamics import BIAS, RNEA
from robomorph.algorithms.kinematics import (
    CENTER_OF_MASS,
    CENTER_OF_MASS_JACOBIAN,
    ENERGY,
    FORWARD_KINEMATICS,
    JACOBIAN,
    LINK_POSES,
)
from robomorph.algorithms.mass_matrix import COMPOSITES, CRBA, INVERSE, INVERT
from robomorph.algorithms.sweep import Stage, State, Sweep, run
from robomorph.algorithms.tree import Sizes, Tree
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.spatial import Scalar

Parts = tuple[Sweep | Stage, ...]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm. `inputs` name vectors over coordinates (q) or degrees of freedom (the others);
    `outputs` give each result's name, under which its formulations leave it, and its shape, in which "nv"
    stands for the degrees of freedom, "links" for the links of the description and "frames" for those that a
    request names. `parameters` are further inputs of such shapes (references, weights, poses ...), which
    steps find flat under their name in `state.whole`."""

    name: str
    inputs: tuple[str, ...]
    outputs: dict[str, tuple[str | int, ...]]
    formulations: dict[str, Parts]
    wrenches: bool = False  # does it take external forces?
    frame: bool = False  # is it about one named frame?
    frames: bool = False  # is it about a list of named frames?
    regroup: bool = True  # may inertial parameters be regrouped? Not where masses themselves are asked for.
    masses: bool = True  # does the answer depend on masses? Kinematics do without.
    inverts: bool = False  # does it divide by the mass matrix?
    parameters: dict[str, tuple[str | int, ...]] = field(default_factory=dict)
    # Formulations for trees in which no joint mimics another.
    needs_free_joints: frozenset[str] = frozenset()

    def usable_formulations(self, tree: Tree) -> list[str]:
        return [name for name in self.formulations if not (tree.coupled and name in self.needs_free_joints)]

    def input_ports(self, sizes: Sizes, wrench_links: Sequence[str], frames: int = 0) -> tuple[Port, ...]:
        ports = [Port(name, (sizes.nq if name == "q" else sizes.nv,)) for name in self.inputs]
        if wrench_links:
            ports.append(Port("f_ext", (len(wrench_links), 6)))
        ports += [Port(name, _shape(shape, sizes, frames)) for name, shape in self.parameters.items()]
        return tuple(ports)

    def output_port(self, name: str, sizes: Sizes, frames: int = 0) -> Port:
        return Port(name, _shape(self.outputs[name], sizes, frames))


def _shape(shape: Sequence[str | int], sizes: Sizes, frames: int) -> tuple[int, ...]:
    named = {"nq": sizes.nq, "nv": sizes.nv, "links": sizes.links, "frames": frames}
    return tuple(named[n] if isinstance(n, str) else n for n in shape)


def begin(
    state: State,
    algorithm: Algorithm,
    values: Mapping[str, Sequence[Scalar]],
    wrench_links: Sequence[str],
    frame: str | None,
    frames: Sequence[str],
) -> None:
    """All that steps find in a state before the first of them."""
    state.whole.update(frame=frame, frames=tuple(frames))
    state.whole.update({name: values[name] for name in algorithm.parameters})
    set_inputs(state, values, wrench_links)


def trace(
    algorithm: Algorithm,
    tree: Tree,
    formulation: str,
    *,
    outputs: Sequence[str],
    wrench_links: Sequence[str] = (),
    frame: str | None = None,
    frames: Sequence[str] = (),
    limit: int | None = None,
) -> Program:
    """The straight-line program of one formulation for one robot. Raises TraceTooLong past `limit` nodes."""
    tracer = Tracer(limit)
    ports = algorithm.input_ports(tree.sizes, wrench_links, len(frames))
    state = State(tree)
    begin(state, algorithm, tracer.inputs(ports), wrench_links, frame, frames)
    run(state, algorithm.formulations[formulation])
    results = {name: state.whole[name] for name in outputs}
    shapes = {name: algorithm.output_port(name, tree.sizes, len(frames)).shape for name in outputs}
    return tracer.program(algorithm.name, ports, results, shapes)


_VECTOR: tuple[str | int, ...] = ("nv",)
_SQUARE: tuple[str | int, ...] = ("nv", "nv")
_SIX: tuple[str | int, ...] = (6,)

# A new algorithm is one file of sweeps and one entry here.
ALGORITHMS: dict[str, Algorithm] = {
    a.name: a
    for a in (
        Algorithm("inverse_dynamics", ("q", "qd", "qdd"), {"tau": _VECTOR}, {"rnea": RNEA}, wrenches=True),
        Algorithm("bias_torque", ("q", "qd"), {"tau": _VECTOR}, {"rnea": BIAS}, wrenches=True),
        Algorithm("gravity_torque", ("q",), {"tau": _VECTOR}, {"composite": GRAVITY}),
        Algorithm("coriolis_matrix", ("q", "qd"), {"coriolis": _SQUARE}, {"composite": CORIOLIS}),
        Algorithm("mass_matrix", ("q",), {"mass": _SQUARE}, {"crba": CRBA}),
        Algorithm("mass_matrix_inverse", ("q",), {"minv": _SQUARE}, {"crba+ltl": INVERSE}, inverts=True),
        Algorithm(
            "forward_dynamics",
            ("q", "qd", "tau"),
            {"qdd": _VECTOR},
            {"crba+ltl": FORWARD, "aba": ARTICULATED},
            wrenches=True,
            inverts=True,
            needs_free_joints=frozenset({"aba"}),
        ),
        Algorithm(
            "inverse_dynamics_gradient",
            ("q", "qd", "qdd"),
            {"dtau_dq": _SQUARE, "dtau_dqd": _SQUARE},
            {"composite": RNEA + COMPOSITES + COMPOSITE, "columns": RNEA + COLUMNS},
            wrenches=True,
        ),
        Algorithm(
            "forward_dynamics_gradient",
            ("q", "qd", "tau"),
            {"qdd": _VECTOR, "dqdd_dq": _SQUARE, "dqdd_dqd": _SQUARE, "minv": _SQUARE},
            {
                "composite": (*FORWARD, *AT_ACCELERATION, *COMPOSITE, *SOLVE_GRADIENTS, INVERT),
                "columns": (*FORWARD, *AT_ACCELERATION, *COLUMNS, *SOLVE_GRADIENTS, INVERT),
            },
            wrenches=True,
            inverts=True,
        ),
        Algorithm(
            "forward_kinematics",
            ("q",),
            {"pose": (4, 4)},
            {"chain": FORWARD_KINEMATICS},
            frame=True,
            masses=False,
        ),
        Algorithm(
            "jacobian", ("q",), {"jacobian": (6, "nv")}, {"geometric": JACOBIAN}, frame=True, masses=False
        ),
        Algorithm("link_poses", ("q",), {"poses": ("links", 4, 4)}, {"chain": LINK_POSES}, masses=False),
        Algorithm(
            "frame_velocity",
            ("q", "qd"),
            {"velocity": _SIX},
            {"inward": FRAME_VELOCITY},
            frame=True,
            masses=False,
        ),
        Algorithm(
            "frame_acceleration",
            ("q", "qd", "qdd"),
            {"acceleration": _SIX},
            {"inward": FRAME_ACCELERATION},
            frame=True,
            masses=False,
        ),
        Algorithm(
            "jacobian_rate",
            ("q", "qd"),
            {"jacobian_rate": _SIX},
            {"inward": JACOBIAN_RATE},
            frame=True,
            masses=False,
        ),
        Algorithm("center_of_mass", ("q",), {"com": (3,)}, {"sum": CENTER_OF_MASS}, regroup=False),
        Algorithm(
            "center_of_mass_jacobian",
            ("q",),
            {"com_jacobian": (3, "nv")},
            {"composite": CENTER_OF_MASS_JACOBIAN},
            regroup=False,
        ),
        Algorithm(
            "centroidal_momentum",
            ("q", "qd"),
            {"momentum": _SIX},
            {"carry": CENTROIDAL_MOMENTUM},
            regroup=False,
        ),
        Algorithm(
            "centroidal_momentum_matrix",
            ("q",),
            {"momentum_matrix": (6, "nv")},
            {"composite": CENTROIDAL_MOMENTUM_MATRIX},
            regroup=False,
        ),
        Algorithm(
            "energy",
            ("q", "qd"),
            {"kinetic": (), "potential": ()},
            {"sum": ENERGY},
            regroup=False,
        ),
    )
}
