"""The paper's scenarios: sizes, times, violations, certificates; the motion in pictures, and the tree."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.planning.motion_check import ALLOWED, RATE, MotionCheck
from robomorph.bench.planning.problems import SCENARIOS, TORQUES, Case
from robomorph.bench.planning.solving import figures_of, timed
from robomorph.errors import TargetError
from robomorph.evidence import papers
from robomorph.evidence.context import Context
from robomorph.evidence.parts import (
    COMPUTED,
    MEASURED,
    PUBLISHED,
    Exhibit,
    Lack,
    Part,
    Table,
    absent_parts,
    sentence,
)
from robomorph.evidence.sticks import stick_strip, tree_picture
from robomorph.evidence.tools import quick_only
from robomorph.evidence.view import UNITS, Html, View, join, number, tag, words
from robomorph.planning.plan import Plan
from robomorph.planning.scenario import Scenario
from robomorph.robot import Robot
from robomorph.viewer.document import encoded
from robomorph.viewer.html import page_html
from robomorph.viewer.poses import sevens
from robomorph.viewer.scene import Placing, make_scene

_ROBOT = "atlas"
_ROUNDS, _QUICK_ROUNDS = 20, 3
_SNAPSHOTS = 6
_FRAMES = 61  # of a scene
_MS = UNITS["ms"]


def run(context: Context) -> dict[str, Any]:
    absent = [Lack("HRP-2", "the paper's robot does not come with robomorph", "Atlas is used.").data()]
    why = Pinocchio.absence()
    if why is not None:
        absent.append(Lack("Pinocchio", f"violations are measured by it: {why}", "pip install pin").data())
    names = SCENARIOS[:1] if context.quick else (*SCENARIOS, TORQUES)
    if context.quick:
        absent.append(quick_only("Other scenarios", "a quick run plans the first").data())
    found = []
    for name in names:
        context.tell(f"{_ROBOT}, {name}")
        found.append(_scenario(Case(name, _ROBOT).load(), name, context.quick, check=why is None))
    return {
        "scenarios": found,
        "rate_hz": RATE,
        "allowed": ALLOWED,
        "absent": absent,
        "papers": papers.SCENARIOS,
        "commands": {
            "plan": f"robomorph plan {names[0]} --robot {_ROBOT}",
            "bench": "robomorph bench planning --only scenarios",
        },
    }


def _scenario(scenario: Scenario, name: str, quick: bool, *, check: bool) -> dict[str, Any]:
    motion = scenario.motion()
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    plan, timing = timed(motion, scenario.cost, rounds, solver="native")
    if not plan.success:
        raise TargetError(f"scenario {name}: expected a plan, found none: {plan.reason}")
    begin = time.perf_counter()
    certificate = plan.certify()
    spent = time.perf_counter() - begin
    median = timing.median_ns * 1e-9
    figures = figures_of(plan)
    whole = max(1.0, figures["iterations"])
    return {
        "scenario": name,
        "title": scenario.title,
        "robot": plan.robot.name,
        "cost_kind": str(scenario.cost),
        **figures,
        "median_s": median,
        "rounds": rounds,
        "iteration_s": (median - figures["problem_s"]) / whole,
        "violation": _violation(scenario, plan) if check else None,
        "proofs": len(certificate.proofs),
        "unproven": len(certificate.failed),
        "certificate_s": spent,
        "snapshots": _snapshots(plan.robot, plan),
        "tree": _tree(plan.robot),
        "scene": _scene(plan, name),
    }


def _violation(scenario: Scenario, plan: Plan) -> float:
    """The largest that Pinocchio finds between the solver's points, scaled."""
    worst = MotionCheck(scenario).worst(plan.control, plan.seconds)[0]
    return max(0.0, worst.scaled)


def _snapshots(robot: Robot, plan: Plan) -> list[dict[str, Any]]:
    """Bones (from a body's parent to the body, m) seen from the side and from the front, at some times."""
    times = np.linspace(0.0, plan.seconds, _SNAPSHOTS)
    places = [list(robot.link_names).index(body.name) for body in robot.model.bodies]
    root = list(robot.link_names).index(robot.model.frames[0].name)
    found = []
    for t, q in zip(times, plan.q(times), strict=True):
        spots = robot.link_poses(q)[:, :3, 3]
        ends = [
            (spots[root if b.parent < 0 else places[b.parent]], spots[p])
            for b, p in zip(robot.model.bodies, places, strict=True)
        ]
        bones = [[[round(float(x), 4) for x in end] for end in pair] for pair in ends]
        found.append({"time_s": float(t), "bones": bones})
    return found


def _tree(robot: Robot) -> list[dict[str, Any]]:
    """Bodies in the order of the tree that the planner uses, from the foot that stands."""
    depth: list[int] = []
    for body in robot.model.bodies:
        depth.append(1 if body.parent < 0 else depth[body.parent] + 1)
    names = [body.name for body in robot.model.bodies]
    rows = [{"link": robot.model.frames[0].name, "parent": None, "depth": 0}]
    for body, level in zip(robot.model.bodies, depth, strict=True):
        parent = rows[0]["link"] if body.parent < 0 else names[body.parent]
        rows.append({"link": body.name, "parent": parent, "depth": level})
    return rows


