"""`mpc.simulate`: a controller and a plant in a closed loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.disturbances import Delay, Late, Noise, Push
from robomorph.mpc.loop import Loop
from robomorph.mpc.loop_arguments import check_callables, check_disturbances, check_loop
from robomorph.mpc.observer import SECOND, Observer
from robomorph.mpc.plants import Plant, RobotPlant
from robomorph.mpc.recording import Judge, ProgressLine, Record
from robomorph.mpc.simulation import Simulation
from robomorph.mpc.stepping import Stepped
from robomorph.mpc.timeline import Timeline
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
Viewer = Callable[[float, Array], Any]

_RUNAWAY = 20.0  # times a joint's speed limit: the loop has diverged
_FASTEST = 1e3  # rad/s or m/s, where there is no limit
_MOST_TICKS = 10_000_000


def simulate(
    controller: Stepped,
    plant: Plant | None = None,
    *,
    seconds: float,
    rate: float | None = None,
    start: npt.ArrayLike | None = None,
    start_speed: npt.ArrayLike | None = None,
    reference: Any = None,
    error: Callable[[float, Array], npt.ArrayLike] | None = None,
    pushes: Sequence[Push] = (),
    noise: Noise | None = None,
    delay: Delay | None = None,
    late: Late | None = None,
    observer: Observer | bool = True,
    deadline: float | None = None,
    tolerance: float = 1e-3,
    progress: bool = False,
    viewer: Viewer | None = None,
) -> Simulation:
    """Let a controller move a plant for some time.

    plant: None for the controller's own robot, a `RobotPlant`. rate: ticks a second, which must be the
    controller's own (None). start, start_speed: (nq,) and (nv,), None for the middle of the limits, at rest.
    reference: what every step is told, or a function of the time (s) at which its plan begins. error: a
    function of time and q (nq,) whose entries are the tracking error; None: rows of the problem's tasks, of
    postures if there are no others. pushes, noise, delay, late: what goes wrong (`disturbances`). observer:
    True for one that knows the delay, False for none, or your own. deadline: s, of every step. tolerance: of
    the error, for `settled`. viewer: called with time and q at every tick; False from it ends the loop.

    Before the first torque arrives, the robot is held by what would hold the controller's model there.
    """
    check_loop(controller, seconds=seconds, rate=rate, tolerance=tolerance)
    check_disturbances(pushes, noise, delay, late)
    check_callables(error=error, viewer=viewer)
    delay = delay or Delay()
    ticks = _ticks(controller, seconds, rate)
    plant = _plant(controller.problem.robot, plant)
    q, qd = _begin(controller.problem.robot, plant, start, start_speed, pushes)
    watcher = _observer(controller.problem.robot, observer, controller.period, delay, q, qd)
    judge = Judge(controller.problem, reference, error, delay.actuation, q)
    record = Record(controller.problem.robot, ticks, judge, watcher)
    period, held = round(controller.period * SECOND), controller.problem.robot.bias_torque(q, qd)
    timeline = Timeline(plant, period, held, pushes=pushes, noise=noise, delay=delay)
    controller.reset()
    loop = Loop(controller, timeline, watcher, period=period, held=held, late=late, ticks=ticks)
    with ProgressLine(progress, seconds) as line:
        count, trouble = _run(loop, record, judge, line, deadline, viewer)
    return record.finished(count, controller.period, trouble, pushes, tolerance)


def _run(
    loop: Loop,
    record: Record,
    judge: Judge,
    line: ProgressLine,
    deadline: float | None,
    viewer: Viewer | None,
) -> tuple[int, str | None]:
    """How many ticks there were, and what ended them early, if something did."""
    plant, fastest = loop.plant, _fastest(loop.plant.robot)
    for k in range(loop.ticks):
        q, qd, now = plant.q, plant.qd, k * loop.period / SECOND
        record.state(k, now, q, qd)
        trouble = _trouble(plant.robot, fastest, q, qd, now)
        if trouble is not None or (viewer is not None and viewer(now, q) is False):
            return k + 1, trouble
        line.show(now, record.size(k))
        record.tick(k, loop.tick(k, judge.told, deadline))
    return loop.ticks, None


def middle(robot: Robot) -> Array:
    """(nq,) the middle of the limits; zero, brought within the limits, where a joint has not got both."""
    lower, upper = robot.limits.lower, robot.limits.upper
    both = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        return np.where(both, 0.5 * (lower + upper), np.clip(robot.neutral, lower, upper))


def _plant(robot: Robot, plant: Plant | None) -> Plant:
    if plant is None:
        return RobotPlant(robot)
    if not isinstance(plant, Plant):
        raise ArgumentError(f"plant: expected RobotPlant(robot), MujocoPlant(robot) or None, found {plant!r}")
    if plant.robot.velocity_names != robot.velocity_names:
        raise ArgumentError(
            f"plant: expected the joints of the controller's robot {robot.name!r}, "
            f"found those of {plant.robot.name!r}: {', '.join(plant.robot.velocity_names)}"
        )
    return plant


def _ticks(controller: Stepped, seconds: float, rate: float | None) -> int:
    period = controller.period
    if rate is not None and not (rate > 0.0 and math.isclose(rate * period, 1.0, rel_tol=1e-6)):
        mend = f": make the controller with period={1.0 / rate:g}" if rate > 0.0 else ""
        raise ArgumentError(f"rate: expected the controller's own, {1.0 / period:g} Hz, found {rate!r}{mend}")
    if not 1.0 <= seconds / period * (1.0 + 1e-9) <= _MOST_TICKS:
        raise ArgumentError(
            f"seconds: expected 1 to {_MOST_TICKS} ticks of {period:g} s, found {seconds!r} seconds"
        )
    return round(seconds / period)


def _begin(
    robot: Robot, plant: Plant, start: Any, start_speed: Any, pushes: Sequence[Push]
) -> tuple[Array, Array]:
    for push in pushes:  # an unknown frame is told now, not when it is pushed
        if push.frame is not None:
            plant.robot.model.frame_index(push.frame)
    plant.reset(
        middle(robot) if start is None else start, np.zeros(robot.nv) if start_speed is None else start_speed
    )
    return plant.q, plant.qd


def _observer(
    robot: Robot, given: Observer | bool, period: float, delay: Delay, q: Array, qd: Array
) -> Observer | None:
    """The observer, which begins with the plant."""
    if given is False:
        return None
    if given is True:
        given = Observer(robot, period, delay=delay)
    if not isinstance(given, Observer):
        raise ArgumentError(f"observer: expected True, False or an Observer, found {given!r}")
    if given.period != round(period * SECOND):
        raise ArgumentError(
            f"observer: expected the controller's period {period:g} s, found {given.period / SECOND:g} s"
        )
    given.reset(q, qd)
    return given


def _fastest(robot: Robot) -> Array:
    """(nv,) speeds beyond which a loop has diverged."""
    limit = robot.limits.velocity
    return np.where(np.isfinite(limit) & (limit > 0.0), _RUNAWAY * limit, _FASTEST)


def _trouble(robot: Robot, fastest: Array, q: Array, qd: Array, now: float) -> str | None:
    """Why the loop is to end here: it has diverged."""
    if not (np.isfinite(q).all() and np.isfinite(qd).all()):
        return f"diverged: the state is not finite at {now:.4g} s"
    beyond = np.abs(qd) - fastest
    worst = int(np.argmax(beyond))
    if beyond[worst] <= 0.0:
        return None
    name = robot.velocity_names[worst]
    return f"diverged: joint {name!r} moves with {qd[worst]:.3g} rad/s or m/s at {now:.4g} s"
