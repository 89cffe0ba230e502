"""Contests between our kernels and made-up libraries."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from robomorph.bench.functions import FAMILY, INVERSE_DYNAMICS
from robomorph.bench.measuring import Effort, measure
from robomorph.bench.ours import LAUNCHING, NEW_ARRAYS, PERSISTENT, our_contestant
from robomorph.bench.peak import flops_per_turn, peak_contestant, peak_text
from robomorph.bench.records import OURS
from robomorph.bench.sections.dynamics.steps import split
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.types import LaneType
from tests.bench.samples import Interpreting, Missing, Unreadable, Wrong, record

_BRIEF = Effort(rounds=3, sample_s=1e-5, budget_s=0.0)


def _session(*peers: type[Interpreting]) -> Session:
    session = Session(["iiwa14"], peers, quick=True)
    session.effort = _BRIEF
    return session


@pytest.fixture(scope="module")
def subject() -> Subject:
    return Subject("iiwa14")


def test_states_are_the_same_in_every_run_and_larger_batches_begin_alike(subject: Subject) -> None:
    again = Subject("iiwa14").states(5)
    for name, array in subject.states(9).items():
        assert (array[:5] == again[name]).all()
        assert array.flags.c_contiguous


@pytest.mark.parametrize("function", FAMILY, ids=lambda f: f.name)
def test_our_kernels_agree_with_the_reference(function: object, subject: Subject) -> None:
    session = _session(Interpreting)
    chosen = next(f for f in FAMILY if f is function)
    ours = [our_contestant(subject, chosen, 5, dtype=dtype) for dtype in ("float64", "float32")]
    wide, narrow, theirs = session.contest(
        "family", subject, chosen, ours + session.theirs(subject, chosen, 5)
    )
    assert wide.error is not None and wide.error < 1e-10
    assert narrow.error is not None and 1e-10 < narrow.error < 2e-3
    assert theirs.error is None and wide.reference == "interpreting"


@pytest.mark.parametrize("how", [NEW_ARRAYS, PERSISTENT, LAUNCHING])
def test_every_way_of_calling_ours_gives_its_own_results(how: str, subject: Subject) -> None:
    session = _session()
    mine = our_contestant(subject, INVERSE_DYNAMICS, 40, threads=2, how=how)
    (found,) = session.contest("threads", subject, INVERSE_DYNAMICS, [mine])
    assert found.reference == "interpreter"
    assert found.error is not None and found.error < 1e-12


def test_a_wrong_library_shows_its_error(subject: Subject) -> None:
    session = _session(Interpreting, Wrong)
    records = session.contest("x", subject, INVERSE_DYNAMICS, session.theirs(subject, INVERSE_DYNAMICS, 3))
    assert records[1].who == "wrong"
    assert records[1].error == pytest.approx(1e-3)


def test_a_library_that_is_not_there_is_named_with_its_package() -> None:
    session = _session(Missing, Interpreting)
    assert [peer.name for peer in session.present] == ["interpreting"]
    assert "pip install no-such-package" in session.absent["missing"]


def test_a_library_that_fails_is_noted_and_left_out(subject: Subject) -> None:
    session = _session(Unreadable, Interpreting)
    found = session.theirs(subject, INVERSE_DYNAMICS, 2)
    assert [c.who for c in found] == ["interpreting"]
    assert session.notes == ["unreadable cannot read iiwa14: ValueError: it does not like robots"]


@pytest.mark.parametrize("fma", [True, False])
def test_a_turn_of_the_peak_loop_does_the_arithmetic_it_counts(fma: bool) -> None:
    lane = LaneType("float64", 4)
    code = LoadedCode(compile_object(peak_text(lane, fma=fma)), "robomorph_peak")
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address)
    chains = 12
    data = np.ones((2 + chains, 4))
    data[0], data[1] = 0.5, 0.0  # every step halves every lane of every chain
    call(data.ctypes.data, 3)
    steps = flops_per_turn(4) // (2 * chains * 4)
    assert (data[2:] == 0.5 ** (3 * steps)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_peak_is_a_rate_that_a_core_can_have(dtype: str) -> None:
    (timing,) = measure([peak_contestant(dtype)], _BRIEF)
    assert 1e-2 < 1.0 / timing.best_ns < 1e4  # Gop/s; outside, the count or the clock is wrong


def test_steps_subtract_the_forces_from_the_gradient() -> None:
    times = {
        "inverse_dynamics": 100.0,
        "inverse_dynamics_gradient": 450.0,
        "mass_matrix_inverse": 200.0,
        "forward_dynamics_gradient": 600.0,
    }
    parts = split([record(OURS, time, function=name) for name, time in times.items()])
    assert list(parts.values()) == [100.0, 350.0, 200.0, 600.0]