def _scene(plan: Plan, title: str) -> dict[str, Any]:
    """The motion for the viewer."""
    times = np.linspace(0.0, plan.seconds, _FRAMES)
    poses = sevens(plan.robot.link_poses(plan.q(times)))
    motion = {"name": title, "robot": 0, "times": times.tolist(), "poses": encoded(poses, "<f4")}
    start = Placing(plan.robot, plan.q(times[:1])[0])
    return make_scene([start], title=title, trajectories=[motion])


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    plan = data["commands"]["plan"]
    parts: list[Part] = [
        sentence(
            "The paper's scenarios for a humanoid: a squat, steps of the feet, a kick. Constraints hold at "
            "every instant and not at samples only; here that is proven afterwards, and measured by "
            "Pinocchio at ",
            number(data["rate_hz"], "whole"),
            " samples a second.",
        ),
        *absent_parts(data),
        Exhibit(
            "Sizes", (COMPUTED, PUBLISHED), _sizes(data), data["commands"]["bench"],
            "theirs: HRP-2, which has other joints than Atlas.", data["papers"]["paper"],
        ),
        Exhibit(
            "Times and what holds", (MEASURED, PUBLISHED), _times(data), data["commands"]["bench"],
            "ms; ours on this CPU with kernels cached, median of whole solves; theirs on their best GPU "
            "(single and double precision), without cost. Violation: the largest, scaled (rad, share of a "
            "limit, or cm); none is no more than rounding.", data["papers"]["paper"],
        ),
    ]  # fmt: skip
    for one in data["scenarios"]:
        name = one["scenario"].value
        parts.append(Exhibit(f"{name}: snapshots", (COMPUTED,), _strip(one), plan, _VIEWS))
        parts.append(Exhibit(f"{name}: the motion", (COMPUTED,), _viewer(one), plan, _TURN))
    first = data["scenarios"][0]
    parts.append(
        Exhibit(
            "The tree from the foot that stands",
            (COMPUTED,),
            tree_picture(first["tree"]),
            plan,
            "the planner takes the standing foot as the root, so that its contact needs no constraint.",
        )
    )
    return parts


_VIEWS = "above from the side, below from the front; bones join the origins of links; heights are to scale."


_TURN = "the planned motion; drag to turn. Shapes are drawn from the robot's tree where it has none."


def _viewer(one: View) -> Html:
    """The viewer's page inside this one: it may run its script, and fetch nothing."""
    inside = page_html(one["scene"].value)
    name = f"{one['scenario'].value}: the motion of {one['robot'].value}"
    return tag("iframe", srcdoc=inside, title=name, sandbox="allow-scripts", loading="lazy")


def _sizes(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    theirs = set()
    for one in data["scenarios"]:
        keys = ("variables", "constraints", "nonzeros")
        rows.append((words(one["scenario"]), words(one["robot"]), *(number(one[k], "whole") for k in keys)))
        printed = data["papers"]["rows"].get(one["scenario"].value)
        if printed is not None:
            theirs.add(len(rows))
            cells = [number(printed[k], "whole") for k in keys]
            rows.append((words(one["scenario"]), words(data["papers"]["robot"]), *cells))
    columns = ("scenario", "robot", "variables", "constraints", "nonzeros")
    return Table(columns, rows, left=2, theirs=frozenset(theirs)).html()


def _times(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    theirs = set()
    for one in data["scenarios"]:
        proof = join(
            number(one["proofs"], "whole"), " proofs, ", number(one["unproven"], "whole"), " missing"
        )
        rows.append(
            (
                words(one["scenario"]),
                "this CPU",
                number(one["iterations"], "whole"),
                number(one["median_s"], "sig3", _MS),
                number(one["iteration_s"], "sig3", _MS),
                _held(data, one),
                proof,
                number(one["certificate_s"], "sig3", _MS),
            )
        )
        printed = data["papers"]["rows"].get(one["scenario"].value)
        if printed is not None:
            for kind in ("single", "double"):
                theirs.add(len(rows))
                total = number(printed["total_s"][kind], "sig3", _MS)
                each = number(printed["iteration_s"][kind], "sig2", _MS)
                rows.append(
                    (words(one["scenario"]), f"the paper's GPU, {kind}", "-", total, each, "-", "-", "-")
                )
    columns = (
        *("scenario", "who", "iterations", "whole solve, ms", "an iteration, ms", "violation"),
        *("certificate", "its time, ms"),
    )
    return Table(columns, rows, left=2, theirs=frozenset(theirs)).html()


def _held(data: View, one: View) -> str:
    found = one.get("violation")
    if found is None:
        return "not measured"
    return "none" if found.value <= data["allowed"].value else number(found, "power")


def _strip(one: View) -> Html:
    return join(tag("p", words(one["title"]), class_="note"), stick_strip(one["snapshots"]))
