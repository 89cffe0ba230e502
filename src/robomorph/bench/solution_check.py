"""Independent forward kinematics: does a solution that somebody claims hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError

if TYPE_CHECKING:
    from robomorph.bench.session import Session
    from robomorph.ik import IKResult
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
_BASE = "root_joint"  # what both call a floating base


class PinocchioCheck:
    """Pinocchio's kinematics of one robot."""

    def __init__(self, robot: Robot, source: str) -> None:
        try:
            import pinocchio
        except ImportError as error:
            raise TargetError(
                f"the check of every solution needs Pinocchio: pip install pin ({error})"
            ) from error
        from robomorph.model.sources import urdf_text

        self._pin: Any = pinocchio
        self.robot = robot
        free = any(body.joint_name == _BASE and body.kind == "floating" for body in robot.model.bodies)
        root = [pinocchio.JointModelFreeFlyer()] if free else []
        self.model: Any = pinocchio.buildModelFromXML(urdf_text(source), *root)
        self.data: Any = self.model.createData()

    def poses(self, q: Array, frame: str) -> Array:
        """(n, 4, 4) of configurations (n, nq) in robomorph's order."""
        index = self.model.getFrameId(frame)
        out = np.empty((len(q), 4, 4))
        for k, row in enumerate(self._theirs(q)):
            self._pin.framesForwardKinematics(self.model, self.data, row)
            out[k] = self.data.oMf[index].homogeneous
        return out

    def _theirs(self, q: Array) -> Array:
        """(n, their nq): Pinocchio follows no mimic joint and keeps continuous ones as points of a circle."""
        out: Array = np.tile(self._pin.neutral(self.model), (len(q), 1))
        for body in self.robot.model.bodies:
            joint = self.model.joints[self.model.getJointId(body.joint_name)]
            place, _ = self.robot.coordinates(body.joint_name)
            own = q[:, place] if body.mimic is None else body.mimic[1] * q[:, place] + body.mimic[2]
            if joint.nq == 2:
                own = np.concatenate([np.cos(own), np.sin(own)], axis=1)
            out[:, joint.idx_q : joint.idx_q + joint.nq] = own
        return out

    def holds(self, q: Array, frame: str, targets: Array, tolerance: float) -> Array:
        """(n,) bool: finite, inside the limits, and at the target within the tolerance; targets are poses
        (n, 4, 4), or positions (n, 3) of the frame's origin."""
        finite: Array = np.asarray(np.isfinite(q).all(axis=-1))
        safe = np.where(finite[:, None], q, 0.0)
        limits = self.robot.limits
        inside = ((q >= limits.lower) & (q <= limits.upper)).all(axis=-1)
        poses = self.poses(safe, frame)
        places = targets if targets.ndim == 2 else targets[:, :3, 3]
        bound = tolerance * (1 + 1e-6)
        close = np.linalg.norm(poses[:, :3, 3] - places, axis=-1) <= bound
        if targets.ndim == 3:
            close &= angles(poses, targets) <= bound
        return np.asarray(finite & inside & close)

    def refused(self, session: Session, where: str, result: IKResult, good: Array) -> int:
        """How many claimed solutions this check refuses; a note says so."""
        count = int((result.success & ~good).sum())
        if count:
            session.note(f"{where}: {count} claimed solutions were refused by the check")
        return count


def angles(a: Array, b: Array) -> Array:
    """(n,) the angle between the rotations of poses (n, 4, 4)."""
    turn = np.swapaxes(a[:, :3, :3], -1, -2) @ b[:, :3, :3]
    axis = np.stack(
        [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], axis=-1
    )
    cosine = np.trace(turn, axis1=-2, axis2=-1) - 1.0
    return np.asarray(np.arctan2(np.linalg.norm(axis, axis=-1), cosine))
