"""Internal frames and regrouped inertias change the work, never the answer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ModelWarning
from robomorph.algorithms.frames import ROUNDING, cos_sin, direction, near_quarter, plan_frames, zxz
from robomorph.algorithms.registry import ALGORITHMS, trace
from robomorph.algorithms.tree import Tree, build_tree
from robomorph.ir.interpret import interpret
from robomorph.ir.trace import Tracer
from robomorph.model import Model, load_model
from robomorph.passes.dce import dce
from robomorph.robot import Robot
from robomorph.spatial import Transform
from tests.model.oracle import example_robot
from tests.model.samples import MENAGERIE
from tests.oracle.calls import Sample, sample
from tests.oracle.compare import assert_close

CASES = {"iiwa14": False, "hyq": True, "menagerie": False, "so100": True}
NAMES = ["inverse_dynamics", "mass_matrix", "inverse_dynamics_gradient", "center_of_mass", "energy"]


def load(case: str) -> Model:
    source: Any = {"menagerie": MENAGERIE, "so100": example_robot("so100")}.get(case, case)
    if source is None:
        pytest.skip("needs the package example-robot-data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_model(source, floating_base=CASES[case])


def evaluate(tree: Tree, name: str, states: Sample) -> list[npt.NDArray[Any]]:
    algorithm = ALGORITHMS[name]
    formulation = next(iter(algorithm.formulations))
    program = trace(algorithm, tree, formulation, outputs=tuple(algorithm.outputs))
    values = dict(zip(algorithm.inputs, states.arguments(name), strict=True))
    return list(interpret(program, values).values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_fitted_frames_give_the_same_numbers(case: str, name: str) -> None:
    model = load(case)
    states = sample(Robot(model), 2, 4)
    regroup = ALGORITHMS[name].regroup
    plain, fitted = (
        evaluate(build_tree(model, plan_frames(model, fit=fit), regroup=regroup), name, states)
        for fit in (False, True)
    )
    for a, b in zip(fitted, plain, strict=True):
        assert_close(a, b, f"{case} {name}", 1e-11)


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "inverse_dynamics_gradient"])
@pytest.mark.parametrize("case", CASES)
def test_regrouping_gives_the_same_numbers(case: str, name: str) -> None:
    model = load(case)
    states = sample(Robot(model), 2, 4)
    plan = plan_frames(model)
    given, regrouped = (
        evaluate(build_tree(model, plan, regroup=regroup), name, states) for regroup in (False, True)
    )
    for a, b in zip(regrouped, given, strict=True):
        assert_close(a, b, f"{case} {name}", 1e-10)


def cost(tree: Tree) -> int:
    return dce(trace(ALGORITHMS["inverse_dynamics"], tree, "rnea", outputs=("tau",))).cost()


@pytest.mark.parametrize("case", ["iiwa14", "hyq", "menagerie"])
def test_fitting_and_regrouping_save_work(case: str) -> None:
    model = load(case)
    plain, fitted = (plan_frames(model, fit=fit) for fit in (False, True))
    assert cost(build_tree(model, fitted, regroup=True)) < cost(build_tree(model, plain, regroup=False))
    assert cost(build_tree(model, fitted, regroup=True)) < cost(build_tree(model, fitted, regroup=False))


def test_a_regrouped_revolute_link_keeps_seven_parameters() -> None:
    model = load("iiwa14")
    tree = build_tree(model, plan_frames(model), regroup=True)
    for link in tree.links:
        assert link.inertia.mass == 0.0
        assert link.inertia.first[2] == 0.0
        assert link.inertia.second.yy == 0.0


def populated(tree: Tree, index: int) -> int:
    """Entries of a link's 6x6 transform that are not structural zeros."""
    link = tree.links[index]
    q = Tracer().input(0)
    matrix = Transform(link.placement).then(link.joint.transform([q], link.turn)).matrix()
    return sum(not (isinstance(x, float) and x == 0.0) for row in matrix for x in row)


def test_iiwa_transform_between_the_first_two_links_has_13_entries() -> None:
    """In the file's own frames, axes turned onto z; fitted frames have fewer still."""
    model = load("iiwa14")
    as_given, fitted = (build_tree(model, plan_frames(model, fit=fit), regroup=True) for fit in (False, True))
    assert populated(as_given, 1) == 13
    assert [populated(as_given, i) for i in range(7)] == [14, 13, 14, 13, 14, 13, 14]
    assert all(populated(fitted, i) <= populated(as_given, i) for i in range(7))


def test_origins_stay_near_the_robot() -> None:
    """Axes that are parallel but for noise meet kilometres away, where inertias would lose their digits."""
    model = load("so100")
    for pose in plan_frames(model).to_internal:
        assert np.abs(pose.translation).max() < 2.0


def turn(axis: int, angle: float) -> npt.NDArray[Any]:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = np.eye(3)
    c, s = cos_sin(angle)
    out[i, i], out[j, j], out[i, j], out[j, i] = c, c, -s, s
    return out


def small_or_any(rng: np.random.Generator) -> float:
    """A multiple of pi/2, off it by 1e-16 to 1 rad or not at all."""
    off = rng.choice([0.0, rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-16, 0)])
    return float(rng.integers(-2, 3) * np.pi / 2 + off)


@pytest.mark.parametrize("seed", range(20))
def test_zxz_angles_make_the_rotation_they_were_read_from(seed: int) -> None:
    """However close to parallel the z axes are: there a and c are ill-defined, and only a + c matters."""
    rng = np.random.default_rng(seed)
    for _ in range(500):
        factors = [turn(int(rng.integers(3)), small_or_any(rng)) for _ in range(4)]
        rotation = np.linalg.multi_dot(factors)
        a, b, c = zxz(rotation)
        np.testing.assert_allclose(turn(2, a) @ turn(0, b) @ turn(2, c), rotation, rtol=0, atol=2 * ROUNDING)


def test_only_rounding_is_dropped() -> None:
    assert ROUNDING < 4e-15
    for quarters in range(-4, 5):
        right = quarters * np.pi / 2
        assert set(cos_sin(near_quarter(right + 1e-15))) <= {-1.0, 0.0, 1.0}
        assert set(cos_sin(direction(np.cos(right), np.sin(right)))) <= {-1.0, 0.0, 1.0}
    for angle in (0.3, 1e-8, 1e-12, 5e-15):
        assert near_quarter(angle) == direction(np.cos(angle), np.sin(angle)) == angle
