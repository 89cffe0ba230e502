"""What must be refused is refused while it is traced, by name; what cannot be refused any more is NaN."""

from __future__ import annotations

import gc
import pickle
import threading
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, DerivativeError, FallbackWarning
from robomorph.interop.jax import target
from robomorph.jax import Functions
from tests.interop.cases import arguments, load, scaled

ARM: Any = Functions(load("iiwa14"))
GOOD: Any = [np.zeros(7), np.ones(7), np.ones(7)]


def call_with(index: int, value: Any, f: Any = ARM.forward_dynamics) -> Any:
    given: list[Any] = list(GOOD)
    given[index] = value
    return f(*given)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "index, value, message",
    [
        (0, np.zeros(6), r"^q: expected shape \(..., 7\), found \(6,\)"),
        (1, np.zeros(()), r"^qd: expected shape \(..., 7\), found \(\)"),
        (2, np.zeros((7, 8)), r"^tau: expected shape \(..., 7\), found \(7, 8\)"),
        (1, np.zeros(7, complex), r"^qd: expected float32, float64 or whole numbers, found complex128"),
        (1, np.zeros(7, bool), r"^qd: expected float32, float64 or whole numbers, found bool"),
        (1, np.zeros(7, np.float16), r"^qd: .*found float16.*astype\(jnp.float32\)"),
        (2, jnp.zeros(7, jnp.bfloat16), r"^tau: .*found bfloat16"),
    ],
)
def test_wrong_arguments(index: int, value: Any, message: str, traced: bool) -> None:
    with pytest.raises(ArgumentError, match=message):
        call_with(index, value, jax.jit(ARM.forward_dynamics) if traced else ARM.forward_dynamics)


def test_what_is_no_array() -> None:
    for value in ("seven", None, object(), [[1.0], [1.0, 2.0]]):
        with pytest.raises(ArgumentError, match=r"^qd: expected (an array of numbers|float32)"):
            call_with(1, value)
    with pytest.raises(
        ArgumentError, match=r"batch dimensions do not broadcast together: q \(3,\), qd \(2,\)"
    ):
        jax.jit(ARM.forward_dynamics)(np.zeros((3, 7)), np.zeros((2, 7)), np.zeros(7))
    with pytest.raises(ArgumentError, match=r"^qd: expected shape"):
        jax.vmap(ARM.forward_dynamics, (0, 1, None))(np.zeros((7, 7)), np.zeros((8, 7)), np.zeros(7))


def test_a_number_that_no_double_holds() -> None:
    with pytest.raises(ArgumentError, match="dt: expected a number that float64 holds"):
        ARM.step(*GOOD, 10**400)


def test_lists_of_traced_numbers_are_told_how_to_become_arrays() -> None:
    with pytest.raises(
        ArgumentError, match=r"q: .*found a list with numbers that JAX traces: .*jnp\.stack\(q\)"
    ):
        jax.grad(lambda x: ARM.gravity_torque([x] * 7).sum())(1.0)


def test_what_would_be_read_without_a_word() -> None:
    """Masks, and derivatives of Torch's."""
    with pytest.raises(ArgumentError, match=r"^qd: masked arrays are not understood: fill it"):
        call_with(1, np.ma.masked_array(np.ones(7), mask=[True] * 7))
    with pytest.raises(ArgumentError, match=r"^qd: this tensor requires grad.*robomorph\.torch"):
        torch = pytest.importorskip("torch", reason="Torch is not installed: pip install 'robomorph[torch]'")
        call_with(1, torch.ones(7, requires_grad=True))


def test_the_robots_methods_name_the_bridge() -> None:
    for transform in (jax.jit, jax.vmap, jax.jacfwd, jax.jacrev):
        with pytest.raises(ArgumentError, match=r"^q: .*JAX traces.*robomorph\.jax\.Functions\(robot\)"):
            transform(ARM.robot.gravity_torque)(np.zeros((7, 7)))


def test_what_stands_for_an_array_of_jax() -> None:
    class Parameter:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __jax_array__(self) -> Any:
            return self.value

    expected = call_with(1, np.full(7, 2.0))
    np.testing.assert_array_equal(call_with(1, Parameter(jnp.full(7, 2.0))), expected)
    slope = jax.jit(jax.grad(lambda x: call_with(1, Parameter(x)).sum()))(np.full(7, 2.0))
    np.testing.assert_array_equal(slope, jax.jit(jax.grad(lambda x: call_with(1, x).sum()))(np.full(7, 2.0)))


