"""Mechanics as in a textbook: positions as functions of time, differentiated; forces by Newton and Euler;
torques by the power that they have along each joint.

Every quantity is a power series in time, so a velocity is a derivative and needs no formula of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from robomorph.checker.balls import (
    Ball,
    Matrix,
    Vector,
    add,
    ball,
    cosine_sine,
    cross,
    dot,
    identity,
    minus,
    mul,
    neg,
    plus,
    product,
    rate,
    scaled,
    times,
    total,
    transposed,
    turned,
)
from robomorph.checker.document import Refused
from robomorph.checker.robot import Robot, Step
from robomorph.checker.urdf import Mass, angle_parts


@dataclass(frozen=True)
class Frame:
    """Axes (columns) and origin in the world."""

    rotation: Matrix
    origin: Vector

    def point(self, place: Vector) -> Vector:
        return plus(self.origin, times(self.rotation, place))


@dataclass(frozen=True)
class Hinge:
    """A joint in the world: its axis and a point on it; sign: of the motion of what is beyond it."""

    step: Step
    axis: Vector
    point: Vector
    sign: int


class State:
    """The robot whose coordinates are `q`: numbers, or series in time."""

    def __init__(self, robot: Robot, q: Sequence[Ball], gravity: Vector) -> None:
        self.robot, self.q, self.gravity = robot, q, gravity
        self.links: dict[str, Frame] = {robot.root: Frame(identity(), [0, 0, 0])}
        self.hinges: list[Hinge] = []
        for step in robot.steps:
            self._go(step)

    def _go(self, step: Step) -> None:
        at, joint = self.links[step.near], step.joint
        if step.forward:
            moved = Frame(product(at.rotation, joint.placement.rotation), at.point(joint.placement.origin))
            self._note(step, moved)
            self.links[step.far] = self._moved(step, moved)
        else:
            self._note(step, at)
            back = self._moved(step, at)
            rotation = product(back.rotation, transposed(joint.placement.rotation))
            origin = minus(back.origin, times(rotation, joint.placement.origin))
            self.links[step.far] = Frame(rotation, origin)

    def _note(self, step: Step, at: Frame) -> None:
        if step.source is not None:
            axis = times(at.rotation, step.joint.axis)
            self.hinges.append(Hinge(step, axis, at.origin, 1 if step.forward else -1))

    def _moved(self, step: Step, at: Frame) -> Frame:
        """Across the joint; against the file's direction by the inverse motion."""
        joint = step.joint
        if joint.kind == "fixed":
            return at
        value: Ball = ball(step.offset)
        if step.source is not None:
            value = add(mul(step.multiplier, self.q[step.source]), value)
        if joint.kind == "prismatic":
            way = times(at.rotation, scaled(value, joint.axis))
            return Frame(at.rotation, plus(at.origin, way) if step.forward else minus(at.origin, way))
        if step.source is None:
            cosine, sine = angle_parts(step.offset, self.robot.snap)
        else:
            cosine, sine = cosine_sine(value)
        turn = turned(joint.axis, cosine, sine if step.forward else neg(sine))
        return Frame(product(at.rotation, turn), at.origin)

    def frame(self, name: str) -> Frame:
        if name not in self.robot.frames:
            raise Refused(f"constraints: the robot has no frame called {name!r}")
        link, placement = self.robot.frames[name]
        at = self.links[link]
        if placement is None:
            return at
        return Frame(product(at.rotation, placement.rotation), at.point(placement.origin))

    @cached_property
    def center_of_mass(self) -> Vector:
        counted = self.robot.counted
        mass = total([one.mass for one in counted])
        if isinstance(mass, int) and mass == 0:
            raise Refused("constraints: a robot without mass has no centre of mass")
        moment: Vector = [0, 0, 0]
        for one in counted:
            moment = plus(moment, scaled(one.mass, self.links[one.link].point(one.center)))
        return [x / mass if not isinstance(x, int) else x for x in moment]

    @cached_property
    def torques(self) -> Vector:
        """For every coordinate, the torque (force) that its joints exert."""
        push: dict[str, Vector] = {}
        twist: dict[str, Vector] = {}  # about the world's origin
        for mass in self.robot.moved:
            force, moment = self._needed(mass)
            push[mass.link] = plus(push.get(mass.link, [0, 0, 0]), force)
            twist[mass.link] = plus(twist.get(mass.link, [0, 0, 0]), moment)
        out: Vector = [0] * len(self.robot.joints)
        hinges = {id(hinge.step): hinge for hinge in self.hinges}
        for step in reversed(self.robot.steps):
            force, moment = push.get(step.far, [0, 0, 0]), twist.get(step.far, [0, 0, 0])
            push[step.near] = plus(push.get(step.near, [0, 0, 0]), force)
            twist[step.near] = plus(twist.get(step.near, [0, 0, 0]), moment)
            if step.source is not None:
                hinge = hinges[id(step)]
                if step.joint.kind == "prismatic":
                    power = dot(hinge.axis, force)
                else:
                    power = dot(hinge.axis, minus(moment, cross(hinge.point, force)))
                share = mul(step.multiplier, mul(hinge.sign, power))
                out[step.source] = add(out[step.source], share)
        return out

    def _needed(self, one: Mass) -> tuple[Vector, Vector]:
        """Force on a body, and moment about the world's origin, that its motion and weight need."""
        at = self.links[one.link]
        center = at.point(one.center)
        acceleration = [rate(rate(x)) for x in center]
        force = scaled(one.mass, minus(acceleration, self.gravity))
        spin = _spin(at.rotation)
        momentum = times(at.rotation, times(one.tensor, times(transposed(at.rotation), spin)))
        return force, plus([rate(x) for x in momentum], cross(center, force))


def _spin(rotation: Matrix) -> Vector:
    """The angular velocity: dR/dt R^T is its cross product."""
    turning = [[rate(x) for x in row] for row in rotation]
    return [dot(turning[i], rotation[j]) for i, j in ((2, 1), (0, 2), (1, 0))]


def gravity_of(robot: Robot) -> Vector:
    """In the world's axes: as given, or along -z of the file's root with every coordinate at zero."""
    down: Vector = [0, 0, ball(-9.81)]
    if robot.gravity is not None:
        return robot.gravity
    if not robot.chosen:
        return down
    return times(State(robot, [0] * len(robot.joints), down).links[robot.file_root].rotation, down)
