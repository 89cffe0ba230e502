"""What models assume: sines within 4 ulp, and constants of programs near what the robot's file means."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ModelWarning
from robomorph.compiler.specialise import make_request
from robomorph.ir.chebyshev import Models, run_models
from robomorph.ir.chebyshev.models import constant
from tests.model.oracle import example_robot

flint = pytest.importorskip("flint", reason="needs the package python-flint")
from robomorph.checker.balls import ORDER, arithmetic  # noqa: E402
from robomorph.checker.mechanics import State, gravity_of  # noqa: E402
from robomorph.checker.robot import read_robot  # noqa: E402
from robomorph.planning.certificate.document import robot_data  # noqa: E402

from .balls import ball, precise  # noqa: E402


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_machine_computes_sines_within_four_ulp(name: str) -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-1, 1, 4000) * 10.0**k for k in range(-6, 13, 2)])
    # Near multiples of pi / 2 most digits of the argument count.
    x = np.concatenate([x, np.round(rng.uniform(-1e6, 1e6, 4000)) * (np.pi / 2)])
    found = getattr(np, name)(x)
    with precise():
        for a, y in zip(x, found, strict=True):
            exact = getattr(ball(float(a)) * flint.arb(1), name)()
            # What is assumed of a value up to 1: an absolute error of 8 u.
            assert abs(exact - ball(float(y)) * flint.arb(1)) < 8 * 2.0**-53, a


ROBOTS: dict[str, dict[str, Any]] = {
    "iiwa14": {"payloads": {"lbr_iiwa_link_7": (3.3, (0.1, 0.03, 0.1))}},
    "hyq": {"root": "lf_lowerleg"},
    "atlas": {"root": "r_foot", "locked": {"neck_ay": 0.3, "l_arm_lwy": -0.2}},
    "panda": {},
    "ur5_robot": {"root": "ee_link"},
    "kinova": {},
    "talos_reduced": {"root": "right_sole_link"},
    "g1_29dof_rev_1_0": {},
}


@pytest.mark.parametrize("name", ROBOTS)
def test_constants_of_programs_against_the_decimals_of_the_file(name: str) -> None:
    """At states that are exactly known, torques by textbook mechanics from the file's own decimals, in balls,
    lie within the models: rounding, decimals and all that was folded while tracing are covered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(example_robot(name) or name, **ROBOTS[name])
    program = robot.specialiser.specialise(make_request(robot.model, "inverse_dynamics")).program
    with arithmetic():
        other = read_robot(json.loads(json.dumps(robot_data(robot))))
        gravity = gravity_of(other)
        for seed in range(4):
            state = np.random.default_rng(seed).normal(size=(3, robot.nv)) * [[1.0], [3.0], [10.0]]
            q, qd, qdd = np.round(state * 2.0**20) / 2.0**20  # exact halves below
            models = _still(q), _still(qd), _still(qdd)
            found = run_models(program, dict(zip(("q", "qd", "qdd"), models, strict=True)), 9)
            series = [flint.arb_series([a, b, c / 2], ORDER + 3) for a, b, c in zip(q, qd, qdd, strict=True)]
            tau = State(other, series, gravity).torques
            for j in range(robot.nv):
                gap = abs(tau[j].coeffs()[0] - ball(float(found.coefficients[0, j, 0])))
                assert gap < ball(float(found.remainder[j, 0])), (j, gap, found.remainder[j, 0])
            assert found.remainder.max() < 1e-8 * max(1.0, np.abs(found.coefficients).max())


def _still(values: Any) -> Models:
    return constant(values[:, None], np.zeros((len(values), 1)), 3)
