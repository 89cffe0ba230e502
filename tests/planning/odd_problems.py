"""Problems that are odd in one known way each: made, and solved if they get that far."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import robomorph
from robomorph.planning import Motion, Plan, load_scenario
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture, Tilt

Rng = np.random.Generator


def link(name: str, mass: float) -> str:
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><origin xyz="0 0 0.2"/><mass value="{mass}"/>{inertia}</inertial>' if mass else ""
    return f'<link name="{name}">{body}</link>'


@cache
def pendulum(mass: float = 1.0, kind: str = "revolute", limit: str = "", base: bool = False) -> Any:
    """Two joints; `limit` is the tag of both, or empty."""
    limits = limit or '<limit lower="-2" upper="2" velocity="3" effort="30"/>'
    joints = "".join(
        f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="0 0 {0.4 * (i > 0)}"/><axis xyz="0 1 0"/>{limits}</joint>'
        for i in range(2)
    )
    text = f'<robot name="pendulum">{"".join(link(f"l{i}", mass) for i in range(3))}{joints}</robot>'
    return robomorph.load(text, floating_base=base)


def motion(rng: Rng, robot: Any = None, **given: Any) -> Motion:
    """A sound motion of a sound robot, but for what is given."""
    robot = pendulum() if robot is None else robot
    start, end = rng.uniform(-1.0, 1.0, (2, robot.nv))
    return Motion(robot, **{"seconds": 2.0, "intervals": 6, "start": start, "end": end, **given})


def tip(rng: Rng) -> Any:
    """Some task at the tip."""
    axis = (0.0, 0.0, 1.0)
    tasks = (Position("l2"), Orientation("l2"), Pose("l2"), Axis("l2", axis), Tilt("l2", axis))
    return tasks[rng.integers(len(tasks))]


def width(task: Any) -> float:
    """A bound that leaves room for everything."""
    return 1.0 if not isinstance(task, Position) else 5.0


# --- classes of odd problems: made, and solved ---------------------------------------------------------


def contradictory(rng: Rng) -> Any:
    """Up and down in windows that overlap."""
    begin, gap = rng.uniform(0.2, 0.9), 10.0 ** rng.uniform(-3, 1)
    one = motion(rng).keep(Position("l2"), [-np.inf, -np.inf, gap], None, during=(begin, begin + 0.8))
    return one.keep(Position("l2"), None, [np.inf, np.inf, -gap], during=(begin + 0.1, begin + 1.0)).solve()


def contradictory_joints(rng: Rng) -> Any:
    value = rng.uniform(-0.5, 0.5)
    one = (
        motion(rng).limits().keep(Posture.of(pendulum().model, ["j0"]), lower=value + 0.1, during=(0.5, 1.0))
    )
    return one.keep(Posture.of(pendulum().model, ["j0"]), upper=value, during=(0.9, 1.5)).solve()


def beyond_reach(rng: Rng) -> Any:
    far = rng.uniform(2.0, 1e6)
    return motion(rng).limits().keep(Position("l2"), lower=[far, -np.inf, -np.inf], during=(0.9, 1.1)).solve()


def excluded_start(rng: Rng) -> Any:
    """Limits that the start or the end breaks."""
    which, what = rng.integers(2), rng.uniform(2.1, 1e3)
    state = np.array([what, 0.0])
    return motion(rng, **{("start", "end")[which]: state}).limits().solve()


def excluded_by_torque(rng: Rng) -> Any:
    share = 10.0 ** rng.uniform(-8, -3)
    return motion(rng, start=[1.0, 0.5], end=[0.5, 1.0]).limits(torque=share).solve()


def too_fast(rng: Rng) -> Any:
    return (
        motion(rng, start=[-1.5, 0.0], end=[1.5, 0.0], seconds=10.0 ** rng.uniform(-5, -1)).limits().solve()
    )


def no_duration(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        0.0,
        -1.0,
        np.nan,
        np.inf,
        -np.inf,
        1e-300,
        1e300,
        (1.0, 1.0),
        (2.0, 1.0),
        (1.0,),
        (0.0, 1.0),
        "2",
        None,
    )
    return motion(rng, seconds=odd[rng.integers(len(odd))]).limits().solve()


def few_intervals(rng: Rng) -> Any:
    return motion(rng, intervals=int(rng.integers(-2, 4))).limits().solve()


def odd_intervals(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (0, -1, 2.5, "6", None, True, 10**9, np.nan, np.int64(6))
    return motion(rng, intervals=odd[rng.integers(len(odd))]).limits().solve()


def odd_states(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        np.nan,
        np.inf,
        [np.nan, 0.0],
        [1.0],
        [1.0, 2.0, 3.0],
        "home",
        {},
        [[0.0, 0.0]] * 4,
        [[0, 0], [1e300, 0]],
    )
    return motion(rng, **{("start", "end")[rng.integers(2)]: odd[rng.integers(len(odd))]}).limits().solve()


def huge_numbers(rng: Rng) -> Any:
    size = 10.0 ** rng.uniform(8, 300)
    where = ("start", "end")[rng.integers(2)]
    return motion(rng, **{where: size * rng.normal(size=2)}).keep(CenterOfMass(), -size, size).solve()


def huge_speeds(rng: Rng) -> Any:
    size = 10.0 ** rng.uniform(3, 300)
    return motion(rng, start=[[0.1, 0.2], size * rng.normal(size=2)]).limits().solve()


def tiny_bounds(rng: Rng) -> Any:
    size = 10.0 ** rng.uniform(-300, -9)
    one = motion(rng, start=[0.2, 0.3], end=[0.2, 0.3])
    return one.keep(Position("l2"), -size, size, reference="start").solve()


def unknown_frame(rng: Rng) -> Any:
    names = ("nobody", "", "L2", "l2 ", 7, None)
    return motion(rng).keep(Position(names[rng.integers(len(names))]), -1.0, 1.0).solve()  # type: ignore[arg-type]


def odd_windows(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        (2.5, 3.0),
        (-1.0, 0.5),
        (1.5, 0.5),
        (np.nan, 1.0),
        (0.0, np.inf),
        (1.0,),
        (0.1, 0.2, 0.3),
        "now",
        (0, 1e9),
    )
    task = tip(rng)
    return (
        motion(rng).keep(task, -width(task), width(task), "start", during=odd[rng.integers(len(odd))]).solve()
    )


def instants(rng: Rng) -> Any:
    """Windows of no length, at knots and between them, at the ends too."""
    t, task = rng.choice([0.0, 2.0, 1.0, rng.uniform(0, 2), 1e-300, np.nextafter(2.0, 0.0)]), tip(rng)
    return motion(rng).limits().keep(task, -width(task), width(task), "start", during=(t, t)).solve()


def odd_bounds(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        np.nan,
        "wide",
        [1.0] * 9,
        [[1.0]],
        None,
        np.inf,
        -np.inf,
        1e300,
        {},
        [np.nan, 1.0, 1.0],
    )
    lower, upper = (odd[rng.integers(len(odd))] for _ in range(2))
    return motion(rng).keep(tip(rng), lower, upper, "start").solve()


def crossed_bounds(rng: Rng) -> Any:
    return motion(rng).keep(tip(rng), 0.5, -0.5, "start").solve()


def odd_references(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        np.zeros((3, 3)),
        2 * np.eye(3),
        np.nan,
        "end",
        np.zeros(4),
        [],
        np.full((4, 4), 1e300),
        {"l2": 1},
    )
    task = tip(rng)
    return motion(rng).keep(task, -width(task), width(task), odd[rng.integers(len(odd))]).solve()


def odd_limits(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        np.nan,
        -1.0,
        0.0,
        "most",
        [1.0],
        [1.0, np.nan],
        np.inf,
        1e300,
        [0.0, 1.0],
        (1.0, -1.0),
        {},
    )
    names = ("position", "velocity", "torque", "acceleration", "jerk")
    given = {names[rng.integers(5)]: odd[rng.integers(len(odd))] for _ in range(2)}
    return motion(rng).limits(**given).solve()


def odd_tasks(rng: Rng) -> Any:
    odd: tuple[Any, ...] = ("position", None, Position, 3, [Position("l2")], motion)
    return motion(rng).keep(odd[rng.integers(len(odd))], -1.0, 1.0).solve()


def odd_rates(rng: Rng) -> Any:
    odd, task = (1, 2, 3, -1, 1.5, "fast", True), tip(rng)
    return motion(rng).keep(task, -9.0, 9.0, "start", rate=odd[rng.integers(len(odd))]).solve()  # type: ignore[arg-type]


def odd_costs(rng: Rng) -> Any:
    odd: tuple[Any, ...] = (
        "beauty",
        {"jerk": np.nan},
        {"jerk": -1.0},
        {"jerk": "1"},
        3,
        ["jerk"],
        "time",
        {},
        {"jerk": 0.0},
        {"jerk": 1e300},
    )
    return motion(rng).limits().solve(odd[rng.integers(len(odd))])


def odd_options(rng: Rng) -> Any:
    odd: tuple[dict[str, Any], ...] = (
        {"solver": "magic"}, {"method": "magic"}, {"method": "grid", "points": 0}, {"starts": 0},
        {"threads": 0}, {"threads": -1}, {"guess": np.nan}, {"guess": np.zeros((3, 2))}, {"guess": "best"},
        {"target": "moon"}, {"nonsense": 1}, {"callback": 3}, {"starts": 10**9}, {"threads": 10**9},
        {"guess": np.full((9, 2), np.inf)}, {"method": "grid", "points": 10**9},
    )  # fmt: skip
    return motion(rng).limits().solve(**odd[rng.integers(len(odd))])


def no_limits(rng: Rng) -> Any:
    """A robot whose joints turn for ever, without effort: asked for limits that it does not have."""
    robot = pendulum(kind="continuous", limit="<dynamics/>")
    asks: list[Any] = [{}, {"torque": True}, {"velocity": 0.5}, {"position": True, "velocity": None}]
    return motion(rng, robot).limits(**asks[rng.integers(4)]).solve()


def no_limits_asked(rng: Rng) -> Any:
    return motion(rng, pendulum(kind="continuous", limit="<dynamics/>"), end=None).solve()


def no_masses(rng: Rng) -> Any:
    one = motion(rng, pendulum(mass=0.0))
    asks: list[Callable[[], Any]] = [
        lambda: one.limits(torque=True).solve(),
        lambda: one.keep(CenterOfMass(), -1.0, 1.0).solve(),
        lambda: one.limits().solve("energy"),
    ]
    return asks[rng.integers(3)]()


def heavy(rng: Rng) -> Any:
    return (
        motion(rng, pendulum(mass=float(10 ** rng.integers(5, 12))), start=[1.0, 0.0])
        .limits(torque=True)
        .solve()
    )


def floating(rng: Rng) -> Any:
    return Motion(pendulum(base=True), 2.0, 6)


def standing_still(rng: Rng) -> Any:
    """Nothing to do, nothing to hold; free ends; goes round."""
    q = rng.uniform(-1.0, 1.0, 2)
    asks = (
        {"start": q, "end": q},
        {"start": None, "end": None},
        {"start": None, "end": None, "periodic": True},
    )
    return motion(rng, **asks[rng.integers(3)]).solve((None, "jerk")[rng.integers(2)])


def periodic_ends(rng: Rng) -> Any:
    return motion(rng, periodic=("yes", True, 1)[rng.integers(3)]).solve()


def moving_ends_of_free_duration(rng: Rng) -> Any:
    return motion(rng, seconds=(1.0, 3.0), start=[[0.0, 0.0], [1.0, 0.0]]).limits().solve("time")


def stopped(rng: Rng) -> Any:
    count = int(rng.integers(1, 4))
    plan = motion(rng).limits(torque=True).solve(callback=lambda state: state.iteration < count)
    assert isinstance(plan, Plan)
    return plan


def many_pieces(rng: Rng) -> Any:
    return motion(rng, refine=int(rng.choice([0, 64, 65, 10**6]))).limits().solve()


def odd_files(rng: Rng) -> Any:
    head = 'robot = "iiwa14"\n'
    sound = f"{head}[motion]\nseconds = 1.0\n"
    texts = (
        "", "robot = 3", head, "[motion]\nseconds = 1", f"{head}motion = 3", "[[[", f"{sound}keep = [3]",
        'robot = "nobody"\n[motion]\nseconds = 1.0', f'{head}[motion]\nseconds = nan\nstart = "left"',
        f'{sound}start = "moon"', f"{head}keep = [3]\n[motion]\nseconds = 1.0", f"{sound}start = [1.0]",
        f'{sound}start = "left"\n[[keep]]\ntask = "position"\nframe = 3',
        f"{head}cost = 3\n[motion]\nseconds = 1.0",
        f'{sound}[[keep]]\ntask = "center of mass"\nsole = "none"',
        f'{sound}[[keep]]\ntask = "axis"\nframe = "tool"\naxis = "up"\nupper = 1.0',
        f'{head}paper = 3\ntitle = 4\n[motion]\nseconds = 1.0\nstart = "left"\nend = "right"',
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.toml"
        path.write_text(texts[rng.integers(len(texts))])
        scenario = load_scenario(path)
    return scenario.motion().solve(scenario.cost)
