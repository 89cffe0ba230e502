"""Independent measurement of a motion: does what a scenario asks for hold between the solver's points?

The scenario's file is read here once more, and everything is computed by Pinocchio and SciPy: no code of the
planner takes part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.planning.pinocchio_motion import AnyMotion, PinocchioRobot, SplineMotion
from robomorph.errors import ArgumentError
from robomorph.planning.scenario import Scenario

Array = npt.NDArray[np.float64]
RATE = 10_000.0  # samples a second
ALLOWED = 1e-6  # scaled: what is no more than rounding of solvers
_TASK_SCALE = 0.01  # m or rad


@dataclass(frozen=True)
class Excess:
    """The worst of one constraint: by how much it is broken (negative: what is left), in its unit and scaled,
    when (s), and which of its values. Scaled: of its limit for speeds and torques, rad or m for positions of
    joints, hundredths of them for tasks."""

    name: str
    row: str
    amount: float
    scaled: float
    time: float


class MotionCheck:
    """Measures motions of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.robot = PinocchioRobot(scenario.robot)
        self._tables = scenario.tables
        self._start = self._posture(self._tables["motion"].get("start"))

    def worst(self, control: Array, seconds: float, rate: float = RATE) -> list[Excess]:
        """Every constraint of the scenario at so many samples a second, the worst of them first."""
        return self.worst_of(SplineMotion(control, seconds), rate)

    def worst_of(self, motion: AnyMotion, rate: float = RATE) -> list[Excess]:
        """The same of any motion."""
        t = _samples(motion, rate)
        t = np.unique(np.concatenate([t, *(self._window(table, motion.seconds) for table in self._keeps())]))
        found = [*self._limits(motion, t), *self._tasks(motion, t)]
        return sorted(found, key=lambda excess: -excess.scaled)

    def torque_excess(self, motion: AnyMotion, rate: float = RATE) -> Excess:
        """The worst of the torque limits alone."""
        return self._torque_limit(motion, _samples(motion, rate), self._tables["limits"]["torque"])

    def _keeps(self) -> list[Mapping[str, Any]]:
        return list(self._tables.get("keep", ()))

    def _posture(self, given: Any) -> Array | None:
        return None if given is None else np.asarray(self.scenario.robot.posture("start", given), np.float64)

    def _window(self, table: Mapping[str, Any], seconds: float) -> tuple[float, float]:
        during = table.get("during")
        if during is None:
            return 0.0, seconds
        begin, end = (during, during) if np.ndim(during) == 0 else during
        share = seconds if np.ndim(self._tables["motion"]["seconds"]) else 1.0
        return float(begin) * share, float(end) * share

    # --- limits of joints ----------------------------------------------------------------------------

    def _limits(self, motion: AnyMotion, t: Array) -> list[Excess]:
        asked, own, out = self._tables.get("limits", {}), self.robot.limits, []
        if asked.get("position"):
            low, high = (own["lower"], own["upper"]) if asked["position"] is True else asked["position"]
            out.append(_excess("position limits", t, motion(t), low, high, 1.0, self.robot.joints))
        for order, name in enumerate(("velocity", "acceleration", "jerk"), 1):
            if asked.get(name):
                most = _magnitudes(asked[name], own.get(name))
                out.append(
                    _excess(f"{name} limits", t, motion(t, order), -most, most, most, self.robot.joints)
                )
        if asked.get("torque"):
            out.append(self._torque_limit(motion, t, asked["torque"]))
        return out

    def _torque_limit(self, motion: AnyMotion, t: Array, asked: Any) -> Excess:
        most = _magnitudes(asked, self.robot.limits["effort"])
        tau = self.robot.torques(motion(t), motion(t, 1), motion(t, 2))
        return _excess("torque limits", t, tau, -most, most, most, self.robot.joints)

    # --- tasks ---------------------------------------------------------------------------------------

    def _tasks(self, motion: AnyMotion, t: Array) -> list[Excess]:
        tables = self._keeps()
        if not tables:
            return []
        names = {self._frame(table) for table in tables if "frame" in table or "sole" in table}
        points = motion(t) if self._start is None else np.concatenate([motion(t), self._start[None]])
        poses, centre = self.robot.kinematics(points, sorted(names))
        return [self._task(table, motion, t, poses, centre) for table in tables]

    def _frame(self, table: Mapping[str, Any]) -> str:
        if "sole" in table:
            sole = self.scenario.robot.soles[table["sole"]]
            return str(sole.get("frame", self.scenario.robot.frame(table["sole"])))
        return self.scenario.robot.frame(table["frame"])

    def _task(
        self,
        table: Mapping[str, Any],
        motion: AnyMotion,
        t: Array,
        poses: Mapping[str, Array],
        centre: Array,
    ) -> Excess:
        """The last row of poses and centres is the start's."""
        begin, end = self._window(table, motion.seconds)
        inside = np.flatnonzero((t >= begin) & (t <= end))
        name, rate = (
            f"{table['task']} {table.get('frame', table.get('sole', ''))}".strip(),
            table.get("rate", 0),
        )
        lower, upper = table.get("lower"), table.get("upper")
        if "sole" in table:
            place = poses[self._frame(table)][-1, :2, 3]
            edges = self.scenario.robot.soles[table["sole"]]
            lower = [edges["x"][0] + place[0], edges["y"][0] + place[1], -np.inf]
            upper = [edges["x"][1] + place[0], edges["y"][1] + place[1], np.inf]
        if rate:
            values = self._rates(table, motion, t[inside], rate)
            bounds = [
                abs(b) for b in np.ravel([x for x in (lower, upper) if x is not None]) if np.isfinite(b)
            ]
            scale = max(_TASK_SCALE, min(1.0, *bounds, 1.0))
        else:
            values, scale = _VALUES[table["task"]](self, table, inside, poses, centre), _TASK_SCALE
        return _excess(name, t[inside], values, lower, upper, scale, "xyzuvw")

    def _rates(self, table: Mapping[str, Any], motion: AnyMotion, t: Array, rate: int) -> Array:
        if table["task"] != "position" or rate != 1:
            raise ArgumentError(
                f"the check of motions knows speeds of positions, found rate {rate} of {table}"
            )
        return self.robot.speeds(motion(t), motion(t, 1), self._frame(table))

    def up(self) -> Array:
        size = float(np.linalg.norm(self.robot.gravity))
        return np.asarray(-self.robot.gravity / size)


