"""Controllers from step to step: warm starts, batches, threads, deadlines, results that are filled again."""

from __future__ import annotations

import gc
import pickle
import threading
import tracemalloc
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ArgumentError
from robomorph.mpc import Controller, Jerk, Result, Velocity
from robomorph.tasks import Pose, Position
from tests.mpc.cases import NV, TOOL, Case, bare, check_plan, reach, smooth, state
from tests.mpc.oracle import Term

Array = npt.NDArray[Any]
FIELDS = ("tau", "q", "qd", "qdd", "torques", "gains", "success", "converged", "cost", "iterations", "origin")


def limited() -> Case:
    """With limits that hold it back."""
    case = reach(20, 0.02)
    free = Controller(case.problem).step(case.q, case.qd)
    case.problem.limits(velocity=0.9 * np.abs(free.qd).max(0) + 0.15, torque=True, position=True)
    return case


def starts(case: Case, count: int, seed: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return case.q + 0.05 * rng.normal(size=(count, NV)), case.qd + 0.02 * rng.normal(size=(count, NV))


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


def test_a_loop_of_single_iterations_tracks_the_converged_one() -> None:
    """One iteration a step, the plant moving as planned: plans stay near the best and within limits."""
    case = limited()
    quick, slow = Controller(case.problem, iterations=1, period=0.005), Controller(case.problem, period=0.005)
    q, qd = case.q.copy(), case.qd.copy()
    for k in range(60):
        found, best = quick.step(q, qd), slow.step(q, qd)
        assert found.iterations == 1 or k == 0
        assert best.converged and found.cost < best.cost * 1.05 + 1e-4
        assert found.violation < 1e-2
        qd = qd + 0.005 * found.qdd[0]
        q = q + 0.005 * qd
    assert np.abs(q - state()[2]).max() < 0.05


def test_a_step_from_the_last_plan_needs_fewer_iterations() -> None:
    case = limited()
    controller = Controller(case.problem)
    first = controller.step(case.q, case.qd)
    again = controller.step(case.q, case.qd, elapsed=0.0)
    assert again.iterations < first.iterations and again.cost <= first.cost * (1 + 1e-6)
    controller.reset()
    assert same(controller.step(case.q, case.qd), first)


@pytest.mark.parametrize("count", [1, 3, 8, 17])
def test_batches_are_their_problems(count: int) -> None:
    """As far as rounding goes: eight problems side by side are summed in another order than one alone."""
    case = limited()
    q, qd = starts(case, count)
    found = Controller(case.problem).step(q, qd)
    assert found.q.shape == (count, 21, NV) and found.success.shape == found.cost.shape == (count,)
    assert found.tau.shape == (count, NV) and found.gains.shape == (count, NV, 2 * NV)
    assert found.reason.shape == found.violations.shape == (count,) and found
    assert set(found.origin) == {"fresh"} and found.times["total"].shape == (count,)
    for b in range(count):
        own = Case(case.problem, case.oracle, q[b], qd[b])
        check_plan(own, found, b)
        alone = Controller(case.problem).step(q[b], qd[b])
        assert alone.success and abs(alone.cost - found.cost[b]) < 1e-6 * alone.cost
        assert np.allclose(alone.tau, found.tau[b], rtol=0, atol=1e-2 * np.abs(alone.tau).max())


def test_batches_of_any_shape_with_references_and_weights_of_their_own() -> None:
    case = smooth(bare(10, 0.03))
    tool = case.oracle.reference.forward_kinematics(case.q, TOOL)[:3, 3]
    case.problem.cost(Position(TOOL), 100.0, name="tool").terminal(Position(TOOL), 200.0, name="tool")
    rng = np.random.default_rng(8)
    goals = tool + 0.05 * rng.normal(size=(2, 3, 3))
    q, qd = (x.reshape(2, 3, NV) for x in starts(case, 6))
    weights = rng.uniform(50.0, 100.0, (2, 3, 3))
    controller = Controller(case.problem)
    found = controller.step(q, qd, reference={"tool": goals}, weights={"tool": weights})
    assert found.q.shape == (2, 3, 11, NV) and found.success.all()
    paths = np.broadcast_to(goals[..., None, :], (2, 3, 11, 3))
    controller.reset()
    assert same(found, controller.step(q, qd, reference={"tool": paths}, weights={"tool": weights}))
    oracle = case.oracle
    for b in np.ndindex(2, 3):
        oracle.terms[2:] = [Term(oracle.position(TOOL, goals[b]), weights[b], 200.0)]
        check_plan(Case(case.problem, oracle, q[b], qd[b]), found, b)
    one = controller.step(q[0, 0], qd[0, 0], reference=goals[0, 0], weights={"tool": weights[0, 0]})
    assert abs(one.cost - found.cost[0, 0]) < 1e-6 * one.cost
    # One reference along the horizon for all problems.
    shared = controller.step(
        q, qd, reference=goals[0, 0] + np.zeros((11, 3)), weights={"tool": weights[0, 0]}
    )
    assert abs(shared.cost[0, 0] - one.cost) < 1e-6 * one.cost


def test_answers_do_not_depend_on_threads() -> None:
    case = limited()
    q, qd = starts(case, 20)
    one, four = (Controller(case.problem, threads=n) for n in (1, 4))
    assert same(one.step(q, qd), four.step(q, qd))
    assert same(one.step(q + 0.01, qd), four.step(q + 0.01, qd))
    assert same(Controller(case.problem).step(q, qd), Controller(case.problem, threads=2).step(q, qd))


def test_a_deadline_that_cannot_be_met() -> None:
    """Cold: some plan, and words about it. Warm: the last plan moved on keeps the limits."""
    case = limited()
    controller = Controller(case.problem)
    found = controller.step(case.q, case.qd, deadline=0.0)
    check_plan(case, found)
    assert not found.converged and "the deadline came after" in found.reason
    assert np.isfinite(found.tau).all()
    controller.reset()
    first = controller.step(case.q, case.qd)
    q, qd = first.q[1], first.qd[1]
    cut = controller.step(q, qd, deadline=0.0)
    assert cut.success and cut.origin in ("shifted", "best so far", "fresh")
    assert "every limit is kept" in cut.reason
    assert np.allclose(cut.q[:-1], first.q[1:], rtol=0, atol=1e-6)
    assert controller.step(q, qd, elapsed=0.0, deadline=10.0).converged


def test_jerk_counts_from_what_the_last_plan_did() -> None:
    case = reach(10, 0.02)
    case.problem.cost(Jerk(), 1e-4)
    controller = Controller(case.problem)
    case.oracle.jerk = 1e-4
    last = controller.step(case.q, case.qd)
    check_plan(case, last)
    for elapsed, before in ((0.02, 0), (0.05, 2), (0.0, None), (0.01, 0)):
        if before is not None:  # no time has passed: as before the last plan
            case.oracle.last_a = last.qdd[before]
        last = controller.step(case.q, case.qd, elapsed=elapsed)
        check_plan(case, last)
    controller.reset()
    case.oracle.last_a = 0.0
    check_plan(case, controller.step(case.q, case.qd))


def test_a_result_that_is_filled_again() -> None:
    """The same arrays, the numbers of a fresh result; and no memory is asked for."""
    case = limited()
    controller, twin = Controller(case.problem), Controller(case.problem)
    q, qd = case.q.copy(), case.qd.copy()
    out = controller.step(q, qd)
    twin.step(q, qd)
    arrays = [getattr(out, name) for name in FIELDS[:6]]
    for k in range(3):
        found = controller.step(q + 0.01 * k, qd, out=out)
        assert found is out and all(getattr(out, n) is a for n, a in zip(FIELDS[:6], arrays, strict=True))
        fresh = twin.step(q + 0.01 * k, qd)
        assert same(out, fresh) and out.reason == fresh.reason
    for _ in range(5):  # whatever is made once is made
        controller.step(q, qd, out=out)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        for _ in range(50):
            controller.step(q, qd, out=out)
        after = tracemalloc.take_snapshot()
        size, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        controller.step(q, qd, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    grown = sum(
        d.size_diff for d in after.compare_to(before, "filename") if "tracemalloc" not in str(d.traceback)
    )
    assert grown < 2000
    assert peak - size < 4000, "a step makes arrays: one of a plan's alone has 20 * 7 * 8 bytes"


def test_a_batch_that_is_filled_again() -> None:
    case = limited()
    q, qd = starts(case, 9)
    controller, twin = Controller(case.problem), Controller(case.problem)
    out = controller.step(q, qd)
    twin.step(q, qd)
    assert controller.step(q + 0.01, qd, out=out) is out and same(out, twin.step(q + 0.01, qd))
    with pytest.raises(ArgumentError, match="for the same batch"):
        controller.step(q[:4], qd[:4], out=out)


def test_a_batch_that_changes_begins_anew() -> None:
    case = limited()
    controller = Controller(case.problem)
    first = controller.step(case.q, case.qd)
    controller.step(np.stack([case.q, case.q]), case.qd)
    assert same(controller.step(case.q, case.qd), first)


def test_arguments_of_other_types() -> None:
    case = reach()
    expected = Controller(case.problem).step(case.q, case.qd)
    assert same(Controller(case.problem).step(list(case.q), tuple(case.qd)), expected)
    spread = np.zeros((NV, 2))
    spread[:, 0] = case.q
    assert same(Controller(case.problem).step(spread[:, 0], case.qd), expected)
    single = Controller(case.problem).step(case.q.astype(np.float32), case.qd)
    assert abs(single.cost - expected.cost) < 1e-4 * expected.cost
    whole = Controller(case.problem).step(np.zeros(NV, int), np.zeros(NV, int))
    assert same(whole, Controller(case.problem).step(np.zeros(NV), np.zeros(NV)))


def test_results_can_be_pickled_and_shown() -> None:
    case = limited()
    q, qd = starts(case, 3)
    controller = Controller(case.problem)
    for found in (controller.step(case.q, case.qd), controller.step(q, qd)):
        again = pickle.loads(pickle.dumps(found))
        assert isinstance(again, Result) and same(found, again) and np.array_equal(again.reason, found.reason)
        assert "mpc.Result" in repr(found) and bool(found)
    assert repr(controller) == f"<mpc.Controller 'id' of {case.problem!r}, to convergence>"
    with pytest.raises(AttributeError):
        found.cost = 3.0  # type: ignore[misc]


def test_one_caller_at_a_time() -> None:
    """A second thread is told so, and nothing is mixed up."""
    case = limited()
    controller = Controller(case.problem)
    q, qd = starts(case, 64)
    controller.step(q, qd)
    refused: list[str] = []
    with controller._lock, pytest.raises(ArgumentError, match="in use by another thread"):
        controller.step(q, qd)

    def work() -> None:
        for k in range(3):
            try:
                controller.step(q + 0.01 * k, qd)
            except ArgumentError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("in use by another thread" in text for text in refused)
    assert controller.step(q, qd).success.all()


def test_a_moving_pose_is_followed() -> None:
    """A reference for every node, moved on with time: the tool keeps up."""
    robot, reference = reach().problem.robot, reach().oracle.reference
    case = smooth(bare(15, 0.02))
    case.problem.cost(Pose(TOOL), [2e3] * 3 + [200.0] * 3, name="tool").cost(Velocity(), 1e-3, name="slow")
    controller = Controller(case.problem, iterations=2)
    start = reference.forward_kinematics(case.q, TOOL)
    q, qd = case.q.copy(), np.zeros(NV)

    def pose(t: float) -> Array:
        out: Array = start.copy()
        out[:3, 3] += 0.1 * np.array([np.sin(t), 1.0 - np.cos(t), 0.0])
        return out

    for k in range(50):
        wanted = np.stack([pose(0.02 * (k + j)) for j in range(16)])
        found = controller.step(q, qd, reference={"tool": wanted})
        q, qd = found.q[1], found.qd[1]
    error = reference.forward_kinematics(q, TOOL)[:3, 3] - pose(1.0)[:3, 3]
    assert found.success and np.linalg.norm(error) < 0.01 and robot.nv == NV
