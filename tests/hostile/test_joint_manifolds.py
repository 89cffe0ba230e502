"""Joint types of a user's own: inverse kinematics searches what it knows and refuses the rest by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, ModelError, Robot
from robomorph.model.joints import JOINT_TYPES, Floating, JointType, Revolute, Spherical
from robomorph.model.manifolds import SE3, SO3, Flat, Manifold
from robomorph.runtime import _native
from robomorph.spatial import Motion, Move, Scalar, Translation, Turn, cos, sin
from tests.oracle.chains import chain

Array = npt.NDArray[Any]
ARM = ("revolute y", "revolute x", "revolute z", "revolute y", "revolute x")


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Types that a test registers are gone after it."""
    before = dict(JOINT_TYPES)
    yield
    JOINT_TYPES.clear()
    JOINT_TYPES.update(before)


class Screw(JointType):
    """The example of docs/add-a-joint.md, written without a manifold."""

    urdf_types = ("screw",)
    nq = 1
    nv = 1
    unbounded_types: ClassVar[tuple[str, ...]] = ("screw",)
    coordinates = "one angle (rad)"
    pitch = 0.05

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return (Motion((0.0, 0.0, 1.0), (0.0, 0.0, self.pitch)),)

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        return (Translation((0.0, 0.0, self.pitch * q[0])), Turn(2, cos(q[0]), sin(q[0])))


class BoundedScrew(Screw):
    urdf_types = ("bounded_screw",)
    unbounded_types = ()


class Cylinder(JointType):
    """Two coordinates that add: a turn about z and a slide along it."""

    urdf_types = ("cylinder",)
    nq = 2
    nv = 2
    coordinates = "an angle (rad) and a distance (m)"

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return (Motion((0.0, 0.0, 1.0)), Motion(lin=(0.0, 0.0, 1.0)))

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        return (Translation((0.0, 0.0, q[1])), Turn(2, cos(q[0]), sin(q[0])))


class OwnBall(JointType):
    """A ball as a user would write it who names no manifold: four coordinates, as a planar joint has."""

    urdf_types = ("own_ball",)
    nq = 4
    nv = 3
    has_axis = False
    coordinates = "four numbers [qx, qy, qz, qw]"
    unit_part = slice(0, 4)

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return Spherical().subspace

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        return Spherical().transform(q, turn)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0]

    def integrate(self, q: Array, dq: Array) -> Array:
        return SO3().integrate(q, dq)

    def difference(self, q0: Array, q1: Array) -> Array:
        return SO3().difference(q0, q1)

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        return SO3().random(rng, lower, upper, shape)


class NamedBall(OwnBall):
    urdf_types = ("named_ball",)
    manifold = SO3()


class Wrapped(Revolute):
    """One coordinate that does not simply add: it is brought back to [0, 2 pi)."""

    urdf_types: ClassVar[Any] = ("wrapped",)
    unbounded_types = ("wrapped",)

    def integrate(self, q: Array, dq: Array) -> Array:
        return np.asarray(np.mod(q + dq, 2 * np.pi))


class OtherRotations(SO3):
    """A manifold that nobody but its author knows, though it looks like one of ours."""


class OtherBall(Spherical):
    urdf_types: ClassVar[Any] = ("other_ball",)
    manifold = OtherRotations()


class UnitPair(JointType):
    """nq equals nv, but the coordinates are a unit vector (scaled turns of a gear, say)."""

    urdf_types = ("unit_pair",)
    nq = 2
    nv = 2
    coordinates = "two numbers"
    unit_part = slice(0, 2)
    subspace = Cylinder.subspace
    transform = Cylinder.transform


class Unnamed(Floating):
    urdf_types = ("unnamed",)
    manifold: ClassVar[Any] = None


def load(joint: type[JointType], *rest: str) -> Robot:
    kind = joint.urdf_types[0]
    JOINT_TYPES[kind] = joint()
    return robomorph.load(chain(kind, *rest))


