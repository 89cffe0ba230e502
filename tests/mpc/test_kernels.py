"""Rows of tasks at a node with exact derivatives, against Pinocchio and differences; code found on disk."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

from robomorph import ArgumentError
from robomorph.ir.interpret import interpret
from robomorph.mpc import Function
from robomorph.mpc.kernels import LANES, ControlKernels
from robomorph.mpc.kernels.pieces import Bounded, OfFunction, Piece, Residual, Speed
from robomorph.spatial import cos, select, sin
from robomorph.tasks import Axis, CenterOfMass, FrameTask, Orientation, Position, Posture, Size, Task, Tilt
from robomorph.tasks.numbers import finite
from tests.mpc.cases import TOOL, iiwa

Array = npt.NDArray[Any]
AXIS = (0.6, 0.0, 0.8)


@dataclass(frozen=True)
class Radius(FrameTask):
    """A task of the caller's: the squared distance of a frame from the world's z axis."""

    name = "radius"
    size = Size(1, 1, 1)

    def read(self, reference: npt.ArrayLike) -> Array:
        return finite(self.title, reference, (1,))

    def residual(self, scene: Any, reference: Any) -> Any:
        x, y, _ = scene.pose(self.frame).origin
        linear, _ = scene.columns(self.frame)
        slope = [2.0 * (x * a + y * b) for a, b in zip(linear[0], linear[1], strict=True)]
        return [x * x + y * y - reference[0]], [slope]


def bent(q: Any, qd: Any) -> list[Any]:
    """A function of the caller's."""
    return [sin(q[0]) * q[1] + qd[2] * qd[2], select(q[3], cos(q[3]), 1.0 + q[3] * q[4]), 2.0 * q[5]]


def states(count: int = 5) -> tuple[Array, Array]:
    return iiwa()[0].random_state(7, count)


def rows_of(pieces: list[Piece], q: Array, qd: Array, references: Array) -> Any:
    kernels = ControlKernels(iiwa()[0], pieces)
    arguments = (q, qd, references) if kernels.deferred.inputs[1].name == "qd" else (q, references)
    return kernels.rows(*arguments)


def check_slopes(pieces: list[Piece], references: Array, tolerance: float = 1e-7) -> Array:
    """Derivatives against central differences of the values, which are returned (n, rows)."""
    q, qd = states()
    numbers = np.broadcast_to(references, (len(q), references.shape[-1]))
    found = rows_of(pieces, q, qd, numbers)
    for index, slope in enumerate((found.dq, getattr(found, "dqd", None))):
        if slope is None:
            continue
        for j in range(7):
            step = 1e-6 * np.eye(7)[j]
            by_q, by_qd = (step, 0.0) if index == 0 else (0.0, step)
            ahead, behind = (
                rows_of(pieces, q + s * by_q, qd + s * by_qd, numbers).values for s in (1.0, -1.0)
            )
            assert np.allclose(slope[..., j], (ahead - behind) / 2e-6, rtol=0, atol=tolerance)
    return np.asarray(found.values)


def turns(count: int) -> Array:
    return np.stack([pinocchio.exp3(v) for v in np.random.default_rng(2).normal(size=(count, 3))])


def test_positions_and_masses() -> None:
    robot, reference = iiwa()
    goal = np.array([0.3, -0.2, 0.5])
    pieces: list[Piece] = [
        Residual(Position(TOOL)),
        Residual(CenterOfMass()),
        Residual(Posture.of(robot.model)),
    ]
    values = check_slopes(pieces, np.concatenate([goal, goal, np.arange(7.0)]))
    q, _ = states()
    for x, found in zip(q, values, strict=True):
        assert np.allclose(found[:3], reference.forward_kinematics(x, TOOL)[:3, 3] - goal, atol=1e-12)
        assert np.allclose(found[3:6], reference.center_of_mass(x) - goal, atol=1e-12)
        assert np.allclose(found[6:], x - np.arange(7.0), atol=0)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.0, np.pi - 1e-6])
def test_rotations_at_every_angle(angle: float) -> None:
    """Values by log3, derivatives by Jlog3: exact from no turn to nearly half a turn."""
    _, reference = iiwa()
    q, qd = states(8)
    axes = np.concatenate([np.eye(3), -np.eye(3), [[0.6, 0.8, 0.0], [-0.6, 0.64, 0.48]]])
    here = np.stack([reference.forward_kinematics(x, TOOL)[:3, :3] for x in q])
    goals = np.stack([r @ pinocchio.exp3(angle * a).T for r, a in zip(here, axes, strict=True)])
    task = Orientation(TOOL).apart()
    found = rows_of([Residual(task)], q, qd, task.read(goals))
    assert np.isfinite(found.values).all() and np.isfinite(found.dq).all()
    near = angle < 3.1
    for k, x in enumerate(q):
        error = goals[k].T @ here[k]
        own = here[k].T @ reference.jacobian(x, TOOL)[3:]
        assert np.allclose(found.values[k], angle * axes[k], rtol=0, atol=1e-9)
        slope = pinocchio.Jlog3(error) @ own
        assert np.allclose(found.dq[k], slope, rtol=0, atol=1e-9 if near else 1e-4)
        # Along the error it is the frame's velocity, wherever that is.
        assert np.allclose(axes[k] @ found.dq[k], axes[k] @ (goals[k].T @ here[k] @ own), rtol=0, atol=1e-8)


