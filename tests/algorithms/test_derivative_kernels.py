"""Derivative kernels against differences of the functions themselves along the manifold, and against each
other: every algorithm, every joint type, mimic joints, floating bases, wrenches."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot
from robomorph.algorithms.closed_derivatives import CLOSED, closed_forms
from robomorph.algorithms.derived import derived_algorithm
from robomorph.algorithms.registry import ALGORITHMS
from tests.model.samples import MENAGERIE
from tests.oracle.armed import resisting
from tests.oracle.chains import WITH_BALLS, chain
from tests.oracle.crane import CRANE

Array = npt.NDArray[Any]
Arrays = list[Array]
CASES = {
    "iiwa14": ("iiwa14", False),
    "menagerie": (MENAGERIE, False),  # every joint type, a chain of mimics
    "crane-floating": (CRANE, True),
    "hyq-floating": ("hyq", True),
    "two balls": (chain(*WITH_BALLS["two balls"]), False),
    "planar": (chain("planar", "revolute y", "prismatic z"), False),
}
# Those whose joints have armatures, springs, dampers and friction, too.
RESISTING = ("menagerie", "crane-floating", "planar")
ALL = [*CASES, *(f"resisting {case}" for case in RESISTING)]
STEP = 1e-4
# Fourth-order central differences.
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
STATES = 3


@cache
def load(case: str) -> Robot:
    if case.startswith("resisting "):
        return resisting(load(case.removeprefix("resisting ")))
    source, floating = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source, floating_base=floating)


class Bench(NamedTuple):
    """An algorithm at some states, directions of its inputs and weights of its results."""

    robot: Robot
    algorithm: str
    wishes: dict[str, Any]
    arguments: Arrays
    directions: Arrays
    weights: Arrays

    def kernel(self, derivative: str | None = None, **more: Any) -> Any:
        wishes = {"target": "interpreter", **self.wishes, **more}
        return self.robot.compile(self.algorithm, derivative=derivative, **wishes)

    def moved(self, t: float) -> Arrays:
        """The arguments, t steps along the directions."""
        names = [port.name for port in self.kernel().inputs]
        return [
            self.robot.integrate(x, t * v) if name == "q" else x + t * v
            for name, x, v in zip(names, self.arguments, self.directions, strict=True)
        ]

    def differences(self, function: Any) -> Arrays:
        """The derivative of a function of arguments along the directions."""
        rows = [[w / STEP * y for y in listed(function(self.moved(k * STEP)))] for k, w in STENCIL]
        return [np.sum(column, axis=0) for column in zip(*rows, strict=True)]


def bench(case: str, algorithm: str, *, wrenches: bool = False, seed: int = 5, speed: float = 1.0) -> Bench:
    robot = load(case)
    rng = np.random.default_rng(seed)
    entry = ALGORITHMS[algorithm]
    wishes: dict[str, Any] = {"frame": robot.link_names[-1] if entry.frame else None, "f_ext": wrenches}
    kernel = robot.compile(algorithm, target="interpreter", **wishes)
    q = robot.random_state(rng, STATES).q
    rest = [_drawn(rng, port, speed) for port in kernel.inputs[1:]]
    directions = [rng.normal(size=(STATES, robot.nv)), *(rng.normal(size=x.shape) for x in rest)]
    weights = [rng.normal(size=(STATES, *port.shape)) for port in kernel.outputs]
    return Bench(robot, algorithm, wishes, [q, *rest], directions, weights)


def _drawn(rng: np.random.Generator, port: Any, speed: float) -> Array:
    """Values of one argument after q; steps in time are short, as those of a second leave no digits."""
    values = rng.normal(size=(STATES, *port.shape))
    return 0.02 * np.abs(values) if port.name == "dt" else speed * values


def listed(result: Any) -> Arrays:
    return list(result) if isinstance(result, tuple) else [result]


def paired(a: Arrays, b: Arrays) -> Array:
    """(STATES,) the sum of products of all entries."""
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + (x * y).reshape(len(x), -1).sum(axis=1)
    return np.asarray(total)


def close(found: Arrays, expected: Arrays, tolerance: float) -> None:
    scale = max(max(float(np.abs(x).max(initial=0.0)) for x in expected), 1e-3)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("case", ALL)
def test_jvp_and_vjp(case: str, algorithm: str) -> None:
    x = bench(case, algorithm, wrenches=ALGORITHMS[algorithm].wrenches and case != "iiwa14")
    value, jvp, vjp = x.kernel(), x.kernel("jvp"), x.kernel("vjp")
    along = listed(jvp(*x.arguments, *x.directions))
    close(along, x.differences(lambda arguments: value(*arguments)), 1e-7)
    back = listed(vjp(*x.arguments, *x.weights))
    assert [port.shape for port in vjp.outputs] == [v.shape[1:] for v in x.directions]
    close([paired(back, x.directions)], [paired(x.weights, along)], 1e-11)


@pytest.mark.parametrize("algorithm", ["inverse_dynamics", "forward_dynamics", "jacobian", "energy"])
@pytest.mark.parametrize("case", ALL)
def test_hvp(case: str, algorithm: str) -> None:
    """The derivative of the vjp, whose weights stay, along the directions."""
    x = bench(case, algorithm, wrenches=case == "menagerie" and algorithm == "inverse_dynamics")
    vjp = x.kernel("vjp")
    expected = x.differences(lambda arguments: vjp(*arguments, *x.weights))
    tree = x.robot.specialiser.tree(regroup=True)
    base = next(iter(ALGORITHMS[algorithm].formulations))
    for formulation in (base, *closed_forms(algorithm, "hvp", wrenches=False, tree=tree)):
        hvp = x.kernel("hvp", formulation=formulation)
        close(listed(hvp(*x.arguments, *x.weights, *x.directions)), expected, 1e-6)


@pytest.mark.parametrize("case", ["two balls", "planar", "crane-floating", "resisting planar"])
def test_second(case: str) -> None:
    x = bench(case, "inverse_dynamics")
    second, vjp = x.kernel("second"), x.kernel("hvp")
    found = second(*x.arguments)._asdict()
    hvp = vjp(*x.arguments, *x.weights, *x.directions)
    names = ("q", "qd", "qdd")
    by = dict(zip(names, x.directions, strict=True))
    for i, a in enumerate(names):
        total: Any = 0.0
        for k, b in enumerate(names):
            if i <= k:
                total = total + np.einsum("zi,zijk,zk->zj", *x.weights, found[f"d2tau_d{a}_d{b}"], by[b])
            else:
                total = total + np.einsum("zi,zijk,zj->zk", *x.weights, found[f"d2tau_d{b}_d{a}"], by[b])
        close([getattr(hvp, f"d{a}")], [total], 1e-11)


@pytest.mark.parametrize("wrenches", [False, True])
@pytest.mark.parametrize("algorithm, derivative", CLOSED)
@pytest.mark.parametrize("case", ALL)
def test_closed_forms(case: str, algorithm: str, derivative: str, wrenches: bool) -> None:
    """Every one, at high speed, against the program that reverse or forward mode makes."""
    if wrenches and not ALGORITHMS[algorithm].wrenches:
        pytest.skip(f"{algorithm} takes no wrenches")
    x = bench(case, algorithm, wrenches=wrenches, speed=20.0)
    rest = {"vjp": x.weights, "jvp": x.directions, "second": []}[derivative]
    base = next(iter(ALGORITHMS[algorithm].formulations))
    expected = listed(x.kernel(derivative, formulation=base)(*x.arguments, *rest))
    tree = x.robot.specialiser.tree(regroup=True)
    for name in closed_forms(algorithm, derivative, wrenches=wrenches, tree=tree):
        found = listed(x.kernel(derivative, formulation=name)(*x.arguments, *rest))
        for a, b in zip(found, expected, strict=True):
            close([a], [b], 1e-12)


def test_ports_and_names() -> None:
    robot = load("hyq-floating")
    kernel = robot.compile("forward_dynamics", derivative="vjp", f_ext=("lf_lowerleg",))
    shapes = {port.name: port.shape for port in (*kernel.inputs, *kernel.outputs)}
    nv = (robot.nv,)
    expected = {"q": (robot.nq,), "qd": nv, "tau": nv, "f_ext": (1, 6), "w_qdd": nv}
    assert shapes == expected | {"dq": nv, "dqd": nv, "dtau": nv, "df_ext": (1, 6)}
    assert kernel.name == kernel.stats.algorithm == "forward_dynamics_vjp"
    jvp = robot.compile("forward_dynamics", derivative="jvp")
    assert [port.name for port in jvp.inputs] == ["q", "qd", "tau", "dq", "dqd", "dtau"]
    assert [port.name for port in jvp.outputs] == ["dqdd"]
    hvp = robot.compile("inverse_dynamics", derivative="hvp")
    assert [port.name for port in hvp.inputs] == ["q", "qd", "qdd", "w_tau", "v_q", "v_qd", "v_qdd"]
    keys = {robot.compile("inverse_dynamics", derivative=d).recipe.key for d in (None, "vjp", "jvp", "hvp")}
    assert len(keys) == 4


def test_unknown_derivatives_are_refused() -> None:
    with pytest.raises(ArgumentError, match="derivative: unknown name 'grad'"):
        load("iiwa14").compile("inverse_dynamics", derivative="grad")


@pytest.mark.parametrize("derivative", ["vjp", "jvp", "hvp"])
def test_names_that_would_be_there_twice_are_refused(derivative: str) -> None:
    """The derivative by a parameter `t` would be called like the step: exported code did not compile."""
    entry = replace(ALGORITHMS["step"], parameters={"t": (), "dt": ()})
    with pytest.raises(
        ArgumentError, match="'dt', which it takes or gives, would be called like an argument"
    ):
        derived_algorithm(entry, derivative, tuple(entry.outputs), wrenches=False)
