"""The forward-dynamics gradient in parts, for a host and a coprocessor that share it.

Three parts: what comes before the gradient of inverse dynamics (accelerations, and the motion and force of
every link at them), that gradient, and what comes after (a product with the inverse mass matrix).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robomorph.algorithms.forward_dynamics import AT_ACCELERATION, FORWARD
from robomorph.algorithms.gradient_columns import COLUMNS
from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.inverse_dynamics import joint_motion
from robomorph.algorithms.mass_matrix import INVERT
from robomorph.algorithms.sweep import Site, Stage, State, Sweep, run
from robomorph.algorithms.tree import Tree
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.spatial import Force, Motion

# Per link: velocity, acceleration and force through its joint, six numbers each, angular first.
MOTION_PORTS = ("v", "a", "f")


def motion_ports(tree: Tree) -> tuple[Port, ...]:
    return tuple(Port(name, (len(tree.links), 6)) for name in MOTION_PORTS)


def trace_motion(tree: Tree, *, links: bool, wrench_links: Sequence[str] = ()) -> Program:
    """From q, qd, tau (and wrenches) to qdd and minv, and with `links` to v, a, f at the accelerations."""
    tracer = Tracer()
    ports = [Port("q", (tree.nq,)), Port("qd", (tree.nv,)), Port("tau", (tree.nv,))]
    if wrench_links:
        ports.append(Port("f_ext", (len(wrench_links), 6)))
    state = State(tree)
    set_inputs(state, tracer.inputs(ports), wrench_links)
    run(state, (*FORWARD, INVERT, *(AT_ACCELERATION if links else ())))
    results: dict[str, Any] = {name: state.whole[name] for name in ("qdd", "minv")}
    for name in MOTION_PORTS if links else ():
        vectors = [state.fields[name, link.index] for link in tree.links]
        results[name] = [[*x.ang, *x.lin] for x in vectors]
    return tracer.program("motion", ports, results)


def _derived_step(site: Site) -> None:
    """What the gradient needs beside v, a and f: quantities of one link and its parent."""
    x = site["X"]
    site["v_carried"] = x.motion(site.parent("v"))
    site["a_carried"] = x.motion(site.parent("a"))
    site["v_joint"] = joint_motion(site, site["qd"])
    site["momentum"] = site.link.inertia.apply(site["v"])


DERIVED = Sweep("carried motions", _derived_step)


def trace_given_motion(tree: Tree) -> Program:
    """The gradient of inverse dynamics by columns from q, qd and v, a, f; transforms are made anew from q."""
    tracer = Tracer()
    ports = [Port("q", (tree.nq,)), Port("qd", (tree.nv,)), *motion_ports(tree)]
    values = tracer.inputs(ports)
    state = State(tree)
    set_inputs(state, values, ())
    for name in MOTION_PORTS:
        kind = Force if name == "f" else Motion
        for k in range(len(tree.links)):
            six = values[name][6 * k : 6 * k + 6]
            state.fields[name, k] = kind((six[0], six[1], six[2]), (six[3], six[4], six[5]))
    parts: tuple[Sweep | Stage, ...] = (DERIVED, *COLUMNS)
    run(state, parts)
    results = {name: state.whole[name] for name in ("dtau_dq", "dtau_dqd")}
    return tracer.program("gradient_given_motion", ports, results)


def trace_product(tree: Tree, zeros: Mapping[str, Sequence[bool]]) -> Program:
    """dqdd/du = -minv dtau/du for both gradients; `zeros` marks entries of the factors that always are."""
    tracer = Tracer()
    n = tree.nv
    ports = [Port(name, (n, n)) for name in ("minv", "dtau_dq", "dtau_dqd")]
    values: dict[str, list[Any]] = {
        name: [0.0 if zero else x for x, zero in zip(entries, zeros[name], strict=True)]
        for name, entries in tracer.inputs(ports).items()
    }
    results: dict[str, Any] = {}
    for name in ("dq", "dqd"):
        rows = []
        for i in range(n):
            row = []
            for j in range(n):
                total: Any = 0.0
                for k in range(n):
                    total = total + values["minv"][i * n + k] * values[f"dtau_{name}"][k * n + j]
                row.append(-total)
            rows.append(row)
        results[f"dqdd_{name}"] = rows
    return tracer.program("inverse_product", ports, results)
