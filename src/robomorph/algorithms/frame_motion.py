"""Velocity and acceleration of one frame, from the frame to the root.

What is carried is the motion of the frame as seen from a link, in that link's axes; each joint on the way
adds its own. Nothing off the path is touched, and where the robot stands in the world does not enter.
"""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.algorithms.algorithm import SIX, Algorithm
from robomorph.algorithms.inverse_dynamics import joint_motion
from robomorph.algorithms.sweep import WORLD, Site, Stage, State
from robomorph.algorithms.textbook import Array, Textbook, times
from robomorph.spatial import ZERO3, Motion, Transform, Vec3, add3, cross3


@dataclass(frozen=True, slots=True)
class RelativeMotion:
    """Position, and the first and second derivatives of position and orientation, seen from a link."""

    position: Vec3 = ZERO3
    velocity: Vec3 = ZERO3
    spin: Vec3 = ZERO3
    acceleration: Vec3 = ZERO3
    angular_acceleration: Vec3 = ZERO3

    def back(self, x: Transform) -> RelativeMotion:
        """Given as seen from a child at rest in its parent, as seen from the parent."""
        return RelativeMotion(
            x.point_back(self.position),
            x.moment_back(self.velocity),
            x.moment_back(self.spin),
            x.moment_back(self.acceleration),
            x.moment_back(self.angular_acceleration),
        )

    def carried(self, rate: Motion, change: Motion) -> RelativeMotion:
        """As seen by one who sees the link move with velocity `rate`, which changes by `change`; both in
        the link's frame."""
        w, u = rate.ang, rate.lin
        velocity = add3(self.velocity, add3(u, cross3(w, self.position)))
        # w x (u + w x p) + 2 w x v: what turns with the link, and Coriolis.
        turning = add3(cross3(w, velocity), cross3(w, self.velocity))
        pushed = add3(change.lin, cross3(change.ang, self.position))
        return RelativeMotion(
            self.position,
            velocity,
            add3(self.spin, w),
            add3(add3(self.acceleration, turning), pushed),
            add3(self.angular_acceleration, add3(change.ang, cross3(w, self.spin))),
        )


def frame_motion(state: State, *, accelerate: bool) -> RelativeMotion:
    """The frame's motion in the world; `accelerate`: with the joints' own accelerations."""
    tree = state.tree
    link, placement = tree.frames[state.whole["frame"]]
    motion = RelativeMotion().back(placement)
    for i in reversed(tree.support[link]) if link != WORLD else ():
        site = Site(state, tree.links[i])
        change = joint_motion(site, site["qdd"]) if accelerate else Motion()
        motion = motion.carried(joint_motion(site, site["qd"]), change).back(site["X"])
    return motion


def _velocity(state: State) -> None:
    motion = frame_motion(state, accelerate=False)
    state.whole["velocity"] = [*motion.velocity, *motion.spin]


def _acceleration(state: State) -> None:
    motion = frame_motion(state, accelerate=True)
    state.whole["acceleration"] = [*motion.acceleration, *motion.angular_acceleration]


def _jacobian_rate(state: State) -> None:
    """d/dt(J qd) = J qdd + dJ/dt qd: the acceleration without qdd."""
    motion = frame_motion(state, accelerate=False)
    state.whole["jacobian_rate"] = [*motion.acceleration, *motion.angular_acceleration]


def _textbook_rate(known: Textbook) -> Array:
    return times(known.jacobian_rate(known.frame), known.qd)


FRAME_VELOCITY = Algorithm(
    "frame_velocity",
    inputs=("q", "qd"),
    outputs={"velocity": SIX},
    formulations={"inward": (Stage("frame velocity", _velocity),)},
    frame=True,
    masses=False,
    title="The velocity of {frame}.",
    notes={"velocity": "linear (m/s), then angular (rad/s), in the world's axes, at the frame's origin"},
    doc="""Velocity (..., 6) of a link or tool frame: of its origin (m/s), then angular (rad/s), both in the
        world's axes. It is `jacobian` times qd.""",
    textbook=lambda known: {"velocity": times(known.jacobian(known.frame), known.qd)},
)
FRAME_ACCELERATION = Algorithm(
    "frame_acceleration",
    inputs=("q", "qd", "qdd"),
    outputs={"acceleration": SIX},
    formulations={"inward": (Stage("frame acceleration", _acceleration),)},
    frame=True,
    masses=False,
    title="The acceleration of {frame}, without gravity.",
    notes={"acceleration": "linear (m/s^2), then angular (rad/s^2): the rate of the frame's velocity"},
    doc="""Acceleration (..., 6) of a link or tool frame: the time derivative of `frame_velocity`, of the
        origin (m/s^2), then angular (rad/s^2), in the world's axes. Gravity is no part of it.""",
    textbook=lambda known: {
        "acceleration": times(known.jacobian(known.frame), known.qdd) + _textbook_rate(known)
    },
)
JACOBIAN_RATE = Algorithm(
    "jacobian_rate",
    inputs=("q", "qd"),
    outputs={"jacobian_rate": SIX},
    formulations={"inward": (Stage("jacobian rate", _jacobian_rate),)},
    frame=True,
    masses=False,
    title="The acceleration of {frame} at qdd = 0: dJ/dt qd.",
    notes={
        "jacobian_rate": "linear (m/s^2), then angular (rad/s^2), in the world's axes, at the frame's origin"
    },
    doc="dJ/dt qd (..., 6) of `jacobian`: the frame's acceleration where qdd is zero.",
    textbook=lambda known: {"jacobian_rate": _textbook_rate(known)},
)