def _samples(motion: AnyMotion, rate: float) -> Array:
    return np.linspace(0.0, motion.seconds, max(2, round(motion.seconds * rate) + 1))


def _magnitudes(asked: Any, own: Array | None) -> Array:
    if asked is True or (np.ndim(asked) == 0 and own is not None):
        assert own is not None
        return np.asarray(own * float(asked))
    return np.asarray(asked, np.float64)


def _excess(name: str, t: Array, values: Array, low: Any, high: Any, scale: Any, rows: Any) -> Excess:
    """values (n, k) against bounds (k,); None for none."""
    bounds = ((1.0, high), (-1.0, low))
    over = [side * (values - np.asarray(bound, np.float64)) for side, bound in bounds if bound is not None]
    worst = np.max(over, axis=0)
    scaled = worst / np.broadcast_to(scale, worst.shape[1:])
    i, k = np.unravel_index(int(np.argmax(scaled)), scaled.shape)
    return Excess(name, str(rows[k]), float(worst[i, k]), float(scaled[i, k]), float(t[i]))


# --- values of tasks, from where they are measured -----------------------------------------------------

Values = Mapping[str, Array]


def _position(check: MotionCheck, table: Any, inside: Any, poses: Values, centre: Array) -> Array:
    places = poses[check._frame(table)][:, :3, 3]
    return np.asarray(places[inside] - _reference(table, places[-1]))


def _centre(check: MotionCheck, table: Any, inside: Any, poses: Values, centre: Array) -> Array:
    return np.asarray(centre[inside] - _reference(table, centre[-1]))


def _orientation(check: MotionCheck, table: Any, inside: Any, poses: Values, centre: Array) -> Array:
    """Rotation vectors in the reference's own axes."""
    from scipy.spatial.transform import Rotation

    turns = poses[check._frame(table)][:, :3, :3]
    if table.get("reference") != "start":
        raise ArgumentError("the check of motions knows orientations from the start, found others")
    return np.asarray(Rotation.from_matrix(turns[-1].T @ turns[inside]).as_rotvec())


def _pose(check: MotionCheck, table: Any, inside: Any, poses: Values, centre: Array) -> Array:
    parts = (_position, _orientation)
    return np.concatenate([part(check, table, inside, poses, centre) for part in parts], axis=1)


def _tilted(check: MotionCheck, table: Any, poses: Values) -> tuple[Array, Array]:
    """The axis in the world (n, 3) and where it should point."""
    turns = poses[check._frame(table)][:, :3, :3]
    own = turns[-1].T @ check.up() if table["axis"] == "up" else np.asarray(table["axis"], np.float64)
    wanted = np.asarray(table["reference"], np.float64)
    return turns @ (own / np.linalg.norm(own)), wanted / np.linalg.norm(wanted)


def _angle(check: MotionCheck, table: Any, inside: Any, poses: Values, centre: Array) -> Array:
    axis, wanted = _tilted(check, table, poses)
    sine, cosine = np.linalg.norm(np.cross(wanted, axis[inside]), axis=1), axis[inside] @ wanted
    return np.asarray(np.arctan2(sine, cosine)[:, None])


def _tilt(check: MotionCheck, table: Any, inside: Any, poses: Values, centre: Array) -> Array:
    """The two angles about the other axes of the world: known where the direction is one of them."""
    axis, wanted = _tilted(check, table, poses)
    others = np.flatnonzero(wanted == 0.0)
    if len(others) != 2:
        raise ArgumentError("the check of motions knows tilts from an axis of the world, found others")
    cross = np.cross(wanted, axis[inside])
    sine = np.linalg.norm(cross, axis=1)
    angle = np.arctan2(sine, axis[inside] @ wanted)
    return np.asarray(cross[:, others] * (angle / np.where(sine > 0.0, sine, 1.0))[:, None])


def _reference(table: Mapping[str, Any], start: Array) -> Array:
    given = table.get("reference")
    return start if given == "start" else np.zeros(3) if given is None else np.asarray(given, np.float64)


_VALUES: dict[str, Any] = {
    "position": _position,
    "center of mass": _centre,
    "orientation": _orientation,
    "pose": _pose,
    "axis": _angle,
    "tilt": _tilt,
}
