"""Link units: superposition keeps values, units follow the knobs, and hardware equals the interpreter."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, seed, settings

import robomorph
from robomorph.accelerators.accuracy import error_report
from robomorph.algorithms.registry import state_algorithms
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.specialise import make_request
from robomorph.compiler.units.trace import limbs
from robomorph.errors import ArgumentError, TargetError
from robomorph.ir.interpret import interpret
from robomorph.ir.ops import CONST, INPUT, MUL
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.options import Options
from robomorph.targets.rtl.schedule import Schedule
from robomorph.targets.rtl.simulate import lint
from robomorph.targets.rtl.units import fold_of
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.targets.rtl.accelerators import PAPERS, accelerator
from tests.targets.rtl.toolchains import needs_verilator

UNITS: dict[str, Any] = {"structure": "units", "trig": "host"}
DESIGNS = {
    "iiwa gradient": ("iiwa14", "forward_dynamics_gradient", {**PAPERS, "interval": 96, "bits": 18}),
    "hyq, four of each": ("hyq", "inverse_dynamics_gradient", {"interval": 24, "units": "4"}),
    "hyq complete": ("hyq", "forward_dynamics_gradient", {"interval": 60, "trig": "chip", "minv": "chip"}),
}


def made(name: str) -> Accelerator:
    robot, algorithm, options = DESIGNS[name]
    return accelerator(robot, algorithm, **{**UNITS, **options})


def load(random: RandomRobot) -> robomorph.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return robomorph.load(random.text, floating_base=random.floating, mimic=random.mimic)


def agree(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(value).max()))


# --- superposition ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS)
def test_calls_compute_the_same_function(name: str) -> None:
    a = made(name)
    arguments = a.sample(50, seed=3)
    agree(interpret(a.chip, a.chip_arguments(arguments)), a.reference(arguments))


@seed(7)
@settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(random=random_robots())
def test_random_robots_in_real_numbers(random: RandomRobot) -> None:
    robot = load(random)
    request = make_request(robot.model, "inverse_dynamics_gradient", f_ext=True)
    a = make_accelerator(robot.specialiser, request, Options(**UNITS))
    arguments = a.sample(10, seed=1)
    agree(interpret(a.chip, a.chip_arguments(arguments)), a.reference(arguments))


OTHERS = [n for n, a in state_algorithms().items() if not a.frame and "grad" not in n]


@pytest.mark.parametrize("algorithm", OTHERS)
def test_every_other_algorithm(algorithm: str) -> None:
    a = accelerator("hyq", algorithm, floating=algorithm == "energy", **UNITS)
    arguments = a.sample(10, seed=4)
    agree(interpret(a.chip, a.chip_arguments(arguments)), a.reference(arguments))


@pytest.mark.parametrize("name", DESIGNS)
def test_a_call_is_its_template_inlined(name: str) -> None:
    fixed, units = made(name).lowered
    for call in units.calls:
        template = units.templates[call.template].fixed
        for k, node in enumerate(template.program.nodes):
            flat = fixed.program.nodes[call.nodes[k]]
            if node.op is INPUT:
                assert call.nodes[k] == call.args[int(node.value)]
            elif node.op is CONST:
                assert flat == node
            else:
                assert (flat.op, flat.args) == (node.op, tuple(call.nodes[a] for a in node.args))


def test_superposed_units_of_iiwa() -> None:
    """Fewer operations than a step without sparsity, and no fewer than the average call needs alone."""
    stats = made("iiwa gradient").design.stats.units
    assert {u.kind for u in stats} == {"forward", "backward", "product"}
    for unit in stats:
        assert unit.average <= unit.operations <= unit.dense
    columns = next(u for u in stats if u.name == "position derivatives and rate derivatives")
    assert columns.calls == 15 + 21 and columns.kept > 0.5
    backward = next(u for u in stats if u.name.startswith("torques"))
    assert backward.calls == 5 + 30 + 42


def test_links_far_out_keep_more_fraction_bits() -> None:
    """Formats differ between calls of a unit, all shifts do not; and the results are better for it."""
    a = made("iiwa gradient")
    plain = accelerator(
        "iiwa14", "forward_dynamics_gradient", **{**UNITS, **PAPERS, "bits": 18, "link_scale": 0}
    )
    fixed, units = a.lowered
    moved = set()
    for call in units.calls:
        template = units.templates[call.template].fixed
        for k, node in enumerate(template.program.nodes):
            if node.op is MUL:
                flat, own = call.nodes[k], template.formats
                args = [fixed.formats[n].frac for n in fixed.program.nodes[flat].args]
                shift = sum(own[n].frac for n in node.args) - own[k].frac
                assert sum(args) - fixed.formats[flat].frac == shift
                moved.add(fixed.formats[flat].frac - own[k].frac)
    assert len(moved) > 3
    states = a.sample(200, seed=2)
    assert error_report(a, states).worst < 0.2 * error_report(plain, states).worst


# --- the schedule ----------------------------------------------------------------------------------------


@pytest.fixture(params=DESIGNS)
def schedule(request: pytest.FixtureRequest) -> Schedule:
    return made(request.param).design.schedule


def test_calls_begin_when_operands_are_in_registers(schedule: Schedule) -> None:
    for placed in schedule.calls:
        for a in placed.call.args:
            if schedule.operations[a].kind is not Kind.CONSTANT:
                early = schedule.birth[a] < placed.issue
                assert early or (schedule.birth[a] == placed.issue and schedule.finish[a] == 0.0)


def test_units_begin_calls_a_fold_apart(schedule: Schedule) -> None:
    assert sum(len(u.turns) for u in schedule.units if u.kind is Kind.CALL) == len(schedule.calls)
    for unit in schedule.units:
        if unit.kind is Kind.CALL:
            fold = schedule.plan(unit).fold
            assert schedule.knobs.interval % fold == 0
            assert {phase % fold for phase in unit.turns} == {unit.offset}


def test_knobs_decide_how_many_units_there_are() -> None:
    def counts(**options: Any) -> dict[str, tuple[int, int]]:
        a = accelerator("iiwa14", "inverse_dynamics_gradient", **UNITS, interval=48, **options)
        return {u.name: (u.count, u.fold) for u in a.design.stats.units}

    columns = "position derivatives and rate derivatives"
    one, two, named = counts(), counts(units="2"), counts(units=f"{columns}=3, forward=2", fold=2)
    assert one[columns] == (1, 1) and two[columns] == (2, 2)
    assert named[columns] == (3, 2)
    assert named["velocities"] == (1, 2)  # one link after the other: a second unit would have nothing to do
    assert all(a[0] <= b[0] for a, b in zip(one.values(), two.values(), strict=True))


def test_folding_saves_multipliers_and_adders() -> None:
    def stats(**options: Any) -> Any:
        options = {"trig": "host", "bits": 18, **options}
        return accelerator("iiwa14", "inverse_dynamics_gradient", **options).design.stats

    fast, small = stats(structure="units", interval=36), stats(structure="units", interval=144)
    flat = stats(interval=24)
    assert small.multipliers < 0.6 * fast.multipliers
    assert small.adders < 0.25 * flat.adders


def test_limbs_run_on_processors_of_their_own() -> None:
    assert limbs(made("hyq complete").source.specialiser.tree(regroup=True)) == [
        0,
        0,
        0,
        3,
        3,
        3,
        6,
        6,
        6,
        9,
        9,
        9,
    ]
    a = accelerator("hyq", "inverse_dynamics", **UNITS, interval=24, units="4")
    for unit in a.design.stats.units:
        assert sorted(unit.limbs) == [(0,), (3,), (6,), (9,)]


def test_wrong_wishes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="structure"):
        Options(structure="tree")
    with pytest.raises(ArgumentError, match="forward=two"):
        accelerator("iiwa14", "inverse_dynamics", **UNITS, units="forward=two").design  # noqa: B018
    with pytest.raises(TargetError, match=r"'leftward': known are all, forward.*, velocities"):
        accelerator("iiwa14", "inverse_dynamics", **UNITS, units="leftward=2").design.stats  # noqa: B018
    with pytest.raises(ArgumentError, match="only for structure='units'"):
        Options(units="2")
    with pytest.raises(TargetError, match="3 units cannot make 100 calls in 24 cycles"):
        fold_of(24, 100, 3, 8)


# --- in simulation ---------------------------------------------------------------------------------------


def check(a: Accelerator, states: int) -> None:
    assert lint(a.design) == ""
    found = measure(a, a.sample(states, seed=9))
    assert found.exact, found
    stats = a.design.stats
    assert (found.latency, found.last_word) == (stats.latency, stats.last_word)
    assert found.interval == pytest.approx(stats.interval, abs=0.51)


@needs_verilator
def test_iiwa_inverse_dynamics() -> None:
    check(accelerator("iiwa14", "inverse_dynamics", **UNITS, interval=12, bits=20), 100)


@needs_verilator
def test_branched_robot_on_several_units() -> None:
    check(accelerator("hyq", "inverse_dynamics", **UNITS, interval=16, bits=18, units="2"), 60)


@needs_verilator
def test_flags_of_calls_belong_to_their_state() -> None:
    """Some states saturate, inside units: the flags must be theirs, whatever else is in flight."""
    a = accelerator(
        "chain:3",
        "inverse_dynamics_gradient",
        **{**UNITS, "trig": "chip", "interval": 12, "bits": 18, "speed": 0.5, "acceleration": 0.5},
    )
    wild = a.sample(300, seed=1)
    wild["qd"] = 4.0 * wild["qd"]
    found = measure(a, wild)
    assert found.exact
    assert 0 < found.overflows < 300


@needs_verilator
@seed(5)
@settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(random=random_robots(most_joints=3))
def test_random_robots_in_simulation(random: RandomRobot) -> None:
    robot = load(random)
    request = make_request(robot.model, "inverse_dynamics")
    a = make_accelerator(robot.specialiser, request, Options(**UNITS, interval=16, bits=20))
    check(a, 20)


GANTRY = """
<robot name="gantry">
  <link name="world"/>
  {links}
  {joints}