def errors_of(robot: Robot, q: Array, points: Array) -> Array:
    ends = robot.forward_kinematics(q, robot.link_names[-1])[..., :3, 3]
    return np.asarray(np.linalg.norm(ends - points, axis=-1))


REFUSED = (OwnBall, Wrapped, OtherBall, UnitPair, Unnamed)


@pytest.mark.parametrize("joint", REFUSED)
def test_what_is_not_known_is_refused_by_name(joint: type[JointType]) -> None:
    robot = load(joint, *ARM)
    tip = robot.link_names[-1]
    expected = rf"joint 'j0' of type '{joint.urdf_types[0]}' \({joint.__name__}\).*`manifold`.*locked"
    for target in ([0.5, 0.1, 0.3], np.eye(4), np.zeros((2, 3))):
        with pytest.raises(ArgumentError, match=expected):
            robot.inverse_kinematics(target, tip)
    with pytest.raises(ArgumentError, match=expected):
        robot.inverse_kinematics([0.5, 0.1, 0.3], tip, method="quick-ik", fixed=["j0"])


@pytest.mark.parametrize("joint", [OwnBall, Wrapped, OtherBall])
def test_everything_else_works_for_any_type(joint: type[JointType]) -> None:
    robot = load(joint, "revolute y")
    q, qd = robot.random_state(1)
    tau = robot.inverse_dynamics(q, qd, qd)
    assert np.allclose(robot.forward_dynamics(q, qd, tau), qd)
    step = 1e-6 * np.eye(robot.nv)
    ahead, behind = (robot.forward_kinematics(robot.integrate(q, s * step), "l2") for s in (1.0, -1.0))
    assert np.allclose((ahead - behind)[:, :3, 3].T / 2e-6, robot.jacobian(q, "l2")[:3], atol=1e-8)


def test_coordinates_that_cannot_add_are_not_added() -> None:
    robot = load(Unnamed, "revolute y")
    q = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    for call in (lambda: robot.neutral, robot.random_state, lambda: robot.integrate(q, np.ones(7))):
        with pytest.raises(
            ModelError, match="Unnamed: 7 coordinates and 6 degrees of freedom cannot simply add"
        ):
            call()


@pytest.mark.parametrize("joint", REFUSED)
def test_a_locked_joint_is_no_obstacle(joint: type[JointType]) -> None:
    kind = joint.urdf_types[0]
    JOINT_TYPES[kind] = joint()
    value = {"unnamed": [0.1, 0, 0, 0, 0, 0, 1.0], "wrapped": [0.3], "unit_pair": [0.6, 0.8]}.get(
        kind, [0, 0, 0, 1.0]
    )
    robot = robomorph.load(chain(kind, *ARM), locked={"j0": value})
    q = robot.random_state(2, 4).q
    points = robot.forward_kinematics(q, robot.link_names[-1])[:, :3, 3]
    assert robot.inverse_kinematics(points, robot.link_names[-1]).success.all()


def test_a_named_manifold_is_searched() -> None:
    robot = load(NamedBall, *ARM)
    points = robot.forward_kinematics(robot.random_state(3, 20).q, robot.link_names[-1])[:, :3, 3]
    result = robot.inverse_kinematics(points, robot.link_names[-1])
    assert result.success.all()
    assert np.allclose(np.linalg.norm(result.q[:, :4], axis=-1), 1.0, rtol=0, atol=1e-12)
    assert errors_of(robot, result.q, points).max() < 1.001e-5