def test_without_jit() -> None:
    """`jax.disable_jit`, and `jax.debug_nans`, which calls what it doubts without jit."""
    loss = lambda *x: ARM.forward_dynamics(*x).sum()  # noqa: E731
    expected, slopes = ARM.forward_dynamics(*GOOD), jax.grad(loss, (0, 1, 2))(*GOOD)
    with jax.disable_jit():
        np.testing.assert_array_equal(ARM.forward_dynamics(*GOOD), expected)
        np.testing.assert_array_equal(jax.grad(loss, (0, 1, 2))(*GOOD), slopes)
        assert ARM.step(*GOOD, 0.01).q_next.shape == (7,) and jax.hessian(loss)(*GOOD).shape == (7, 7)
    with jax.debug_nans(True):
        np.testing.assert_array_equal(ARM.forward_dynamics(*GOOD), expected)
        for f in (ARM.forward_dynamics, jax.grad(loss), jax.jit(loss)):
            with pytest.raises(FloatingPointError, match="nan"):
                f(np.full(7, np.nan), *GOOD[1:])


def test_what_is_no_robot() -> None:
    given: Any = ARM.robot.model
    with pytest.raises(ArgumentError, match="robot: expected a Robot, found Model: pass what robomorph"):
        Functions(given)


def test_names_of_frames_and_links() -> None:
    q = np.zeros(7)
    for frame in ("no such frame", ["a list"], None):
        with pytest.raises(ArgumentError, match="frame"):
            ARM.forward_kinematics(q, frame)
    with pytest.raises(ArgumentError, match="f_ext: unknown link 'hand'"):
        ARM.forward_dynamics(*GOOD, f_ext={"hand": np.zeros(6)})
    link = ARM.robot.link_names[-1]
    with pytest.raises(ArgumentError, match=rf"f_ext\['{link}'\]: expected shape \(..., 6\), found \(5,\)"):
        ARM.forward_dynamics(*GOOD, f_ext={link: np.zeros(5)})
    with pytest.raises(ArgumentError, match="f_ext: expected shape"):
        ARM.forward_dynamics(*GOOD, f_ext=np.zeros((3, 6)))


