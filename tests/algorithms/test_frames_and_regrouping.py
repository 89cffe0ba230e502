"""Internal frames and regrouped inertias change the work, never the answer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ModelWarning
from robomorph.algorithms.frames import cos_sin, plan_frames, snap_angle, zxz
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


@pytest.mark.parametrize("seed", range(20))
def test_zxz_angles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi, rng.uniform(-3, 3)], 3)

    def turn(axis: int, angle: float) -> npt.NDArray[Any]:
        i, j = (axis + 1) % 3, (axis + 2) % 3
        out = np.eye(3)
        c, s = cos_sin(snap_angle(angle))
        out[i, i], out[j, j], out[i, j], out[j, i] = c, c, -s, s
        return out

    rotation = turn(2, angles[0]) @ turn(0, angles[1]) @ turn(2, angles[2])
    a, b, c = zxz(rotation)
    np.testing.assert_allclose(turn(2, a) @ turn(0, b) @ turn(2, c), rotation, rtol=0, atol=1e-12)


def test_right_angles_are_exact() -> None:
    for quarters in range(-4, 5):
        angle = snap_angle(quarters * np.pi / 2 + 1e-12)
        assert set(cos_sin(angle)) <= {-1.0, 0.0, 1.0}
    assert snap_angle(0.3) == 0.3
    assert snap_angle(1e-8) == 1e-8