@pytest.mark.parametrize("nearest", [True, False])
@pytest.mark.parametrize("start", [0.0, 9.0, -20.0])
def test_a_screw_is_not_back_after_a_turn(start: float, nearest: bool) -> None:
    """What is claimed holds: an angle moved by whole turns would lift the tip by 0.3 m each."""
    robot = load(Screw, *ARM)
    q0 = np.zeros(robot.nq)
    q0[0] = start
    wanted = robot.random_state(4, 20).q
    wanted[:, 0] += start + 4.0
    points = robot.forward_kinematics(wanted, robot.link_names[-1])[:, :3, 3]
    result = robot.inverse_kinematics(points, robot.link_names[-1], q0, nearest=nearest)
    assert result.success.sum() >= 18
    errors = errors_of(robot, result.q, points)
    assert np.allclose(errors, result.position_error, rtol=1e-6, atol=1e-12)
    assert errors[result.success].max() < 1.001e-5


def test_a_screw_reaches_as_far_as_it_lifts() -> None:
    """'Out of reach' would be false: the screw lifts the arm by five metres."""
    JOINT_TYPES["bounded_screw"] = BoundedScrew()
    limits = {0: '<limit lower="-100" upper="100" effort="1" velocity="1"/>'}
    robot = robomorph.load(chain("bounded_screw z", "revolute y", extra=limits))
    q = np.array([95.0, 0.3])
    point = robot.forward_kinematics(q, "l2")[:3, 3]
    assert np.linalg.norm(point) > 4.0
    missed = robot.inverse_kinematics(point + np.array([0.01, 0.0, 0.0]), "l2", starts=1, max_iterations=2)
    assert not missed.success and "out of reach" not in missed.reason
    far = robot.inverse_kinematics([0.0, 0.0, 9.0], "l2", starts=1, max_iterations=2)
    assert far.reason.startswith("out of reach")


def test_two_coordinates_that_add() -> None:
    robot = load(Cylinder, *ARM)
    tip = robot.link_names[-1]
    poses = robot.forward_kinematics(robot.random_state(5, 20).q, tip)
    for q0 in (None, np.array([40.0, 0.2, 0, 0, 0, 0, 0])):
        result = robot.inverse_kinematics(poses, tip, q0)
        assert result.success.all()
        assert errors_of(robot, result.q, poses[:, :3, 3]).max() < 1.001e-5
        # The turn may be brought near to where it started, the slide never by turns.
        assert q0 is None or np.abs(result.q[:, 0] - 40.0).max() < 2 * np.pi
    held = robot.inverse_kinematics(poses[0], tip, np.full(7, 0.1), fixed=["j0"], starts=2)
    assert held.q[:2].tolist() == [0.1, 0.1]


def test_planar_and_free_joints_in_a_chain() -> None:
    for joints in (
        ("planar z", *ARM),
        ("floating", "revolute y", "floating"),
        ("revolute y", "planar z", "ball"),
    ):
        robot = robomorph.load(chain(*joints))
        tip = robot.link_names[-1]
        points = robot.forward_kinematics(robot.random_state(6, 12).q, tip)[:, :3, 3]
        result = robot.inverse_kinematics(points, tip)
        assert result.success.all() and errors_of(robot, result.q, points).max() < 1.001e-5
        assert np.allclose(robot.difference(result.q, robot.integrate(result.q, np.zeros(robot.nv))), 0.0)


def test_what_a_type_is_taken_for() -> None:
    assert JOINT_TYPES["revolute"].known_manifold == Flat(1)
    assert Screw().known_manifold == Flat(1) and Cylinder().known_manifold == Flat(2)
    assert Spherical().known_manifold == SO3() and Floating().known_manifold == SE3()
    assert all(joint().known_manifold is None for joint in (OwnBall, Wrapped, UnitPair, Unnamed))
    assert OtherBall().known_manifold == OtherRotations() != SO3()

    class Twice(Revolute):  # a size of its own, the manifold of another
        nq = 2
        nv = 2

    assert Twice().known_manifold is None and Twice().neutral() == [0.0, 0.0]