</robot>
"""
LINK = """<link name="{name}"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <axis xyz="{axis}"/><origin xyz="0.1 0 0.2"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""


@needs_verilator
def test_what_is_outside_units_reads_their_results_only() -> None:
    """Links outside the units change the sign of what a unit made by a change of sign: they must not reach
    for what it was made from, which does not leave the unit."""
    kinds = (
        ("a", "world", "prismatic", "0 0 1"),
        ("b", "a", "revolute", "0 1 0"),
        ("c", "b", "revolute", "1 0 0"),
    )
    links = "".join(LINK.format(name=name) for name, *_ in kinds)
    joints = "".join(JOINT.format(child=c, parent=p, kind=k, axis=axis) for c, p, k, axis in kinds)
    robot = robomorph.load(GANTRY.format(links=links, joints=joints))
    request = make_request(robot.model, "forward_dynamics_gradient")
    options = Options(**{**UNITS, **PAPERS, "interval": 24, "bits": 24})
    check(make_accelerator(robot.specialiser, request, options), 40)


@needs_verilator
@seed(8)
@settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(random=random_robots(most_joints=4))
def test_gradients_of_random_robots_are_clean(random: RandomRobot) -> None:
    robot = load(random)
    request = make_request(robot.model, "inverse_dynamics_gradient")
    a = make_accelerator(robot.specialiser, request, Options(**UNITS, interval=24, bits=20))
    assume(any(node.op is INPUT for node in a.chip.nodes))  # all gradients may be zero
    assert lint(a.design) == ""


@needs_verilator
@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_gradients(name: str) -> None:
    check(made(name), 300)


@needs_verilator
@pytest.mark.slow
def test_small_design_of_the_documentation() -> None:
    """The one that is placed and routed: docs/rtl.md has its command."""
    options = {"interval": 108, "period": 0.6, "multiply_stages": 2, "bits": 18, "step": 1}
    a = accelerator(
        "iiwa14", "forward_dynamics_gradient", **{**UNITS, **PAPERS, **options, "scale_by_adders": False}
    )
    check(a, 1000)
    stats = a.design.stats
    print(f"small design: {stats.latency} cycles, interval {stats.interval}, {stats.multipliers} multipliers")