def test_a_robot_that_the_function_refuses() -> None:
    bare = (
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functions = Functions(robomorph.load(bare))
    with pytest.raises(robomorph.RobomorphError, match="mass"):
        functions.forward_dynamics(np.zeros(1), np.zeros(1), np.zeros(1))


def test_numbers_that_methods_refuse_give_nan_in_their_rows_alone() -> None:
    robot = load("crane-floating")
    functions = Functions(robot)
    given = arguments(robot, "forward_dynamics", 9)
    expected = robot.forward_dynamics(*given)
    given[0] = np.array(given[0])
    given[0][2] = scaled(robot, given[0][2], 1.001)
    given[0][4, 8] = np.nan
    given[1][5, 0] = np.inf
    given[0][7, 3:7] = 0.0
    for batch in (slice(None), slice(2, 3), slice(7, 8)):
        found = np.asarray(functions.forward_dynamics(*(x[batch] for x in given)))
        bad = np.isin(np.arange(9)[batch], (2, 4, 5, 7))
        assert np.isnan(found[bad]).any(axis=-1).all()
        np.testing.assert_array_equal(found[~bad], expected[batch][~bad])
    assert np.isnan(functions.forward_kinematics(np.zeros(robot.nq), robot.link_names[-1])).all()
    grad = jax.vmap(jax.grad(lambda *x: functions.forward_dynamics(*x).sum()))(*given)
    assert (
        np.isnan(np.asarray(grad)[[2, 4, 5, 7]]).any(axis=-1).all()
        and np.isfinite(np.asarray(grad)[[0, 1, 3, 6, 8]]).all()
    )


def test_a_robot_that_is_not_checked() -> None:
    checked = load("crane-floating")
    robot = robomorph.Robot(checked.model, check_finite=False)
    q = scaled(robot, arguments(robot, "mass_matrix")[0], 1.01)
    found = Functions(robot).mass_matrix(q)
    np.testing.assert_array_equal(found, robot.mass_matrix(q))
    assert np.isnan(Functions(checked).mass_matrix(q)).all()  # of the same model, and yet another kernel


def test_infinite_speed_is_not_finite() -> None:
    found = call_with(1, np.array([np.inf, 0, 0, 0, 0, 0, 0]))
    assert not np.isfinite(found).all()
    huge = call_with(0, np.full(7, 1e30))  # angles beyond what sine and cosine take
    assert np.isnan(huge).all()


def test_another_platform_than_the_cpu() -> None:
    from jax import export

    with pytest.raises(ArgumentError, match=r"expected JAX's platform cpu.*found cuda.*device_put"):
        export.export(jax.jit(ARM.forward_dynamics), platforms=["cuda"])(*GOOD)


def test_equal_robots_share_kernels_and_others_do_not() -> None:
    first, second = (Functions(robomorph.load("iiwa14")) for _ in range(2))
    a, b = (
        jax.make_jaxpr(f.forward_dynamics)(*GOOD).eqns[0].params["jaxpr"].eqns[-1] for f in (first, second)
    )
    assert a.params["callee"] == b.params["callee"] and a.params["callee"] is not b.params["callee"]
    lighter = Functions(robomorph.load("iiwa14", gravity=(0, 0, -1)))
    c = jax.make_jaxpr(lighter.forward_dynamics)(*GOOD).eqns[0].params["jaxpr"].eqns[-1].params["callee"]
    assert c != a.params["callee"]
    assert not np.array_equal(lighter.forward_dynamics(*GOOD), first.forward_dynamics(*GOOD))
    np.testing.assert_array_equal(first.forward_dynamics(*GOOD), second.forward_dynamics(*GOOD))


def test_equal_robots_take_no_code_from_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of one and single states of the other: what XLA calls then has code for both."""
    added: Any = []
    add: Any = vars(target)["xla_add"]
    monkeypatch.setattr(target, "xla_add", lambda *x: (added.append(x[1]), add(*x)))
    first, second = (Functions(robomorph.load("iiwa14", gravity=(0, 0, -4))) for _ in range(2))
    jax.jit(first.gravity_torque).lower(np.zeros((1000, 7)))
    jax.jit(second.gravity_torque).lower(np.zeros(7))
    assert {*added[-1].stats.compile_seconds} == {"single", f"x{added[-1].lanes}"}


def test_compiled_functions_outlive_their_robot() -> None:
    robot = robomorph.load("iiwa14", gravity=(0, 0, -2))
    expected = robot.forward_dynamics(*GOOD)
    compiled = jax.jit(Functions(robot).forward_dynamics).lower(*GOOD).compile()
    del robot
    gc.collect()
    for _ in range(3):
        np.testing.assert_array_equal(compiled(*GOOD), expected)


def test_pickled_functions_and_robots() -> None:
    copy = pickle.loads(pickle.dumps(ARM))
    np.testing.assert_array_equal(copy.forward_dynamics(*GOOD), ARM.forward_dynamics(*GOOD))
    assert repr(copy) == repr(ARM) and "iiwa14" in repr(copy)
    again = Functions(pickle.loads(pickle.dumps(ARM.robot)))
    np.testing.assert_array_equal(again.forward_dynamics(*GOOD), ARM.forward_dynamics(*GOOD))
    result = ARM.forward_dynamics_gradient(*GOOD)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result)).minv, result.minv)


def test_python_threads() -> None:
    """Several at once through one compiled function, and compiling several."""
    robot = robomorph.load("iiwa14", gravity=(0, 0, -3))
    functions = Functions(robot)
    traced = jax.jit(functions.forward_dynamics)
    states = [arguments(robot, "forward_dynamics", 100 + k // 4, seed=k) for k in range(16)]
    expected = [robot.forward_dynamics(*x) for x in states]
    faults: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for _ in range(20):
                np.testing.assert_array_equal(traced(*states[k]), expected[k])
            jax.grad(lambda *x: functions.forward_dynamics(*x).sum())(*states[k])
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_without_the_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls then go through Python, and say so once; numbers are the same."""

    def refuse(*args: Any, **more: Any) -> None:
        raise RuntimeError("version 7.1 is not supported\nwith details")

    monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    target.takes_handler.cache_clear()
    jax.clear_caches()
    robot = load("crane-floating")
    try:
        with pytest.warns(
            FallbackWarning, match=r"does not take kernels.*version 7.1 is not supported\): they are"
        ):
            functions = Functions(robot)
            given = arguments(robot, "forward_dynamics", 4)
            found = functions.forward_dynamics(*given)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(found, robot.forward_dynamics(*given))
            many = jax.jit(jax.vmap(functions.forward_dynamics_gradient))(*given)
            np.testing.assert_array_equal(many.minv, robot.forward_dynamics_gradient(*given).minv)
            gradient = jax.grad(lambda *x: functions.forward_dynamics(*x).sum())(*given)
            given[0] = scaled(robot, given[0], 1.1)
            assert np.isnan(functions.link_poses(given[0])).all()
            functions.prepare("forward_dynamics")
    finally:
        monkeypatch.undo()
        target.takes_handler.cache_clear()
        jax.clear_caches()
        given[0] = scaled(robot, given[0])
    expected = jax.grad(lambda *x: functions.forward_dynamics(*x).sum())(*given)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
    assert target.takes_handler()


def test_joints_with_rules_of_their_own_have_values_and_no_derivative_by_q(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from robomorph.model.joints import JOINT_TYPES

    robot = load("planar")
    functions, q = Functions(robot), arguments(robot, "gravity_torque")[0]
    kind = type(JOINT_TYPES["planar"])
    monkeypatch.setattr(kind, "known_manifold", None)
    with pytest.raises(DerivativeError, match=r"joint .*: expected coordinates of a known manifold"):
        jax.jacfwd(functions.gravity_torque)(q)