def test_a_type_follows_its_manifold() -> None:
    assert (Spherical.nq, Spherical.nv, Spherical.unit_part) == (4, 3, slice(0, 4))
    with pytest.raises(ModelError, match=r"Wrong: nq: expected 4 .*SO3\(\).*found 3: leave nq out"):
        type("Wrong", (JointType,), {"manifold": SO3(), "nq": 3})
    with pytest.raises(ModelError, match=r"Wrong: manifold: expected an instance such as .*found"):
        type("Wrong", (JointType,), {"manifold": SO3})
    assert issubclass(OtherRotations, Manifold)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ([(4, 0, 0, 0, 0)], "unknown kind"),
        ([(-1, 0, 0, 0, 0)], "unknown kind"),
        ([(1, 0, 0, 0, 0)], "outside the configuration"),
        ([(3, 1, 0, 0, 0)], "outside the configuration"),
        ([(0, 0, 0, 0, 0)], "every coordinate"),
        ([(2, 0, 0, 0, 0), (0, 0, 0, 0, 0)], "every coordinate"),
    ],
)
def test_native_code_refuses_joints_that_do_not_fit(joints: list[tuple[int, ...]], message: str) -> None:
    """Four coordinates and three degrees of freedom: a planar joint (2) or a ball (3), nothing else."""
    with pytest.raises(ValueError, match=message):
        plan(joints)
    assert plan([(2, 0, 0, 0, 0)]) is not None and plan([(3, 0, 0, 0, 1)]) is not None


BALL: list[tuple[int, ...]] = [(3, 0, 0, 0, 0)]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ((3, 0, 0, 3, -1), "unknown kind"),
        ((-1, 0, 0, 3, -1), "unknown kind"),
        ((0, 0, 0, 4, -1), "outside the arrays"),
        ((0, 1, 0, 3, -1), "outside the arrays"),
        ((0, 3, 2, 1, -1), "outside the arrays"),
        ((0, -1, 0, 1, -1), "outside the arrays"),
        ((0, 0, -1, 1, -1), "outside the arrays"),
        ((0, 2**31 - 1, 0, 1, -1), "outside the arrays"),
        ((0, 0, 2**31 - 1, 1, -1), "outside the arrays"),
        ((0, 0, 0, 3, 0), "outside the arrays"),
        ((0, 0, 0, -1, -1), "number of rows"),
        ((1, 0, 0, 3, -1), "outside the arrays"),
        ((1, 0, 0, 2, -1), "number of rows"),
        ((2, 0, 0, 3, -1), "number of rows"),
        ((2, 1, 0, 2, -1), "outside the arrays"),
    ],
)
def test_native_code_refuses_blocks_that_do_not_fit(block: tuple[int, ...], message: str) -> None:
    """Three raw errors and three rows: of a linear block as many as it has rows, of others what they are."""
    with pytest.raises(ValueError, match=message):
        plan(BALL, block)
    for fits in ((0, 2, 2, 1, -1), (0, 3, 3, 0, -1), (2, 0, 1, 2, -1)):
        assert plan(BALL, fits) is not None


def plan(joints: list[tuple[int, ...]], block: tuple[int, ...] = (0, 0, 0, 3, -1)) -> Any:
    return _native.ik_plan(
        lanes=1,
        residual=1,
        step=1,
        errors=0,
        trig=0,
        workspace=0,
        sizes=(4, 3, 3, 3, 3, 9, 0),
        blocks=np.array([block], np.int32),
        joints=np.array(joints, np.int32).reshape(-1, 5),
        limits=np.tile([-np.inf, np.inf], (len(joints), 1)),
        weights=np.ones(3),
        tolerance=np.ones(3),
        group=np.zeros(3, np.int32),
        gain_ratio=True,
        polish=False,
        speculations=0,
        longest_share=1.0,
        relaxation=0.0,
        wide_lanes=1,
        choice=0,
        max_starts=1,
        candidates=1,
        max_iterations=1,
        near_enough=0.0,
        seed=0,
    )
