"""Statistics, interleaving, and errors."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from robomorph.bench.measuring import Effort, measure, relative_error, summarise
from robomorph.bench.records import speedup
from tests.bench.samples import contestant, record

_EFFORT = Effort(rounds=6, sample_s=2e-4, budget_s=10.0)


def test_summary_is_the_least_and_the_median_in_nanoseconds() -> None:
    timing = summarise([3e-6, 1e-6, 2e-6, 50e-6], warmup_s=0.25)
    assert timing.best_ns == pytest.approx(1000.0)
    assert timing.median_ns == pytest.approx(2500.0)
    assert (timing.rounds, timing.warmup_s) == (4, 0.25)


def test_time_is_per_evaluation_and_never_below_what_was_spent() -> None:
    (timing,) = measure([contestant("a", 2e-4, evaluations=10)], _EFFORT)
    assert timing.best_ns >= 2e-4 / 10 * 1e9
    assert timing.median_ns >= timing.best_ns


def test_rounds_are_interleaved_in_a_fixed_order() -> None:
    log: list[str] = []
    measure([contestant("a", 3e-4, log), contestant("b", 3e-4, log)], _EFFORT)
    turns = [who for who, before in zip(log, ["", *log[:-1]], strict=True) if who != before]
    assert turns == ["a", "b"] * (len(turns) // 2)
    assert len(turns) >= 2 * _EFFORT.rounds


def test_everybody_runs_untimed_before_each_sample() -> None:
    log: list[str] = []
    effort = Effort(rounds=5, sample_s=1e-6, budget_s=10.0)  # one loop fills a sample
    measure([contestant("slow", 1e-4, log), contestant("slower", 2e-4, log)], effort)
    for who in ("slow", "slower"):  # the first call, one trial, then a warm-up and a sample each round
        assert log.count(who) == 2 + 2 * effort.rounds


def test_a_budget_ends_a_contest_but_not_before_the_least_rounds() -> None:
    effort = Effort(rounds=1000, sample_s=1e-5, budget_s=0.0, least_rounds=4)
    (timing,) = measure([contestant("a", 1e-4)], effort)
    assert timing.rounds == 4


def test_the_warm_up_counts_preparation() -> None:
    (timing,) = measure([contestant("a", 1e-4, prepared_s=7.0)], _EFFORT)
    assert 7.0 < timing.warmup_s < 8.0


def test_the_garbage_collector_rests_and_is_woken_again() -> None:
    seen: list[bool] = []
    silent = contestant("a", 0.0)
    watching = silent.__class__("a", "calls", lambda count: seen.append(gc.isenabled()), 1)
    gc.enable()
    measure([watching], Effort(rounds=3, sample_s=1e-9, budget_s=1.0))
    assert gc.isenabled()
    assert seen[-1] is False


def test_error_is_relative_to_the_largest_entry_of_the_same_output() -> None:
    reference = {"a": np.array([[1.0, -4.0]]), "b": np.array([[100.0]])}
    found = {"a": np.array([[1.0, -4.4]]), "b": np.array([[101.0]])}
    assert relative_error(found, reference) == pytest.approx(0.1)


def test_error_compares_the_leading_rows_and_common_outputs() -> None:
    reference = {"a": np.ones((2, 1))}
    assert relative_error({"a": np.array([[1.0], [1.0], [9.0]]), "c": np.zeros((1, 1))}, reference) == 0.0
    assert relative_error({"c": np.zeros((1, 1))}, reference) is None


@pytest.mark.parametrize("bad", ["a", "b"])
def test_error_of_results_that_are_no_numbers_is_shown(bad: str) -> None:
    reference = {"a": np.ones((1, 1)), "b": np.ones((1, 1))}
    error = relative_error({**reference, bad: np.array([[np.nan]])}, reference)
    assert error is not None and np.isnan(error)


def test_speedup_is_theirs_over_ours() -> None:
    assert speedup(record(best_ns=50.0), record(best_ns=500.0)) == pytest.approx(10.0)
    assert speedup(record(best_ns=50.0), None) is None
    assert speedup(record(best_ns=None), record()) is None
