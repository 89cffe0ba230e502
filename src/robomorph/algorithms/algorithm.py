"""What an algorithm is: its sweeps, and all that is said of it elsewhere.

Robot's method, comments of exported code, the tables of the docs and what a kernel is checked against come
from its entry, which stands in the algorithm's own file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from robomorph.algorithms.sweep import Stage, Sweep
from robomorph.algorithms.textbook import Array, Textbook
from robomorph.algorithms.tree import Sizes, Tree
from robomorph.errors import ArgumentError
from robomorph.ir.program import Port

Parts = tuple[Sweep | Stage, ...]
Shape = tuple[str | int, ...]

VECTOR: Shape = ("nv",)
SQUARE: Shape = ("nv", "nv")
SIX: Shape = (6,)
WRENCHES: Shape = ("wrenches", 6)
CONFIGURATION: Shape = ("nq",)
BY_STATE = "state"
# What the vectors of a robot are, as arguments and as results.
VECTORS = {
    "q": "coordinates, rad or m",
    "qd": "velocities, rad/s or m/s",
    "qdd": "accelerations, rad/s^2 or m/s^2",
    "tau": "joint forces, N m or N",
}


@dataclass(frozen=True)
class Algorithm:
    """One algorithm. `inputs` name vectors over coordinates (q) or degrees of freedom (the others); `outputs`
    give each result's name, under which its formulations leave it, and its shape, in which "nv" stands for
    the degrees of freedom, "2nv" for twice as many (places and rates), "links" for the links of the
    description, "frames" and "wrenches" for the frames, and the links with external wrenches, that a request
    names. `parameters` are further inputs of such shapes (references, weights, poses ...), which steps find
    flat under their name in `state.whole`."""

    name: str
    inputs: tuple[str, ...]
    outputs: dict[str, Shape]
    formulations: dict[str, Parts]
    wrenches: bool = False  # does it take external forces?
    frame: bool = False  # is it about one named frame?
    frames: bool = False  # is it about a list of named frames?
    regroup: bool = True  # may inertial parameters be regrouped? Not where masses themselves are asked for.
    masses: bool = True  # does the answer depend on masses? Kinematics do without.
    inverts: bool = False  # does it divide by the mass matrix?
    parameters: dict[str, Shape] = field(default_factory=dict)
    # Formulations for trees in which no joint mimics another.
    needs_free_joints: frozenset[str] = frozenset()
    # A sentence for comments of exported code, in which {frame} stands for the frame's name.
    title: str = ""
    # Of each result: unit, frame, order of rows. What VECTORS has need not be repeated.
    notes: Mapping[str, str] = field(default_factory=dict)
    doc: str = ""  # of Robot's method: shapes with leading (...), units, frames
    # What the results should be, by formulas that share nothing with the sweeps; None where they do not know.
    textbook: Callable[[Textbook], Mapping[str, Array] | None] | None = None
    # Results that are derivatives instead, which differences tell: of which algorithm (all its results, one
    # below the other; configurations in the tangent space), by which argument, or by q and qd (BY_STATE).
    derivatives: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        described = {"notes": {*self.outputs, *self.parameters}, "derivatives": set(self.outputs)}
        for what, known in described.items():
            for name in getattr(self, what):
                if name not in known:
                    raise ArgumentError(
                        f"algorithm {self.name}: {what}: expected names among {', '.join(sorted(known))}, "
                        f"found {name!r}"
                    )

    @property
    def takes_states_alone(self) -> bool:
        """May it be called with a state, wrenches and a frame? Then it is a method of Robot."""
        return not (self.frames or self.parameters)

    def usable_formulations(self, tree: Tree) -> list[str]:
        return [name for name in self.formulations if not (tree.coupled and name in self.needs_free_joints)]

    def input_ports(self, sizes: Sizes, wrench_links: Sequence[str], frames: int = 0) -> tuple[Port, ...]:
        ports = [Port(name, (sizes.nq if name == "q" else sizes.nv,)) for name in self.inputs]
        if wrench_links:
            ports.append(Port("f_ext", (len(wrench_links), 6)))
        counts = (frames, len(wrench_links))
        ports += [Port(name, _shape(shape, sizes, *counts)) for name, shape in self.parameters.items()]
        return tuple(ports)

    def output_port(self, name: str, sizes: Sizes, frames: int = 0, wrenches: int = 0) -> Port:
        return Port(name, _shape(self.outputs[name], sizes, frames, wrenches))

    def note(self, name: str) -> str:
        """What an argument or a result is; empty if nobody said."""
        return self.notes.get(name) or VECTORS.get(name, "")


def _shape(shape: Sequence[str | int], sizes: Sizes, frames: int, wrenches: int) -> tuple[int, ...]:
    named = {**sizes._asdict(), "2nv": 2 * sizes.nv, "frames": frames, "wrenches": wrenches}
    return tuple(named[n] if isinstance(n, str) else n for n in shape)
