"""Ranges and sensitivities: proofs hold, profiles are attained, derivatives are derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robomorph
from robomorph.accelerators.accuracy import signals_to_widen
from robomorph.compiler.states import described_bounds, input_bounds
from robomorph.errors import ArgumentError
from robomorph.ir.interpret import interpret
from robomorph.ir.ops import CONST
from robomorph.ir.program import Port
from robomorph.ir.ranges import Interval, intervals, node_values
from robomorph.ir.sensitivity import answers, sensitivities
from robomorph.ir.trace import Tracer
from tests.targets.rtl.accelerators import ANCHOR, PAPERS, accelerator


def test_positions_are_bounded_by_the_limits_alone() -> None:
    """Limits beyond half a turn count in full; a joint without any is taken half a turn either way."""
    joint = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>{4}</joint>'
    limit = '<limit lower="-6" upper="5" effort="1" velocity="1"/>'
    text = (
        '<robot name="two"><link name="a"/><link name="b"/>'
        '<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
        + joint.format("first", "revolute", "a", "b", limit)
        + joint.format("second", "continuous", "b", "c", "")
        + "</robot>"
    )
    specialiser = robomorph.load(text).specialiser
    ports = [Port("q", (2,))]
    bounds = input_bounds(specialiser, ports, {"q": np.zeros((1, 2))}, speed=1.0, acceleration=1.0)
    assert bounds == [Interval(-6.0, 5.0), Interval(-np.pi, np.pi)]


def test_proven_intervals_hold_for_random_states() -> None:
    a = accelerator("iiwa14", "inverse_dynamics", speed=2.0, acceleration=3.0)
    proven = np.array(a.proven)
    assert np.all(np.isfinite(proven))
    for values, bound in zip(
        node_values(a.chip, a.chip_arguments(a.sample(300, seed=4))), proven, strict=True
    ):
        assert np.max(np.abs(values)) <= bound * (1 + 1e-12)


def test_bounds_that_are_assumed_are_named() -> None:
    """Torques and M^-1 have no bound of their own: twice the sampled range, and called an assumption."""
    a = accelerator("chain:2", "forward_dynamics_gradient", **PAPERS)
    o = a.options
    bounds = a.source.bounds(a.chip.inputs, a.samples, o.speed, o.acceleration)
    largest = {name: np.abs(values).reshape(len(values), -1).max(0) for name, values in a.samples.items()}
    start = 0
    for port in a.chip.inputs:
        if port.name == "minv":
            np.testing.assert_allclose(
                [b.high for b in bounds[start : start + port.size]], 2 * largest["minv"]
            )
        start += port.size
    stated, assumed = described_bounds(a.chip.inputs, speed=1.0, acceleration=3.0)
    assert "|qdd| <= 3" in stated and any("joints' limits" in text for text in stated)
    assert assumed == ["M^-1 within twice its sampled range"]


def test_proven_formats_keep_every_sampled_state_in_range() -> None:
    a = accelerator("iiwa14", "inverse_dynamics", trig="host", ranges="proven", **ANCHOR)
    profiled = accelerator("iiwa14", "inverse_dynamics", trig="host", **ANCHOR)
    _, result = a.interpret(a.sample(500, seed=6))
    assert not result.overflow.any()
    pairs = zip(a.fixed.formats, profiled.fixed.formats, strict=True)
    assert any(ours.frac < theirs.frac for ours, theirs in pairs)  # a proof costs fraction bits


def test_a_complete_gradient_has_no_proven_formats() -> None:
    with pytest.raises(ArgumentError, match="no finite bound"):
        _ = accelerator("chain:3", "forward_dynamics_gradient", ranges="proven").fixed


@pytest.mark.parametrize(
    ("low", "high", "sine"),
    [
        (0.0, 1.0, (0.0, np.sin(1.0))),
        (1.0, 2.0, (np.sin(1.0), 1.0)),
        (-4.0, 4.0, (-1.0, 1.0)),
        (4.0, 5.0, (-1.0, np.sin(4.0))),
    ],
)
def test_interval_of_a_sine(low: float, high: float, sine: tuple[float, float]) -> None:
    tracer = Tracer()
    program = tracer.program("sine", (), {"y": tracer.input(0).sin()})
    found = intervals(program, [Interval(low, high)])[-1]
    np.testing.assert_allclose((found.low, found.high), sine, atol=1e-12)


def test_a_reciprocal_across_zero_has_no_bound() -> None:
    tracer = Tracer()
    program = tracer.program("r", (), {"y": tracer.input(0).reciprocal()})
    assert intervals(program, [Interval(-1.0, 2.0)])[-1].size == np.inf
    assert intervals(program, [Interval(0.5, 2.0)])[-1] == Interval(0.5, 2.0)


def test_sensitivities_agree_with_finite_differences() -> None:
    """On a program of one result, where no random signs blur the norm."""
    a = accelerator("chain:2", "inverse_dynamics", trig="host")
    whole = a.chip
    program = type(whole)(
        whole.name, whole.inputs, (type(whole.outputs[0])("tau0", ()),), whole.nodes, whole.results[:1]
    )
    arguments = a.chip_arguments(a.sample(1, seed=2))
    gains = sensitivities(program, arguments)
    slot = 0
    for port in program.inputs:
        for k in range(port.size):
            nodes = [i for i, n in enumerate(program.nodes) if n.op.name == "input" and int(n.value) == slot]
            slot += 1
            if not nodes:
                continue
            moved = {name: value.copy() for name, value in arguments.items()}
            moved[port.name].reshape(-1)[k] += 1e-6
            change = interpret(program, moved)["tau0"] - interpret(program, arguments)["tau0"]
            np.testing.assert_allclose(gains[nodes[0]], abs(float(change[0])) / 1e-6, rtol=1e-4, atol=1e-6)


def test_answers_of_every_result_agree_with_sensitivities() -> None:
    """Random signs in the norm of all results; exact derivatives, one result at a time."""
    a = accelerator("chain:2", "inverse_dynamics", trig="host")
    arguments = a.chip_arguments(a.sample(1, seed=2))
    for k in range(len(a.chip.results)):
        one = replace(a.chip, outputs=(Port("tau_k", ()),), results=a.chip.results[k : k + 1])
        gains = sensitivities(one, arguments)
        found = [answers(a.chip, arguments, i)[k] for i in range(len(gains))]
        np.testing.assert_allclose(found, gains, rtol=1e-9, atol=1e-12)


def test_signals_to_widen_name_the_outputs_they_feed() -> None:
    """A result feeds itself; every entry named does depend on the signal."""
    a = accelerator("chain:2", "inverse_dynamics", trig="host")
    program = a.fixed.program
    for signal in signals_to_widen(a, len(program.nodes)):
        if signal.name.startswith("tau"):
            assert signal.feeds[0] == signal.name.partition(" ")[0]
        elif signal.share > 0:
            assert signal.feeds and set(signal.feeds) <= {"tau[0]", "tau[1]"}


def test_profile_decides_formats() -> None:
    a = accelerator("iiwa14", "forward_dynamics_gradient", **PAPERS)
    assert len({f.frac for f in a.fixed.formats}) > 3
    for node, form in zip(a.fixed.program.nodes, a.fixed.formats, strict=True):
        if node.op is not CONST:
            assert form.bits == 32
