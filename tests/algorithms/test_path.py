"""Kinematics of one frame, inward and outward: every formulation by Pinocchio, on robots of any shape."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.algorithms.path import REACH, path, tip
from robomorph.algorithms.registry import ALGORITHMS, begin
from robomorph.algorithms.sweep import WORLD, State, Sweep, visits
from robomorph.compiler.specialise import make_request
from robomorph.ik.layout import Layout
from robomorph.ik.residual import trace_errors, trace_residual
from robomorph.ir.interpret import interpret
from robomorph.ir.ops import CONST, MUL
from robomorph.ir.program import Program
from robomorph.tasks import Axis, Position, Scene
from tests.oracle.random_trees import RandomRobot, random_robots

pytest.importorskip("pinocchio", reason="needs the package pin")

from tests.oracle.reference import Reference, build

Array = npt.NDArray[Any]
SHARDS, TREES = 2, 40
KINDS = ("revolute", "continuous", "prismatic", "planar", "spherical", "floating", "coupled", "branched")
QUIET = settings(
    max_examples=TREES,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def pair(drawn: RandomRobot) -> tuple[Robot, Reference]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)
    return robot, Reference(robot, build(drawn.text, floating=drawn.floating))


def close(found: Any, expected: Array) -> bool:
    return bool(np.abs(np.asarray(found) - expected).max(initial=0.0) <= 1e-12 * (1 + np.abs(expected).max()))


def check_formulations(robot: Robot, reference: Reference, q: Array, frame: str) -> None:
    pose, jacobian = reference.forward_kinematics(q, frame), reference.jacobian(q, frame)
    for algorithm, expected in (("forward_kinematics", pose), ("jacobian", jacobian)):
        for name in ALGORITHMS[algorithm].formulations:
            kernel = robot.compile(algorithm, target="interpreter", frame=frame, formulation=name)
            assert close(kernel(q), expected), (algorithm, name)


def check_scene(robot: Robot, reference: Reference, q: Array) -> None:
    """All frames at once, some inward and some outward, over plain numbers."""
    names = robot.frame_names
    scene = Scene(robot.specialiser.tree(regroup=False), [float(x) for x in q], inward=names[::2])
    for name in names:
        pose = reference.forward_kinematics(q, name)
        columns: Array = np.vstack(scene.columns(name))
        assert close(scene.pose(name).origin, pose[:3, 3])
        assert close(np.transpose(scene.pose(name).axes), pose[:3, :3])
        assert close(columns, reference.jacobian(q, name))


def check_residual(robot: Robot, reference: Reference, q: Array) -> None:
    """The programs of inverse kinematics for the positions of all frames, whichever way was chosen."""
    names, tree = robot.frame_names, robot.specialiser.tree(regroup=False)
    layout = Layout(tuple(Position(name) for name in names))
    inputs = {"q": q, "reference": np.zeros(layout.size.reference)}
    residual = trace_residual(tree, layout)
    found = interpret(residual.program, inputs)
    points = np.concatenate([reference.forward_kinematics(q, name)[:3, 3] for name in names])
    slopes = np.vstack([reference.jacobian(q, name)[:3] for name in names])
    entries = [found["jac"][e] if isinstance(e, int) else e for e in residual.pattern]
    assert close(np.reshape(entries, slopes.shape), slopes)
    for raw in (found["raw"], interpret(trace_errors(tree, layout), inputs)["raw"]):
        assert close(raw, points)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_robots_by_pinocchio(shard: int) -> None:
    seen: Counter[str] = Counter()

    @seed(200 + shard)
    @settings(QUIET)
    @given(random_robots())
    def check(drawn: RandomRobot) -> None:
        robot, reference = pair(drawn)
        parents = [body.parent for body in robot.model.bodies]
        seen.update({body.kind for body in robot.model.bodies}, coupled=reference.coupled)
        seen.update(branched=len(set(parents)) < len(parents))
        seen.update(standing=any(frame.body == WORLD for frame in robot.model.frames))
        q = robot.random_state(shard).q
        for frame in (robot.frame_names[0], robot.frame_names[-1]):
            check_formulations(robot, reference, q, frame)
        check_scene(robot, reference, q)
        check_residual(robot, reference, q)

    check()
    # What is drawn differs between versions and settings of the library that draws, and with the modules that
    # other tests have imported, whose constants it takes: a rare kind or two may be absent from one shard.
    missing = [kind for kind in (*KINDS, "standing") if not seen[kind]]
    assert len(missing) <= 3, f"no tree had {missing}: {seen}"


@pytest.mark.parametrize("name", ["iiwa14", "chain:1", "chain:33"])
def test_sweeps_touch_the_path_alone(name: str) -> None:
    """A path's sweep visits the links from the world to the frame, inward from the last."""
    robot = robomorph.load(name)
    tree = robot.specialiser.tree(regroup=False)
    for frame in (robot.frame_names[0], robot.frame_names[-1]):
        state = State(tree)
        begin(state, ALGORITHMS["jacobian"], {"q": list(robot.random_state(1).q)}, (), frame, ())
        sites = []
        for visit in visits(state, REACH):
            visit.work()
            if isinstance(visit.part, Sweep):
                assert visit.site is not None
                sites.append(visit.site.link.index)
        assert sites == list(reversed(path(state)))
        assert close(tip(state), robot.forward_kinematics(robot.random_state(1).q, frame)[:3, 3])


def test_sweeps_leave_other_branches_alone() -> None:
    robot = robomorph.load("hyq")
    state = State(robot.specialiser.tree(regroup=False))
    begin(state, ALGORITHMS["jacobian"], {"q": [0.3] * robot.nq}, (), robot.link_names[-1], ())
    assert len(path(state)) == 3 < robot.nv == 12


def products(program: Program) -> int:
    """Multiplications of two values that both vary."""
    known = [node.op is CONST for node in program.nodes]
    return sum(node.op is MUL and not any(known[a] for a in node.args) for node in program.nodes)


def test_errors_of_a_position_take_four_products_a_joint() -> None:
    for joints in (10, 30, 100):
        tree = robomorph.load(f"chain:{joints}").specialiser.tree(regroup=False)
        errors = trace_errors(tree, Layout((Position("tool"),)))
        assert products(errors) <= 4 * joints


def test_each_frame_goes_its_own_way() -> None:
    """A position inward and another frame's axis outward: less than either way for both."""
    robot = robomorph.load("atlas")
    tree = robot.specialiser.tree(regroup=False)
    position, axis = Position("l_hand"), Axis("r_hand", (0.0, 0.0, 1.0))
    apart = [trace_errors(tree, Layout((task,))).cost() for task in (position, axis)]
    assert trace_errors(tree, Layout((position, axis))).cost() <= sum(apart)


def test_the_cheapest_formulation_wins() -> None:
    for name, algorithm, best in (
        ("hyq", "jacobian", "inward"),
        ("atlas", "forward_kinematics", "inward"),
        ("iiwa14", "forward_kinematics", "chain"),
    ):
        robot = robomorph.load(name)
        request = make_request(robot.model, algorithm, frame=robot.link_names[-1])
        made = robot.specialiser.specialise(request)
        assert made.formulation == best
        assert made.program.cost() == min(cost for cost in made.candidates.values() if cost is not None)
