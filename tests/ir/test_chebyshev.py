"""Models enclose what they say: against samples, and exactly, in ball arithmetic; calm and wild motions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robomorph
from robomorph.compiler.specialise import make_request
from robomorph.ir.chebyshev import Models, bounds, run_models
from robomorph.ir.chebyshev import functions as chebyshev_functions
from robomorph.ir.chebyshev import models as chebyshev_models
from robomorph.ir.chebyshev import run as chebyshev_run
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.planning.certificate.splines import Piece, Spline
from tests.oracle.random_programs import random_programs

flint = pytest.importorskip("flint", reason="needs the package python-flint")
from .balls import ball, evaluate, precise  # noqa: E402

PORTS = ("q", "qd", "qdd")
MOTIONS = {"calm": (0.1, 0.0), "lively": (0.3, 0.0), "wild": (1.0, 0.0), "wound up": (0.3, 1e5)}


@cache
def program_of(name: str, algorithm: str, **options: Any) -> tuple[Program, int]:
    robot = robomorph.load(name)
    request = make_request(robot.model, algorithm, frame=dict(options).get("frame"))
    return robot.specialiser.specialise(request).program, robot.nv


def motion(kind: str, nv: int, seed: int = 0, points: int = 9) -> Spline:
    noise, turns = MOTIONS[kind]
    rng = np.random.default_rng(seed)
    control = noise * rng.normal(size=(points, nv)) + 2.0 * np.pi * turns * rng.integers(-1, 2, nv)
    return Spline.uniform(control, 3.0)


def models_of(program: Program, spline: Spline, pieces: list[Piece], degree: int) -> Models:
    names = [port.name for port in program.inputs]
    return run_models(program, {n: spline.models(pieces, PORTS.index(n)) for n in names}, degree)


def exact_inputs(program: Program, spline: Spline, piece: Piece, x: Fraction) -> list[Fraction]:
    """q, qd, qdd at a place of a piece (x from -1 to 1), in rational arithmetic."""
    out: list[Fraction] = []
    points = spline.control[piece.first : piece.first + spline.degree + 1]
    for port in program.inputs:
        rows = spline.chebyshev(piece, PORTS.index(port.name))
        terms = [Fraction(1), x, 2 * x * x - 1, 4 * x**3 - 3 * x]
        shares = [sum(terms[k] * rows[k][w] for k in range(4)) for w in range(4)]
        for j in range(port.size):
            out.append(
                sum((s * Fraction(float(p)) for s, p in zip(shares, points[:, j], strict=True)), Fraction(0))
            )
    return out


def escapes(program: Program, spline: Spline, degree: int, seed: int = 0, places: int = 2) -> int:
    """How often a model is farther from the exact value than its remainder says, at places of all pieces;
    constants of the program are moved as decimals of a file may be."""
    rng = np.random.default_rng(seed)
    pieces = spline.pieces()
    found = models_of(program, spline, pieces, degree)
    count = 0
    for p, piece in enumerate(pieces):
        for x in (Fraction(int(rng.integers(-1000, 1001)), 1000) for _ in range(places)):
            inputs = exact_inputs(program, spline, piece, x)
            count += escaped(program, found, p, x, inputs, rng)
    return count


def escaped(
    program: Program, found: Models, p: int, x: Fraction, inputs: list[Fraction], rng: np.random.Generator
) -> int:
    nudge = rng.choice([-1.0, 1.0], len(program.nodes)) * 3.0 * 2.0**-53
    count = 0
    with precise():
        for r, value in enumerate(evaluate(program, inputs, nudge.tolist())):
            if np.isinf(found.remainder[r, p]):
                continue
            polynomial = sum(ball(float(c)) * _term(k, x) for k, c in enumerate(found.coefficients[:, r, p]))
            count += not bool(abs(value - polynomial) <= ball(float(found.remainder[r, p])))
    return count


def escapes_from_exact(program: Program, degree: int) -> int:
    """The same with inputs that are polynomials of degree 3 without any error: nothing else hides a fault."""
    rng = np.random.default_rng(5)
    pieces = 20
    exact = Models.of(rng.normal(size=(4, 2, pieces)), np.zeros((2, pieces)))
    found = run_models(program, {"q": exact}, degree)
    count = 0
    for p in range(pieces):
        x = Fraction(int(rng.integers(-1000, 1001)), 1000)
        terms = (Fraction(1), x, 2 * x * x - 1, 4 * x**3 - 3 * x)
        inputs = [
            sum(
                (Fraction(float(c)) * s for c, s in zip(exact.coefficients[:, j, p], terms, strict=True)),
                x - x,
            )
            for j in range(2)
        ]
        count += escaped(program, found, p, x, inputs, rng)
    return count


def _term(k: int, x: Fraction) -> Any:
    before, after = Fraction(1), x
    for _ in range(k):
        before, after = after, 2 * x * after - before
    return ball(before)


CASES = [
    ("iiwa14", "inverse_dynamics", {}),
    ("iiwa14", "center_of_mass", {}),
    ("hyq", "inverse_dynamics", {}),
    ("iiwa14", "forward_kinematics", {"frame": "lbr_iiwa_link_7"}),
]


@pytest.mark.parametrize("kind", MOTIONS)
@pytest.mark.parametrize(("name", "algorithm", "options"), CASES)
def test_no_value_escapes_its_model(name: str, algorithm: str, options: dict[str, Any], kind: str) -> None:
    program, nv = program_of(name, algorithm, **options)
    for degree in (5, 9):
        assert escapes(program, motion(kind, nv), degree) == 0


@pytest.mark.parametrize("kind", MOTIONS)
@pytest.mark.parametrize("degree", [4, 7, 13])
@pytest.mark.parametrize(("name", "algorithm", "options"), CASES)
def test_ranges_hold_a_hundred_thousand_samples(
    name: str, algorithm: str, options: dict[str, Any], kind: str, degree: int
) -> None:
    program, nv = program_of(name, algorithm, **options)
    spline = motion(kind, nv, seed=degree)
    pieces = spline.pieces()
    low, high = bounds(models_of(program, spline, pieces, degree))
    samples = 100_000 // len(pieces) + 1
    x = np.linspace(-1.0, 1.0, samples)
    for p, piece in enumerate(pieces):
        arguments = {}
        for port in program.inputs:
            model = spline.models([piece], PORTS.index(port.name))
            arguments[port.name] = np.polynomial.chebyshev.chebval(x, model.coefficients[:, :, 0]).T
        values = interpret(program, arguments)[program.outputs[0].name].reshape(samples, -1)
        slack = 1e-9 * np.abs(values).max()  # the samples are rounded too
        assert (values >= low[0, :, p] - slack).all() and (values <= high[0, :, p] + slack).all()


def test_ranges_are_tight_on_a_calm_motion() -> None:
    """An enclosure of everything would pass the other tests: parts of a piece make it as tight as wanted."""
    program, nv = program_of("iiwa14", "inverse_dynamics")
    spline = motion("calm", nv)
    found = models_of(program, spline, spline.pieces(), 9)
    assert found.remainder.max() < 1e-7
    for parts, allowed in ((1, 0.1), (16, 1e-3)):
        low, high = bounds(found, parts)
        x = np.linspace(-1, 1, 2001)
        values = np.polynomial.chebyshev.chebval(x, found.coefficients)
        width = high.max(axis=0) - low.min(axis=0)
        assert (width - np.ptp(values, axis=-1)).max() < allowed * np.ptp(values, axis=-1).max()


def variants(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Ways to get the arithmetic wrong that look right: each must be caught by the ball arithmetic."""

    def patched(module: Any, name: str, change: Any) -> Any:
        return lambda: monkeypatch.setattr(module, name, change)

    def cut(a: Models, b: Models) -> Models:
        product = chebyshev_models._convolved(a.coefficients, b.coefficients)[: a.degree + 1]
        carried = a.remainder * (b.size + b.remainder) + b.remainder * a.size
        return Models.of(product, carried)

    return {
        "no rounding in sums and products": patched(chebyshev_models, "gamma", lambda count: 0.0),
        "no remainder": lambda: [
            monkeypatch.setattr(module, "enlarged", lambda remainder: 0.0 * remainder)
            for module in (chebyshev_models, chebyshev_functions)
        ],
        "no cut-off": lambda: monkeypatch.setitem(
            chebyshev_run._APPLY, next(op for op in chebyshev_run._APPLY if op.name == "mul"), cut
        ),
        "no interpolation error": patched(
            chebyshev_functions, "_cut_off", lambda most, degree: np.zeros(most.shape[1:])
        ),
        "no rounding of sines": lambda: [
            monkeypatch.setattr(chebyshev_functions, "gamma", lambda count: 0.0),
            monkeypatch.setattr(chebyshev_functions, "_LIBRARY", 0.0),
        ],
        "exact constants": patched(chebyshev_run, "constant_error", lambda value, largest: 0.0 * value),
    }


