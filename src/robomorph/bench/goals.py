"""What the benchmark is meant to reach, and whether this run did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robomorph.bench.exported import HEADER, KERNEL
from robomorph.bench.functions import INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT, Function
from robomorph.bench.ours import INTO_OUT, LAUNCHING, PERSISTENT
from robomorph.bench.peers.pinocchio import CALLS, PINOCCHIO
from robomorph.bench.records import OURS, Record, first, speedup
from robomorph.bench.sections.dynamics.chains import chain_record
from robomorph.bench.sections.dynamics.compile import CACHED, FRESH

Records = Sequence[Record]

# A time counts only if the results were right: largest error, relative to the largest entry of the output.
_LARGEST_ERROR = {"float64": 1e-8, "float32": 1e-2}


@dataclass(frozen=True)
class Goal:
    """A figure to reach. `unit` is shown after numbers; `at_least` says which side is good."""

    what: str
    section: str
    value: float
    unit: str
    at_least: bool
    measure: Callable[[Records], float | None]


@dataclass(frozen=True)
class Verdict:
    """A goal and what this run found; `found` is None where it was not measured. `wrong`: some result of ours
    in that section was, so that no time of it counts."""

    what: str
    goal: float
    unit: str
    at_least: bool
    found: float | None
    wrong: bool = False

    @property
    def reached(self) -> bool | None:
        if self.found is None:
            return None
        if self.wrong:
            return False
        return self.found >= self.goal if self.at_least else self.found <= self.goal

    @property
    def text(self) -> str:
        """Such as "goal 26x: 31x reached"."""
        limit = "" if self.at_least else "at most "
        goal = f"goal {limit}{self.goal:g}{self.unit}"
        if self.found is None:
            return f"{goal}: not measured"
        verdict = "with wrong results" if self.wrong else "reached" if self.reached else "missed"
        return f"{goal}: {self.found:.3g}{self.unit} {verdict}"


def judge(records: Records, sections: Sequence[str], robots: Sequence[str]) -> list[Verdict]:
    """Verdicts on the goals of the sections that ran, for the robots that took part."""
    return [
        Verdict(goal.what, goal.value, goal.unit, goal.at_least, goal.measure(records), _wrong(goal, records))
        for goal in GOALS
        if goal.section in sections and _concerns(goal.what, robots)
    ]


def _wrong(goal: Goal, records: Records) -> bool:
    ours = [r for r in records if r.who == OURS and r.section == goal.section and r.error is not None]
    # Written so that NaN is wrong.
    return any(not r.error <= _LARGEST_ERROR[r.dtype] for r in ours if r.error is not None)


def _concerns(what: str, robots: Sequence[str]) -> bool:
    return what.startswith("chain:") or what.split(",")[0] in robots


def _over_pinocchio(section: str, robot: str, function: str, batch: int) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        common = {"section": section, "robot": robot, "function": function, "batch": batch}
        ours = first(records, **common, who=OURS, how=INTO_OUT, dtype="float64")
        return speedup(ours, first(records, **common, who=PINOCCHIO, how=CALLS))

    return ratio


def _narrow_over_wide(robot: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        common = {"section": "gradients", "robot": robot, "batch": 128, "who": OURS, "how": INTO_OUT}
        narrow, wide = (first(records, **common, dtype=dtype) for dtype in ("float32", "float64"))
        return speedup(narrow, wide)

    return ratio


def _threads(batch: int, base: tuple[int, str]) -> Callable[[Records], float | None]:
    """Two persistent threads over another way: (threads, how)."""

    def ratio(records: Records) -> float | None:
        common = {"section": "threads", "robot": "iiwa14", "batch": batch}
        two = first(records, **common, threads=2, how=PERSISTENT)
        return speedup(two, first(records, **common, threads=base[0], how=base[1]))

    return ratio


def _fraction(records: Records) -> float | None:
    record = first(records, section="peak", robot="iiwa14", dtype="float64")
    return None if record is None else 100.0 * record.figures["fraction"]


def _first_gradient(robot: str, how: str) -> Callable[[Records], float | None]:
    def seconds(records: Records) -> float | None:
        record = first(records, section="compile", robot=robot, how=how, batch=1)
        return None if record is None else record.figures["total_s"]

    return seconds


def _chain(function: Function, figure: str, scale: float = 1.0) -> Callable[[Records], float | None]:
    def value(records: Records) -> float | None:
        record = chain_record(records, 100, function)
        return None if record is None else record.figures[figure] * scale

    return value


def _header(robot: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        common = {"section": "export", "robot": robot}
        return speedup(first(records, **common, how=HEADER), first(records, **common, how=KERNEL))

    return ratio


_GRADIENT = "forward_dynamics_gradient"
_OVER_PINOCCHIO = {"iiwa14": (26.0, 5.5), "hyq": (36.0, 6.0), "atlas": (15.0, 4.5)}
_FIRST_GRADIENT = {"iiwa14": (1.0, 0.15), "atlas": (6.0, 0.5)}


def _per_robot() -> list[Goal]:
    goals = []
    for robot, (batch, call) in _OVER_PINOCCHIO.items():
        for what, size, value in (("batch of 128", 128, batch), ("one call with out=", 1, call)):
            ratio = _over_pinocchio("gradients", robot, _GRADIENT, size)
            title = f"{robot}, forward-dynamics gradient over Pinocchio, {what}"
            goals.append(Goal(title, "gradients", value, "x", True, ratio))
        title = f"{robot}, float32 over float64, batch of 128"
        goals.append(Goal(title, "gradients", 1.8, "x", True, _narrow_over_wide(robot)))
        title = f"{robot}, exported header over the in-process kernel"
        goals.append(Goal(title, "export", 1.0, "x", True, _header(robot)))
    for robot, (fresh, cached) in _FIRST_GRADIENT.items():
        for how, value in ((FRESH, fresh), (CACHED, cached)):
            title = f"{robot}, from load to the first gradient, {how}"
            goals.append(Goal(title, "compile", value, " s", False, _first_gradient(robot, how)))
    return goals


GOALS: tuple[Goal, ...] = (
    *_per_robot(),
    Goal(
        "iiwa14, inverse dynamics over Pinocchio, batch of 128",
        "family",
        25.0,
        "x",
        True,
        _over_pinocchio("family", "iiwa14", INVERSE_DYNAMICS.name, 128),
    ),
    Goal("iiwa14, two threads over one, N = 128", "threads", 1.8, "x", True, _threads(128, (1, PERSISTENT))),
    Goal("iiwa14, two threads over one, N = 16", "threads", 1.3, "x", True, _threads(16, (1, PERSISTENT))),
    Goal(
        "iiwa14, persistent threads over launching them, N = 16",
        "threads",
        1.9,
        "x",
        True,
        _threads(16, (2, LAUNCHING)),
    ),
    Goal("iiwa14, fraction of the core's peak arithmetic, batch of 128", "peak", 35.0, "%", True, _fraction),
    Goal(
        "chain:100, inverse dynamics compiles",
        "chains",
        3.0,
        " s",
        False,
        _chain(INVERSE_DYNAMICS, "total_s"),
    ),
    Goal(
        "chain:100, its gradient compiles",
        "chains",
        60.0,
        " s",
        False,
        _chain(INVERSE_DYNAMICS_GRADIENT, "total_s"),
    ),
    Goal(
        "chain:100, memory to compile its gradient",
        "chains",
        3.0,
        " GB",
        False,
        _chain(INVERSE_DYNAMICS_GRADIENT, "peak_mb", 1 / 1024),
    ),
)
