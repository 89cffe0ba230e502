"""CasADi functions of robots: numbers, derivatives inside CasADi's graphs, refusals."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, ModelError, Robot, TargetError
from robomorph.casadi import Functions
from robomorph.errors import FallbackWarning
from robomorph.interop.casadi.expressions import expression_function
from robomorph.interop.functions import FUNCTIONS
from robomorph.spatial import atan2
from robomorph.targets.casadi.callee import Argument, Pattern, make_callee
from robomorph.targets.casadi.linking import find_linker
from tests.interop.cases import Array, arguments, call, listed, load, options, scaled

needs_linker = pytest.mark.skipif(find_linker() is None, reason="no C compiler to link with")
KINDS = [pytest.param("machine code", marks=needs_linker), "expressions"]


@cache
def functions(case: str, kind: str, derivatives: int = 2) -> Functions:
    return Functions(load(case), kind=kind, derivatives=derivatives)


def function_of(case: str, name: str, kind: str, derivatives: int = 2) -> Any:
    made = getattr(functions(case, kind, derivatives), name)
    return made(load(case).link_names[-1]) if FUNCTIONS[name].frame else made


def numbers(value: Any) -> Array:
    return np.array(casadi.DM(value))


def called(function: Any, *given: Any) -> list[Array]:
    return [numbers(y) for y in function.call([casadi.DM(x) for x in given])]


def graph(function: Any) -> tuple[Any, Any]:
    """All arguments, and all results, as one column each."""
    sizes = [function.numel_in(k) for k in range(function.n_in())]
    column = casadi.MX.sym("x", sum(sizes))
    parts = casadi.vertsplit(column, np.cumsum([0, *sizes]).tolist())
    return column, casadi.veccat(*(casadi.densify(y) for y in function.call(parts)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_function(kind: str, name: str) -> None:
    """iiwa14: bits of machine code are those of the robot's own kernels."""
    robot = load("iiwa14")
    given = arguments(robot, name)
    found = called(function_of("iiwa14", name, kind, 0), *given)
    for a, b in zip(found, listed(call(robot, name, *given, **options(robot, name))), strict=True):
        expected = np.hstack(list(b)) if b.ndim == 3 else np.reshape(b, a.shape)
        if kind == "machine code":
            np.testing.assert_array_equal(a, expected)
        else:
            np.testing.assert_allclose(a, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("case", ["crane-floating", "menagerie", "planar"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_joints(kind: str, case: str) -> None:
    robot = load(case)
    q, qd, qdd = arguments(robot, "inverse_dynamics")
    function = function_of(case, "inverse_dynamics", kind)
    expected = robot.inverse_dynamics(q, qd, qdd)
    for length in (1.0, 2.5):
        (found,) = called(function, scaled(robot, q, length), qd, qdd)
        np.testing.assert_allclose(found.ravel(), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("case", ["iiwa14", "crane-floating", "menagerie"])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_in_a_graph(kind: str, case: str) -> None:
    """Jacobian, gradient and exact Hessian, whose patterns must have every entry that differences see."""
    robot = load(case)
    given = arguments(robot, "inverse_dynamics", seed=4)
    given[0] = scaled(robot, given[0], 1.2)
    x, y = graph(function_of(case, "inverse_dynamics", kind))
    merit = casadi.dot(casadi.DM(np.cos(np.arange(robot.nv))), y) + 0.5 * casadi.sumsqr(y)
    expressions = (y, casadi.jacobian(y, x), casadi.gradient(merit, x), casadi.hessian(merit, x)[0])
    value, jacobian, gradient, hessian = (casadi.Function("f", [x], [e]) for e in expressions)
    flat = np.concatenate(given)
    for derivative, of in ((jacobian, value), (hessian, gradient)):
        found = numbers(derivative(flat))
        np.testing.assert_allclose(found, _slopes(of, flat), rtol=0, atol=1e-7 * np.abs(found).max())


def _slopes(function: Any, x: Array, step: float = 1e-4) -> Array:
    columns = []
    for k in range(len(x)):
        unit = np.eye(len(x))[k] * step
        terms = [(-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)]
        columns.append(sum(w * numbers(function(x + m * unit)) for m, w in terms) / step)
    return np.hstack(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_wrenches_are_columns(kind: str) -> None:
    robot = load("crane-floating")
    links = [robot.link_names[-1], robot.link_names[1]]
    function = Functions(robot, f_ext=links, kind=kind, derivatives=1).forward_dynamics
    q, qd, tau = arguments(robot, "forward_dynamics")
    wrenches = np.random.default_rng(1).normal(size=(2, 6))
    assert function.size_in(3) == (6, 2)
    expected = robot.forward_dynamics(q, qd, tau, f_ext=dict(zip(links, wrenches, strict=True)))
    (found,) = called(function, q, qd, tau, wrenches.T)
    np.testing.assert_allclose(found.ravel(), expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    jacobian = numbers(function.jacobian()(q, qd, tau, wrenches.T, 0)[3])
    change = np.zeros((6, 2))
    change[1, 1] = 1.0
    (moved,) = called(function, q, qd, tau, wrenches.T + change)
    np.testing.assert_allclose(
        jacobian[:, 7], (moved - found).ravel(), rtol=0, atol=1e-9 * np.abs(found).max()
    )


def test_outputs_of_choice() -> None:
    robot = load("iiwa14")
    function = functions("iiwa14", "expressions").function("energy", outputs=("potential",))
    assert (function.n_out(), function.name_out(0)) == (1, "potential")
    q, qd = arguments(robot, "energy")
    np.testing.assert_allclose(called(function, q, qd)[0], robot.energy(q, qd).potential)


@needs_linker
def test_what_is_missing_counts_as_zero_and_what_is_not_wanted_is_not_written() -> None:
    """As CasADi's generated code calls: with null pointers."""
    robot = load("iiwa14")
    function = function_of("iiwa14", "forward_dynamics_gradient", "machine code", 0)
    q, qd, tau = arguments(robot, "forward_dynamics")
    buffers, trigger = function.buffer()
    out = np.zeros((robot.nv, robot.nv))
    buffers.set_arg(0, q.data)
    buffers.set_arg(2, tau.data)
    buffers.set_res(3, out.data)
    trigger()
    expected = robot.forward_dynamics_gradient(q, 0 * qd, tau).minv
    np.testing.assert_array_equal(out.T, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_have_no_derivatives_of_their_own(kind: str) -> None:
    """Never zeros: machine code has none and says so; expressions have CasADi's own."""
    x, y = graph(function_of("iiwa14", "inverse_dynamics_gradient", kind))
    if kind == "machine code":
        with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
            casadi.jacobian(y, x)
    else:
        assert casadi.jacobian(y, x).nnz() > 0


@needs_linker
@pytest.mark.parametrize("derivatives", [0, 1])
def test_what_was_not_made_is_refused_and_never_zero(derivatives: int) -> None:
    x, y = graph(function_of("iiwa14", "inverse_dynamics", "machine code", derivatives))
    if derivatives == 0:
        with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
            casadi.jacobian(y, x)
    else:
        assert casadi.jacobian(y, x).nnz() > 0
        assert casadi.gradient(casadi.sumsqr(y), x).nnz() == x.numel()
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        casadi.hessian(casadi.sumsqr(y), x)


@needs_linker
def test_third_derivatives_are_refused() -> None:
    x, y = graph(function_of("iiwa14", "energy", "machine code"))
    hessian = casadi.hessian(casadi.sum1(y), x)[0]
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        casadi.jacobian(casadi.vec(hessian), x)


@needs_linker
def test_sx_is_right_or_refused() -> None:
    """Recent versions of CasADi call libraries from SX, others say that they cannot."""
    robot = load("iiwa14")
    q, qd, qdd = arguments(robot, "inverse_dynamics")
    symbols = [casadi.SX.sym(name, 7) for name in "abc"]
    function = function_of("iiwa14", "inverse_dynamics", "machine code")
    try:
        found = function(*symbols)
    except RuntimeError as error:
        assert "eval_sx" in str(error)
        return
    slopes = casadi.Function("f", symbols, [casadi.jacobian(found, symbols[0])])
    np.testing.assert_array_equal(numbers(slopes(q, qd, qdd)), numbers(function.jacobian()(q, qd, qdd, 0)[0]))


def test_expressions_expand() -> None:
    function = function_of("iiwa14", "forward_dynamics", "expressions")
    symbols = [casadi.SX.sym(name, 7) for name in "abc"]
    assert (
        casadi.jacobian(function(*symbols), symbols[0]).nnz() == 42
    )  # the first joint's angle does not count


# --- refusals --------------------------------------------------------------------------------------------


def test_expressions_have_derivatives_where_a_minimum_has_equal_arguments() -> None:
    """CasADi's own fmin and fmax have means there, which made the derivative of this angle zero."""
    sides = [Argument(name, Pattern.dense(1, 1)) for name in ("y", "x")]
    angle = Argument("angle", Pattern.dense(1, 1))
    callee = make_callee("angle", sides, [angle], lambda _, v: {"angle": [atan2(v["y"][0], v["x"][0])]})
    jacobian = expression_function(casadi, callee).jacobian()
    for y, x in ((1.0, 1.0), (-1.0, 1.0), (0.5, -0.5), (2.0, 1.0)):
        found = [float(value) for value in jacobian(y, x, 0.0)]
        np.testing.assert_allclose(found, np.array([x, -y]) / (x * x + y * y), rtol=1e-14)


def test_refusals() -> None:
    robot = load("iiwa14")
    orders: tuple[Any, ...] = (3, True, 1.0, np.array([1, 2]))
    wishes: tuple[dict[str, Any], ...] = ({"kind": "fast"}, *({"derivatives": order} for order in orders))
    for wrong in wishes:
        with pytest.raises(ArgumentError, match=f"{next(iter(wrong))}: expected"):
            Functions(robot, **wrong)
    nothing: Any = "iiwa14"
    with pytest.raises(ArgumentError, match="robot: expected a Robot, found str"):
        Functions(nothing)
    wrenches: tuple[Any, ...] = (None, 3, {robot.link_names[-1]: np.zeros(6)})
    for wrong_wrenches in wrenches:
        with pytest.raises(ArgumentError, match="f_ext: expected True, False or names of links"):
            Functions(robot, f_ext=wrong_wrenches)
    made = functions("iiwa14", "expressions")
    with pytest.raises(AttributeError, match="did you mean 'forward_dynamics'"):
        _ = made.forward_dynamic
    names: tuple[Any, ...] = ("ik", ["energy"])
    for name in names:
        with pytest.raises(ArgumentError, match=f"unknown function {re.escape(repr(name))}"):
            made.function(name)
    with pytest.raises(ArgumentError, match="tool frame"):
        made.function("jacobian")
    with pytest.raises(ArgumentError, match="name of a link or tool frame, as in"):
        made.jacobian(casadi.MX.sym("q", 7))
    with pytest.raises(ArgumentError, match="unknown name 'nowhere'"):
        made.jacobian("nowhere")
    with pytest.raises(ArgumentError, match="f_ext link: unknown name 'nowhere'"):
        _ = Functions(robot, f_ext="nowhere", kind="expressions").forward_dynamics
    assert "forward_dynamics" in dir(made) and "expressions" in repr(made)


def test_robots_without_masses_have_kinematics() -> None:
    urdf = """<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous">
    <parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Functions(robomorph.load(urdf), kind="expressions")
    assert made.forward_kinematics("b").size_out(0) == (4, 4)
    with pytest.raises(ModelError, match="inverse_dynamics"):
        _ = made.inverse_dynamics


@pytest.mark.parametrize("kind", KINDS)
def test_robots_without_joints(kind: str) -> None:
    """As for NumPy: poses, and matrices without rows."""
    robot = robomorph.load('<robot name="still"><link name="a"/></robot>')
    functions = Functions(robot, kind=kind, f_ext=True)
    none = casadi.DM(0, 1)
    np.testing.assert_array_equal(numbers(functions.link_poses(none)), np.eye(4))
    assert functions.mass_matrix(none).shape == functions.jacobian("a")(none)[:0, :].shape == (0, 0)
    forward = functions.forward_dynamics
    assert forward(none, none, none, np.ones((6, 1))).shape == (0, 1)
    push: Any = casadi.MX.sym("push", 6, 1)
    assert casadi.jacobian(forward(none, none, none, push), push).shape == (0, 6)


def test_without_a_linker_expressions_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CC", raising=False)
    with pytest.warns(FallbackWarning, match="no C compiler to link machine code"):
        made = Functions(load("iiwa14"))
    assert made.kind == "expressions"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Functions(load("iiwa14"), kind="expressions")
    strict = Functions(load("planar"), kind="machine code", folder=Path("/nonexistent/there"))
    with pytest.raises(TargetError, match="install gcc or clang"):
        _ = strict.energy


@needs_linker
def test_the_linker_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    (path, *_) = find_linker() or [""]
    monkeypatch.setenv("CC", f"{path} -m64")
    assert find_linker() == [path, "-m64"]
    monkeypatch.setenv("CC", "no-such-compiler")
    assert find_linker() is not None, "the usual names are looked for as well"
    monkeypatch.setenv("CC", 'gcc "')
    with pytest.raises(TargetError, match="CC: expected the command of a C compiler, found 'gcc \"'"):
        Functions(load("planar"))


@needs_linker
@pytest.mark.parametrize("program", ["exit 0", "echo broken >&2; exit 3", None])
def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("not a program" if program is None else f"#!/bin/sh\n{program}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    said = {"exit 0": "exit code 0, and no library was made", None: "Exec format error"}.get(
        program, "broken"
    )
    made = Functions(load("planar"), derivatives=0, folder=tmp_path / "made")
    with pytest.raises(
        TargetError, match=f"the linker failed: .*\n.*{said}.*\n.* in \\$CC, or ask for kind="
    ):
        _ = made.energy


@needs_linker
def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TargetError, match=r"folder .*file: expected one that .* can be written to"):
        _ = Functions(load("planar"), derivatives=0, folder=tmp_path / "file").energy


def test_names_tell_robots_apart() -> None:
    """Functions of several robots may be linked into one program."""
    robot = load("iiwa14")
    other = robomorph.load("iiwa14", gravity=(0.0, 0.0, -1.6))
    names = [Functions(r, kind="expressions").energy.name() for r in (robot, other, robomorph.load("iiwa14"))]
    assert names[0] != names[1] and names[0] == names[2]
    odd = Robot(replace(robot.model, name="2 odd__näme"))
    assert Functions(odd, kind="expressions").energy.name().startswith("r2_odd_n_me_energy_")


@pytest.mark.parametrize("kind", KINDS)
def test_long_names(kind: str, tmp_path: Path) -> None:
    """Names of files, and of functions for CasADi, have limits that robots' names have not."""
    robot = load("planar")
    for name in ("x" * 300, "b" * 82 + " " + "c" * 300):  # CasADi refuses names with two underlines
        named = Robot(replace(robot.model, name=name))
        function = Functions(named, kind=kind, derivatives=0, folder=tmp_path).jacobian(robot.link_names[-1])
        assert len(function.name()) < 130
