"""Drake's KinematicTrajectoryOptimization: B-splines, velocities held at all times, efforts at samples."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.peers.peer import Peer, PeerError, module

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ArmMotion:
    """From rest at `start` to rest at `end` (nv,) as fast as can be.

    seconds: shortest and longest duration; intervals: of a cubic spline; limits (nv,): lower, upper, and
    velocity if that is held. load: mass (kg) and its place (m) in the frame of `link`.
    """

    urdf: str
    root: str
    joints: tuple[str, ...]
    start: Array
    end: Array
    seconds: tuple[float, float]
    intervals: int
    limits: dict[str, Array]
    torque: Array
    link: str
    load: tuple[float, tuple[float, float, float]]


class DrakeMotion:
    """What it found, in the order of `joints`."""

    def __init__(self, trajectory: Any, order: list[int]) -> None:
        self._trajectory, self._order = trajectory, order
        self.seconds = float(trajectory.end_time() - trajectory.start_time())

    def __call__(self, t: Array, order: int = 0) -> Array:
        own = self._trajectory if order == 0 else self._trajectory.MakeDerivative(order)
        return np.asarray(own.vector_values(np.clip(t, 0.0, self.seconds)).T[:, self._order])


class DrakeTrajectory(Peer):
    name = "drake"
    package = "drake"
    modules = ("pydrake.planning",)

    def __init__(self, motion: ArmMotion) -> None:
        logging.getLogger("drake").setLevel(logging.ERROR)
        self.motion = motion
        self.plant: Any = self._plant()
        starts = [self.plant.GetJointByName(name).position_start() for name in motion.joints]
        self.order = list(starts)

    def _plant(self) -> Any:
        tree, motion = module("pydrake.multibody.tree"), self.motion
        plant = module("pydrake.multibody.plant").MultibodyPlant(0.0)
        (instance,) = (
            module("pydrake.multibody.parsing").Parser(plant).AddModelsFromString(motion.urdf, "urdf")
        )
        if motion.root != "world":
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(motion.root))
        mass, place = motion.load
        if mass > 0.0:
            x, y, z = place
            unit = tree.UnitInertia(y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
            body = plant.AddRigidBody("load", instance, tree.SpatialInertia(mass, np.array(place), unit))
            plant.WeldFrames(plant.GetFrameByName(motion.link), body.body_frame())
        for name in motion.joints:
            if not any(a.joint().name() == name for a in _actuators(plant)):
                plant.AddJointActuator(f"{name}_actuator", plant.GetJointByName(name))
        plant.Finalize()
        if plant.num_positions() != len(motion.joints):
            raise PeerError(f"drake: {plant.num_positions()} joints instead of {len(motion.joints)}")
        return plant

    def _theirs(self, values: Array) -> Array:
        """In the order of the plant's positions."""
        out = np.empty(len(values))
        out[self.order] = values
        return out

    def solve(self, points: int) -> tuple[DrakeMotion, float, bool]:
        """Efforts at so many points of every interval. The motion, seconds it took, and whether it claims
        success."""
        motion, count = self.motion, len(self.motion.joints)
        begin = time.perf_counter()
        program = module("pydrake.planning").KinematicTrajectoryOptimization(
            count, motion.intervals + 3, 4, float(np.sqrt(np.prod(motion.seconds)))
        )
        self._ask(program, points)
        result = module("pydrake.solvers").Solve(program.prog())
        spent = time.perf_counter() - begin
        return (
            DrakeMotion(program.ReconstructTrajectory(result), self.order),
            spent,
            bool(result.is_success()),
        )

    def _ask(self, program: Any, points: int) -> None:
        motion, limits = self.motion, {name: self._theirs(x) for name, x in self.motion.limits.items()}
        rest = np.zeros(len(motion.joints))
        program.AddDurationConstraint(*motion.seconds)
        program.AddDurationCost(1.0)
        program.AddPositionBounds(limits["lower"], limits["upper"])
        if "velocity" in limits:
            program.AddVelocityBounds(-limits["velocity"], limits["velocity"])
        for s, q in ((0.0, self._theirs(motion.start)), (1.0, self._theirs(motion.end))):
            program.AddPathPositionConstraint(q, q, s)
            program.AddPathVelocityConstraint(rest, rest, s)
            program.AddPathAccelerationConstraint(rest, rest, s)
        most = np.zeros(len(motion.joints))
        for actuator in _actuators(self.plant):
            place = motion.joints.index(actuator.joint().name())
            most[int(actuator.index())] = motion.torque[place]
        spots = np.linspace(0.0, 1.0, motion.intervals * points + 1)
        program.AddEffortBoundsAtNormalizedTimes(self.plant, spots, -most, most)
        self._guess(program)

    def _guess(self, program: Any) -> None:
        """The straight line, as ours begins."""
        motion = self.motion
        share = np.clip((np.arange(motion.intervals + 3) - 1.0) / motion.intervals, 0.0, 1.0)
        lines = self._theirs(motion.start)[:, None] * (1 - share) + self._theirs(motion.end)[:, None] * share
        basis = program.basis()
        path = module("pydrake.trajectories").BsplineTrajectory(basis, lines)
        program.SetInitialGuess(path)


def _actuators(plant: Any) -> list[Any]:
    indices = plant.GetJointActuatorIndices()
    return [plant.get_joint_actuator(index) for index in indices]