def test_directions_and_bounds() -> None:
    axis, tilt, turn = Axis(TOOL, AXIS), Tilt(TOOL, AXIS), Orientation(TOOL)
    wanted = axis.read([0.3, -0.5, 0.8])
    references = np.concatenate([wanted, wanted, wanted, turn.read(turns(1)[0])])
    pieces: list[Piece] = [Residual(axis), Bounded(axis), Bounded(tilt), Bounded(turn)]
    values = check_slopes(pieces, references)
    assert values.shape == (5, 2 + 1 + 3 + 4)
    # The angle by the rows, and by the bound row, which is its cosine.
    assert np.allclose(np.cos(np.linalg.norm(values[:, :2], axis=1)), values[:, 2], atol=1e-12)


def test_speeds_by_pinocchio() -> None:
    _, reference = iiwa()
    pieces: list[Piece] = [Speed(Position(TOOL)), Speed(Orientation(TOOL)), Speed(CenterOfMass())]
    goal = np.linspace(-0.1, 0.1, 9)
    values = check_slopes(pieces, goal)
    for x, v, found in zip(*states(), values, strict=True):
        assert np.allclose(found[:6] + goal[:6], reference.jacobian(x, TOOL) @ v, atol=1e-12)
        assert np.allclose(found[6:] + goal[6:], reference.center_of_mass_jacobian(x) @ v, atol=1e-12)


def test_tasks_and_functions_of_the_callers() -> None:
    pieces: list[Piece] = [Residual(Radius(TOOL)), OfFunction(Function(bent, 3), 7), Residual(Position(TOOL))]
    assert not any(piece.built_in for piece in pieces[:2]) and pieces[2].built_in
    goal = np.array([0.2, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    values = check_slopes(pieces, goal)
    q, qd = states()
    expected = np.sin(q[:, 0]) * q[:, 1] + qd[:, 2] ** 2 - 1.0
    assert np.allclose(values[:, 1], expected, atol=1e-14)
    assert np.allclose(values[:, 0] + 0.2, (values[:, 4:6] ** 2).sum(axis=1), atol=1e-14)


def test_a_function_without_qd_needs_none() -> None:
    piece = OfFunction(Function(lambda q, qd: [q[0] * q[1]], 1), 7)
    assert not piece.moving and OfFunction(Function(bent, 3), 7).moving
    assert [port.name for port in ControlKernels(iiwa()[0], [piece]).deferred.inputs] == ["q", "references"]


def test_native_code_computes_what_the_program_says() -> None:
    """In lane order, as native solvers call it, against the interpreter."""
    robot, _ = iiwa()
    kernels = ControlKernels(robot, [Residual(Orientation(TOOL).apart()), Speed(Position(TOOL))])
    q, qd = states(LANES)
    references = np.concatenate([Orientation(TOOL).read(turns(LANES)), np.zeros((LANES, 3))], axis=1)
    for name, arguments in (("rows", (q, qd, references)), ("torque", (q, qd, 3.0 * qd))):
        handle = kernels.handles[name]
        program = kernels.deferred.program if name == "rows" else kernels.motion.program("torque")
        names = [port.name for port in program.inputs]
        expected = interpret(program, dict(zip(names, arguments, strict=True)))
        given = [_aligned(np.ascontiguousarray(x.T)) for x in arguments]
        results = [_aligned(np.zeros((port.size, LANES))) for port in program.outputs]
        workspace = _aligned(np.zeros((handle.workspace // 8 + 8, 1)))
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(handle.address)
        function(_pointers(given), _pointers(results), workspace.ctypes.data)
        for port, found in zip(program.outputs, results, strict=True):
            wanted = np.asarray(expected[port.name]).reshape(LANES, -1)
            assert np.allclose(found.T, wanted, rtol=1e-12, atol=1e-12)


def _aligned(array: Array) -> Array:
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    out = memory[start : start + array.nbytes].view(np.float64).reshape(array.shape)
    out[...] = array
    return out


def _pointers(arrays: list[Array]) -> Any:
    return ctypes.cast((ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays)), ctypes.c_void_p)


def test_known_rows_come_from_the_cache_without_tracing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path))
    robot, _ = iiwa()
    pieces = [Residual(Position(TOOL))]
    ControlKernels(robot, pieces).deferred.lanes(LANES)

    def traced() -> None:
        raise AssertionError("traced again")

    again = ControlKernels(robot, pieces).deferred
    object.__setattr__(again, "make", traced)
    assert again.lanes(LANES).lanes == LANES
    assert ControlKernels(robot, [Residual(Radius(TOOL))]).deferred.key is None  # by its program alone


@pytest.mark.parametrize(
    ("f", "says"),
    [
        (lambda q, qd: [q[0], q[1]], "expected 3 rows"),
        (lambda q, qd: [1.0 if q[0] > 0.0 else 0.0] * 3, "not a function over scalars"),
        (lambda q, qd: [__import__("math").sin(q[0])] * 3, "not a function over scalars"),
        (lambda q, qd: ["a", q[0], q[1]], "expected scalars made of q and qd"),
    ],
)
def test_functions_that_are_none(f: Callable[[Any, Any], Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        OfFunction(Function(f, 3), 7).program()


def test_rows_that_are_not_what_a_task_says() -> None:
    class Wrong(Radius):
        def residual(self, scene: Any, reference: Any) -> Any:
            rows, jacobian = super().residual(scene, reference)
            return rows, [jacobian[0][:3]]

    task: Task = Wrong(TOOL)
    with pytest.raises(ArgumentError, match=r"expected 1 rows, .* found 1 rows and 1 of \[3\] entries"):
        ControlKernels(iiwa()[0], [Residual(task)]).deferred.program  # noqa: B018
