"""Torques, and the wrench at the root, with first and second derivatives."""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.gradient_composite import COMPOSITE
from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.inverse_dynamics import RNEA
from robomorph.algorithms.mass_matrix import CRBA
from robomorph.algorithms.root_wrench import ROOT_WRENCH, ROOT_WRENCH_DERIVATIVES, held_beside
from robomorph.algorithms.sweep import Stage, State, Sweep, run
from robomorph.algorithms.torque_adjoint import TORQUE_ADJOINT
from robomorph.algorithms.torque_hessian import BLOCKS, TORQUE_HESSIAN
from robomorph.algorithms.tree import Tree
from robomorph.compiler.specialise import Specialiser
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes

_Parts = tuple[Sweep | Stage, ...]
_TORQUE: _Parts = (*RNEA, *CRBA, *COMPOSITE)
_WRENCH: _Parts = (*_TORQUE, ROOT_WRENCH, ROOT_WRENCH_DERIVATIVES)


def torque_inputs(nv: int) -> tuple[Port, ...]:
    return Port("q", (nv,)), Port("qd", (nv,)), Port("qdd", (nv,))


def adjoint_inputs(nv: int, wrench: bool) -> tuple[Port, ...]:
    """The multipliers of torques come first, then those of the root's wrench (linear first)."""
    return (*torque_inputs(nv), Port("multipliers", (nv + 6 if wrench else nv,)))


def torque_outputs(nv: int, wrench: bool) -> tuple[Port, ...]:
    """Torques and their derivatives; the mass matrix is that by qdd. With `wrench` those of the root too."""
    square, flat = (nv, nv), (6, nv)
    own = (Port("tau", (nv,)), Port("dtau_dq", square), Port("dtau_dqd", square), Port("mass", square))
    if not wrench:
        return own
    of_root = (Port("dwrench_dq", flat), Port("dwrench_dqd", flat), Port("dwrench_dqdd", flat))
    return (*own, Port("wrench", (6,)), *of_root)


def adjoint_outputs(nv: int) -> tuple[Port, ...]:
    return Port("dq", (nv,)), Port("dqd", (nv,)), Port("dqdd", (nv,))


def hessian_outputs(nv: int) -> tuple[Port, ...]:
    """Second derivatives by the pairs of their names; all others are zero."""
    return tuple(Port(name, (nv, nv)) for name in BLOCKS)


def value_outputs(nv: int, wrench: bool) -> tuple[Port, ...]:
    return (Port("tau", (nv,)), Port("wrench", (6,))) if wrench else (Port("tau", (nv,)),)


def trace_torque_values(specialiser: Specialiser, *, wrench: bool) -> Program:
    """(q, qd, qdd) -> tau (nv,) and with `wrench` wrench (6,) alone: what a trial step is judged by."""
    tree = specialiser.tree(regroup=True)
    ports, outputs = torque_inputs(tree.nv), value_outputs(tree.nv, wrench)
    parts = (*RNEA, ROOT_WRENCH) if wrench else RNEA
    return _trace("torque_values", tree, ports, parts, outputs, _held(specialiser, wrench))


def trace_torque(specialiser: Specialiser, *, wrench: bool) -> Program:
    """(q, qd, qdd) -> tau (nv,), dtau_dq, dtau_dqd, mass (nv, nv); with `wrench` also wrench (6,) and
    dwrench_dq, dwrench_dqd, dwrench_dqdd (6, nv)."""
    tree = specialiser.tree(regroup=True)
    ports, outputs = torque_inputs(tree.nv), torque_outputs(tree.nv, wrench)
    parts = _WRENCH if wrench else _TORQUE
    return _trace("torque", tree, ports, parts, outputs, _held(specialiser, wrench))


def trace_torque_adjoint(specialiser: Specialiser, *, wrench: bool) -> Program:
    """(q, qd, qdd, multipliers) -> the gradient of multipliers . (tau, wrench) by q, qd and qdd."""
    tree = specialiser.tree(regroup=True)
    ports, outputs = adjoint_inputs(tree.nv, wrench), adjoint_outputs(tree.nv)
    return _trace("torque_adjoint", tree, ports, TORQUE_ADJOINT, outputs, {})


def trace_torque_hessian(specialiser: Specialiser, *, wrench: bool) -> Program:
    """(q, qd, qdd, multipliers) -> the second derivatives of multipliers . (tau, wrench): qq, q_qd (rows: q),
    qd_qd, q_qdd (rows: q), (nv, nv) each."""
    tree = specialiser.tree(regroup=True)
    ports, outputs = adjoint_inputs(tree.nv, wrench), hessian_outputs(tree.nv)
    return _trace("torque_hessian", tree, ports, TORQUE_HESSIAN, outputs, {})


def _held(specialiser: Specialiser, wrench: bool) -> dict[str, Any]:
    """What the wrench needs beside the regrouped tree."""
    if not wrench:
        return {}
    return {"held": held_beside(specialiser.tree(regroup=False), specialiser.tree(regroup=True))}


def _trace(
    name: str,
    tree: Tree,
    ports: tuple[Port, ...],
    parts: _Parts,
    outputs: tuple[Port, ...],
    given: dict[str, Any],
) -> Program:
    tracer = Tracer()
    inputs = tracer.inputs(ports)
    state = State(tree)
    state.whole.update(given, multipliers=inputs.get("multipliers"))
    set_inputs(state, inputs, ())
    run(state, parts)
    results = {port.name: state.whole[port.name] for port in outputs}
    shapes = {port.name: port.shape for port in outputs}
    return run_passes(tracer.program(name, ports, results, shapes), SIMPLIFY)
