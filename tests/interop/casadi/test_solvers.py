"""Problems that CasADi's solvers solve with our functions: the same optimum as by expressions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import casadi
import numpy as np
import pytest

import robomorph
from robomorph import Robot
from robomorph.bench.interop.reach import EFFORT, NODES, Reach, defect
from robomorph.casadi import Functions
from robomorph.model.robots import builtin_urdf
from robomorph.targets.casadi.linking import find_linker
from tests.interop.cases import load

pytestmark = pytest.mark.skipif(find_linker() is None, reason="no C compiler to link with")


@cache
def solved(kind: str, exact: bool, derivatives: int = 2) -> Any:
    functions = Functions(load("iiwa14"), kind=kind, derivatives=derivatives)
    return Reach(casadi, load("iiwa14"), functions.forward_dynamics, exact=exact).solve()


def test_the_optimum_is_that_of_expressions() -> None:
    ours, theirs = solved("machine code", True), solved("expressions", True)
    assert ours.success and ours.iterations == theirs.iterations
    np.testing.assert_allclose(ours.cost, theirs.cost, rtol=1e-10)
    np.testing.assert_allclose(ours.tau, theirs.tau, rtol=0, atol=1e-6 * np.abs(theirs.tau).max())


def test_limits_bind_and_pinocchio_follows() -> None:
    pytest.importorskip("pinocchio")
    robot, found = load("iiwa14"), solved("machine code", True)
    used = np.abs(found.tau) / (EFFORT * np.array(robot.limits.effort))
    urdf = builtin_urdf("iiwa14")
    assert urdf is not None and found.tau.shape == (NODES, 7) and 0.999 < used.max() < 1.0 + 1e-6
    assert defect(urdf.decode(), robot.gravity, found) < 1e-6


def test_first_derivatives_suffice_where_the_hessian_is_approximated() -> None:
    found, best = solved("machine code", False, 1), solved("machine code", True)
    assert found.success
    np.testing.assert_allclose(found.cost, best.cost, rtol=1e-6)
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        solved("machine code", True, 1)


def test_a_floating_base_finds_its_rest() -> None:
    """Quaternions are free coordinates here: the least potential energy among poses of a given height."""
    robot = load("crane-floating")
    functions = Functions(robot)
    q = casadi.MX.sym("q", robot.nq)
    com = functions.center_of_mass(q)
    wish = casadi.DM([0.3, -0.2, 0.5])
    rest = casadi.DM(robot.random_state(3).q)
    problem = {"x": q, "f": casadi.sumsqr(q - rest), "g": com - wish}
    solver = casadi.nlpsol(
        "s", "ipopt", problem, {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    )
    found = solver(x0=robot.neutral, lbg=0.0, ubg=0.0)
    assert solver.stats()["success"] and solver.stats()["iter_count"] < 40
    x = np.array(found["x"]).ravel()
    x[3:7] /= np.linalg.norm(x[3:7])
    np.testing.assert_allclose(robot.center_of_mass(x), np.array(wish).ravel(), atol=1e-7)


@pytest.mark.parametrize(("scheme", "refused"), [("rk", ()), ("collocation", (2,)), ("cvodes", (0, 2))])
def test_integrators(scheme: str, refused: tuple[int, ...]) -> None:
    """Jacobian, gradient and Hessian of CasADi's own integrators. What differentiates a Jacobian, which has
    no derivative as machine code, is refused (CasADi 3.6.0 does not do so for collocation), never zero."""
    robot = robomorph.load("chain:2")
    ours, theirs = (slopes_of_a_motion(robot, kind, scheme) for kind in ("machine code", "expressions"))
    for k, (found, expected) in enumerate(zip(ours, theirs, strict=True)):
        assert expected is not None and (found is not None or k in refused)
        if found is not None:
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def slopes_of_a_motion(robot: Robot, kind: str, scheme: str) -> list[Any]:
    """By the torques that are held meanwhile; None for what CasADi refuses."""
    state: Any = casadi.MX.sym("state", 4)
    tau: Any = casadi.MX.sym("tau", 2)
    qdd: Any = Functions(robot, kind=kind).forward_dynamics(state[:2], state[2:], tau)
    rates = casadi.vertcat(state[2:], qdd)
    motion = casadi.integrator("motion", scheme, {"x": state, "p": tau, "ode": rates}, 0.0, 0.05)
    end = motion(x0=[0.3, -0.4, 0.5, 0.2], p=tau)["xf"]
    found: list[Any] = []
    makers: list[Callable[[], Any]] = [
        lambda: casadi.jacobian(end, tau),
        lambda: casadi.gradient(casadi.sumsqr(end), tau),
        lambda: casadi.hessian(casadi.sumsqr(end), tau)[0],
    ]
    for make in makers:
        try:
            found.append(np.array(casadi.Function("f", [tau], [make()])([0.03, -0.01])))
        except RuntimeError as error:
            assert "Derivatives cannot be calculated" in str(error)
            found.append(None)
    return found