@pytest.mark.parametrize(
    ("broken", "degree", "function"),
    [
        ("no remainder", 9, lambda a, b: (a.sin() + b) * a),
        ("no cut-off", 4, lambda a, b: a * b),
        ("no interpolation error", 12, lambda a, b: a.sin()),
        ("no rounding in sums and products", 24, lambda a, b: (a * b + a) * (a - b) - b * b),
        ("no rounding in sums and products", 24, lambda a, b: a + b),
        ("exact constants", 24, lambda a, b: (a + 1000.0).minimum(0.1)),
        ("no rounding of sines", 60, lambda a, b: a.sin()),
    ],
)
def test_broken_arithmetic_is_caught(
    broken: str, degree: int, function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert escapes_from_exact(traced(function), degree) == 0
    variants(monkeypatch)[broken]()
    assert escapes_from_exact(traced(function), degree) > 0


def test_splines_without_their_rounding_are_caught() -> None:
    """Control points a long way out: what is lost there is far more than anything later."""
    program, nv = program_of("iiwa14", "forward_kinematics", frame="lbr_iiwa_link_7")
    spline = motion("wound up", nv)
    pieces = spline.pieces()
    rounded = spline.models(pieces, 0)
    careless = Models(rounded.coefficients, np.zeros_like(rounded.remainder), rounded.size)
    sound, broken = (run_models(program, {"q": q}, 9) for q in (rounded, careless))
    assert (broken.remainder < sound.remainder).any()
    count = 0
    for p, piece in enumerate(pieces):
        for x in (Fraction(-7, 9), Fraction(1, 3)):
            q = exact_inputs(program, spline, piece, x)
            for j in range(nv):
                value = sum(
                    Fraction(float(c)) * t
                    for c, t in zip(
                        rounded.coefficients[:, j, p],
                        (Fraction(1), x, 2 * x * x - 1, 4 * x**3 - 3 * x),
                        strict=True,
                    )
                )
                assert abs(value - q[j]) <= Fraction(float(rounded.remainder[j, p]))
                count += value != q[j]
    assert count > 0


# --- operations that robots' programs do not have -----------------------------------------------------------


def traced(function: Any, inputs: int = 2) -> Program:
    tracer = Tracer()
    ports = (Port("q", (inputs,)),)
    return tracer.program("odd", ports, {"y": [function(*tracer.inputs(ports)["q"])]})


ODD = {
    "recip": lambda a, b: (a * a + b * b + 0.1).reciprocal(),
    "sqrt": lambda a, b: (a * a + b * b + 0.1).sqrt(),
    "min": lambda a, b: a.minimum(b),
    "max": lambda a, b: a.maximum(b + 0.05),
    "select": lambda a, b: (a - 0.1).select(b.sin(), a * b),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", ["calm", "lively", "wild"])
def test_odd_operations(name: str, kind: str) -> None:
    program = traced(ODD[name])
    for seed in range(4):
        assert escapes(program, motion(kind, 2, seed), 9, seed, places=5) == 0


@pytest.mark.parametrize("function", [lambda a, b: a.reciprocal(), lambda a, b: b.sqrt()])
def test_what_cannot_be_bounded_is_not(function: Any) -> None:
    """A pole, and the root of what is negative somewhere: no bound, never a wrong one."""
    spline = Spline.uniform(np.linspace(-1.0, 1.0, 8)[:, None] * np.ones(2), 1.0)
    low, high = bounds(models_of(traced(function), spline, spline.pieces(), 9))
    assert np.isinf(low).any() and np.isinf(high).any() and np.isfinite(low).any()


def test_zero_stays_exactly_zero() -> None:
    """A force that is exactly zero can be proven to be not negative."""
    spline = Spline.uniform(np.zeros((6, 2)), 1.0)
    low, high = bounds(models_of(traced(lambda a, b: a * b + a), spline, spline.pieces(), 7))
    assert (low == 0.0).all() and (high == 0.0).all()


@settings(max_examples=300, deadline=None)
@given(
    random_programs(), st.integers(0, 1000), st.sampled_from([3, 8, 15]), st.sampled_from([0.05, 1.0, 30.0])
)
def test_random_programs(program: Program, seed: int, degree: int, size: float) -> None:
    """Every operation in every combination, poles, negative roots and undecided branches among them."""
    rng = np.random.default_rng(seed)
    shape = (4, 4, 3)
    coefficients = rng.normal(size=shape) * np.array([1.0, size, size, size / 4])[:, None, None]
    exact = Models.of(coefficients, np.zeros(shape[1:]))
    found = run_models(program, {"a": exact.take([0, 1, 2]), "b": exact.take([3])}, degree)
    assert not np.isnan(found.remainder).any()
    for p in range(shape[2]):
        for x in (Fraction(-1), Fraction(int(rng.integers(-99, 99)), 100), Fraction(1)):
            terms = (Fraction(1), x, 2 * x * x - 1, 4 * x**3 - 3 * x)
            inputs = [
                sum(
                    (Fraction(float(c)) * s for c, s in zip(coefficients[:, j, p], terms, strict=True)), x - x
                )
                for j in range(4)
            ]
            with precise():
                for r, value in enumerate(evaluate(program, inputs)):
                    if not ball_is_sharp(value) or np.isinf(found.remainder[r, p]):
                        continue
                    own = found.coefficients[:, r, p]
                    polynomial = sum(ball(float(c)) * _term(k, x) for k, c in enumerate(own))
                    assert not abs(value - polynomial) > ball(float(found.remainder[r, p])), (r, p, x)


def ball_is_sharp(value: Any) -> bool:
    """A number (no pole, no undecided branch) known to far more digits than a remainder has."""
    if isinstance(value, int):
        return True
    return bool(value.is_finite()) and bool(value.rad() <= abs(value.mid()) * 1e-40 + 1e-60)
