"""Which horizon fits which rate: plans of a fixed number of iterations, timed over horizons."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robomorph.accelerators.coprocessor import HostLink
from robomorph.errors import ArgumentError
from robomorph.mpc.controller import Controller
from robomorph.mpc.studies.chip_rates import PAPERS_CLOCK, ChipTrips, chip_points, chip_trips
from robomorph.mpc.studies.horizons import MEASURED, RatePoint, papers_points
from robomorph.mpc.studies.reaches import random_reach, reach_problem
from robomorph.robot import Robot

HORIZONS = (10, 16, 25, 32, 50, 64, 80, 100, 128, 200, 300, 400, 600, 800)
_ROUNDS = 15
_BUDGET_S = 1.0  # that one horizon may take


@dataclass(frozen=True)
class Timed:
    """One iteration of one horizon on this machine (s): medians, and the part of it that kernels take."""

    horizon: int
    seconds: float
    best: float
    kernel: float


@dataclass(frozen=True)
class RateStudy:
    """Points of all curves, and the simulated round trips behind the estimates among them."""

    iterations: int
    points: tuple[RatePoint, ...]
    trips: tuple[ChipTrips, ...]


def time_iterations(
    robot: Robot, horizons: Sequence[int], *, limits: bool = False, method: str = "id", iterations: int = 10
) -> list[Timed]:
    """Times of iterations of reaches, one thread. Every step goes to another goal, so that no plan converges
    before its iterations are done; where one does, its time counts for the iterations that it had."""
    if not horizons or min(horizons) < 1:
        raise ArgumentError(f"horizons: expected steps, at least 1 each, found {list(horizons)}")
    return [_time_horizon(robot, horizon, limits, method, iterations) for horizon in horizons]


def _time_horizon(robot: Robot, horizon: int, limits: bool, method: str, iterations: int) -> Timed:
    controller = Controller(
        reach_problem(robot, horizon, limits=limits), iterations=iterations, period=1e-3, method=method
    )
    rng = np.random.default_rng(7)
    reaches = [random_reach(robot, rng) for _ in range(4)]
    start, rest = reaches[0].start, np.zeros(robot.nv)
    result = controller.step(start, rest, reference=reaches[0].reference)  # the first one goes on to the end
    samples, kernels, begun = [], [], time.perf_counter()
    with _no_collection():
        for k in range(1, _ROUNDS + 1):
            before = time.perf_counter()
            reference = reaches[k % len(reaches)].reference
            result = controller.step(start, rest, reference=reference, elapsed=0.0, out=result)
            each = (time.perf_counter() - before) / max(1, int(result.iterations))
            samples.append(each)
            kernels.append(float(result.times["kernel"]) / max(1, int(result.iterations)))
            if time.perf_counter() - begun > _BUDGET_S and k >= 3:
                break
    return Timed(horizon, statistics.median(samples), min(samples), statistics.median(kernels))


class _no_collection:
    """Python's collector of garbage rests meanwhile."""

    def __enter__(self) -> None:
        self._was = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was:
            gc.enable()


def rate_study(
    robots: Sequence[Robot],
    *,
    horizons: Sequence[int] = HORIZONS,
    iterations: int = 10,
    link: HostLink | None = None,
    clock: float | None = None,
    pipelines: Sequence[int] = (1,),
    tell: Callable[[str], None] = lambda _: None,
) -> RateStudy:
    """Curves for every robot: this CPU without and with limits, and with a link the estimate for a chip; for
    iiwa14 the papers' model too."""
    points: list[RatePoint] = []
    trips: list[ChipTrips] = []
    for robot in robots:
        for limits, who in ((False, "this CPU"), (True, "this CPU, limits")):
            tell(f"{robot.name}: {who}")
            timed = time_iterations(robot, horizons, limits=limits, iterations=iterations)
            points += [_point(robot, who, one, iterations) for one in timed]
        if link is not None:
            for trip in _trips(robot, link, clock, pipelines, tell):
                trips.append(trip)
                points += _chip_points(robot, trip, iterations)
        if robot.name == "iiwa14":
            points += papers_points(horizons, iterations)
    return RateStudy(iterations, tuple(points), tuple(trips))


def _point(robot: Robot, who: str, timed: Timed, iterations: int) -> RatePoint:
    return RatePoint(robot.name, who, timed.horizon, timed.seconds * iterations, iterations, MEASURED)


def _trips(
    robot: Robot,
    link: HostLink,
    clock: float | None,
    pipelines: Sequence[int],
    tell: Callable[[str], None],
) -> Iterator[ChipTrips]:
    for count in pipelines:
        tell(f"{robot.name}: simulating a chip with {count} pipeline{'s' if count > 1 else ''}")
        yield chip_trips(robot, link, PAPERS_CLOCK if clock is None else clock, count)


def _chip_points(robot: Robot, trips: ChipTrips, iterations: int) -> list[RatePoint]:
    """The host's part of an iteration: all of the forward-dynamics form but its gradient, of which the
    accelerations and M^-1 stay on the host."""
    steps = [trip.states for trip in trips.trips]
    timed = time_iterations(robot, steps, method="ddp", iterations=iterations)
    kept = {n: _host_kernels(robot, n) for n in steps}
    host = {one.horizon: one.seconds - one.kernel + kept[one.horizon] for one in timed}
    return chip_points(trips, host, iterations)


def _host_kernels(robot: Robot, steps: int) -> float:
    """What qdd and M^-1 of so many steps take (s): the least of several calls."""
    kernel = robot.compile("forward_dynamics_gradient", outputs=("qdd", "minv"), threads=1)
    state = robot.random_state(rng=1, batch=steps)
    arguments = (state.q, state.qd, np.zeros((steps, robot.nv)))
    result = kernel(*arguments)
    least = float("inf")
    for _ in range(30):
        before = time.perf_counter()
        kernel(*arguments, out=result)
        least = min(least, time.perf_counter() - before)
    return least
