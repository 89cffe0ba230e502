"""The schedule model: legal, within its limits, and what it says about the anchor's design."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest

from robomorph.accelerators.sparsity import sparsity_figure
from robomorph.errors import TargetError
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.design import module_name
from robomorph.targets.rtl.digits import signed_digits
from robomorph.targets.rtl.operations import SHARED, Kind
from robomorph.targets.rtl.registers import copy_read, last_reads, register_copies
from robomorph.targets.rtl.schedule import Knobs, Schedule
from tests.targets.rtl.accelerators import PAPERS, accelerator

DESIGNS = {
    "iiwa gradient": ("iiwa14", "forward_dynamics_gradient", {**PAPERS, "interval": 24}),
    "iiwa fast": ("iiwa14", "forward_dynamics_gradient", {**PAPERS, "interval": 8}),
    "iiwa complete": ("iiwa14", "forward_dynamics_gradient", {"interval": 48}),
    "hyq chained": ("hyq", "inverse_dynamics", {"interval": 6, "period": 3.0, "levels": 2}),
    "chain each cycle": ("chain:3", "inverse_dynamics", {"interval": 1}),
}


@pytest.fixture(params=DESIGNS)
def schedule(request: pytest.FixtureRequest) -> Schedule:
    name, algorithm, options = DESIGNS[request.param]
    return accelerator(name, algorithm, **options).design.schedule


def test_operands_are_there_when_read(schedule: Schedule) -> None:
    copies = register_copies(schedule)
    for i, node in enumerate(schedule.fixed.program.nodes):
        for a in node.args:
            if schedule.operations[a].kind is Kind.CONSTANT:
                continue
            assert schedule.birth[a] <= schedule.issue[i]
            copy = copy_read(schedule, a, schedule.issue[i])
            assert copy is None or copy < copies[a]


def test_chains_fit_the_period(schedule: Schedule) -> None:
    slowest = max(op.delay for op in schedule.operations)
    assert max(schedule.finish) <= max(schedule.knobs.period, slowest) + 1e-9


def test_no_unit_has_two_operations_in_a_phase(schedule: Schedule) -> None:
    seats: dict[tuple[int, int], set[int]] = defaultdict(set)
    for i, op in enumerate(schedule.operations):
        if op.kind in SHARED:
            assert schedule.units[schedule.unit[i]].key[:2] == (op.kind, op.shape)
            # Sine and cosine of one angle are one operation of the unit.
            what = schedule.fixed.program.nodes[i].args[0] if op.kind is Kind.ROTATE else i
            seats[schedule.unit[i], schedule.issue[i] % schedule.knobs.interval].add(what)
    assert all(len(users) == 1 for users in seats.values())


def test_values_live_until_they_are_read(schedule: Schedule) -> None:
    copies = register_copies(schedule)
    for i, last in enumerate(last_reads(schedule)):
        if schedule.operations[i].kind is not Kind.CONSTANT and last > schedule.birth[i]:
            assert last <= schedule.birth[i] + copies[i] * schedule.knobs.interval


def anchor(**options: object) -> Accelerator:
    return accelerator("iiwa14", "forward_dynamics_gradient", **{**PAPERS, **options})


def test_papers_design_beats_the_anchor() -> None:
    stats = anchor(interval=24).design.stats
    assert stats.latency <= 34 and stats.last_word <= 34
    assert stats.interval <= 24
    assert stats.multipliers <= 900
    assert anchor(interval=8).design.stats.interval <= 8


def test_time_buys_sharing() -> None:
    few = anchor(interval=24, latency=32, period=1.5).design.stats
    many = anchor(interval=4).design.stats
    assert few.multipliers < 100 < many.multipliers


def test_knobs_are_checked() -> None:
    with pytest.raises(TargetError, match="interval"):
        Knobs(interval=0)
    for period in (0.5, float("nan")):
        with pytest.raises(TargetError, match="period"):
            Knobs(period=period)


@pytest.mark.parametrize("word", [1, 2, 3, 7, -1, -7, 15, 23, 1000003, -987654321])
def test_signed_digits_sum_to_the_word(word: int) -> None:
    digits = signed_digits(word)
    assert sum(sign << shift for shift, sign in digits) == word
    shifts = [shift for shift, _ in digits]
    assert all(b - a >= 2 for a, b in pairwise(shifts))


def test_sparsity_of_the_papers() -> None:
    model = accelerator("iiwa14", "inverse_dynamics").source.specialiser.model
    given, chosen = (sparsity_figure(model, fitted=fitted) for fitted in (False, True))
    second = given.joints[1]
    assert (second.multipliers, second.adders) == (13, 7)
    assert round(100 * (1 - second.multipliers / 36)) == 64
    assert round(100 * (1 - second.adders / 30)) == 77
    assert given.kept >= 0.333
    assert chosen.kept > given.kept
    # Counted from a robot-agnostic unit, chosen frames still pass the papers' share.
    assert given.kept_beyond_agnostic < 0.333 < chosen.kept_beyond_agnostic
    assert chosen.average.multipliers < given.average.multipliers


@pytest.mark.parametrize(
    ("text", "name"),
    [("iiwa14 gradient", "iiwa14_gradient"), ("Ärm", "rm"), ("3 legs", "m_3_legs"), ("µ", "design")],
)
def test_module_names_are_legal(text: str, name: str) -> None:
    assert module_name(text) == name
