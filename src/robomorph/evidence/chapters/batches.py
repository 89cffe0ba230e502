"""N time steps end to end, one thread and all, and threads that stay against threads that are launched."""

from __future__ import annotations

from typing import Any

from robomorph.bench.ours import LAUNCHING, PERSISTENT
from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.records import OURS
from robomorph.evidence import papers
from robomorph.evidence.bench_runs import bench_records, pick, seconds
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import MEASURED, PUBLISHED, Exhibit, Part, Table, absent_parts, notes, sentence
from robomorph.evidence.view import NOTHING, UNITS, Html, View, join, number, words

_US = UNITS["us"]


def run(context: Context) -> dict[str, Any]:
    found = bench_records(context, "dynamics", ("timesteps", "threads"), peers=(Pinocchio,))
    records = found["records"]
    steps, threads = pick(records, section="timesteps"), pick(records, section="threads")
    robots = [
        {"robot": name, "rows": [_row(pick(steps, robot=name, batch=n)) for n in _counts(steps)]}
        for name in dict.fromkeys(r["robot"] for r in steps)
    ]
    names = " ".join(context.sources)
    quick = " --quick" if context.quick else ""
    return {
        "robots": robots,
        "threads": [
            {"robot": name, "rows": [_ways(pick(threads, robot=name, batch=n)) for n in _counts(threads)]}
            for name in dict.fromkeys(r["robot"] for r in threads)
        ],
        "notes": found["notes"],
        "absent": found["absent"],
        "papers": papers.BATCHES,
        "commands": {
            "timesteps": f"robomorph bench {names}{quick} --only timesteps",
            "threads": f"robomorph bench {names}{quick} --only threads",
        },
    }


def _counts(records: list[dict[str, Any]]) -> list[int]:
    return sorted({r["batch"] for r in records})


def _whole(records: list[dict[str, Any]]) -> float | None:
    """Seconds of all N of the first record."""
    each = seconds(records[0]) if records else None
    return None if each is None else each * records[0]["batch"]


def _row(records: list[dict[str, Any]]) -> dict[str, Any]:
    ours = pick(records, who=OURS)
    several = [r for r in ours if r["threads"] > 1]
    theirs = [r for r in records if r["who"] != OURS]
    one, all_, other = _whole(pick(ours, threads=1)), _whole(several), _whole(theirs)
    errors = [r["error"] for r in ours if r["error"] is not None]
    return {
        "count": records[0]["batch"],
        "threads": several[0]["threads"] if several else 1,
        "one_thread_s": one,
        "all_threads_s": all_,
        "pinocchio_s": other,
        "faster_on_one": None if one is None or other is None else other / one,
        "faster_on_all": None if all_ is None or other is None else other / all_,
        "error": max(errors, default=None),
        "reference": records[0]["reference"],
    }


def _ways(records: list[dict[str, Any]]) -> dict[str, Any]:
    one = _whole(pick(records, threads=1))
    stay, launched = (_whole(pick(records, threads=2, how=how)) for how in (PERSISTENT, LAUNCHING))
    return {
        "count": records[0]["batch"],
        "one_s": one,
        "persistent_s": stay,
        "launched_s": launched,
        "two_over_one": None if not one or not stay else one / stay,
        "persistent_over_launched": None if not launched or not stay else launched / stay,
    }


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    commands = data["commands"]
    parts: list[Part] = [
        sentence(
            "All gradients of N time steps in one call from Python on NumPy arrays, results in arrays: every "
            "overhead is in it. Pinocchio is asked for the same, one state after the other, its results "
            "copied into arrays."
        ),
        Exhibit(
            "N time steps end to end",
            (MEASURED,),
            _steps(data),
            commands["timesteps"],
            "us for all N gradients of forward dynamics, float64, the least of all rounds. Error: against "
            "the reference, relative to the largest entry.",
        ),
    ]
    if data["threads"]:
        parts.append(
            Exhibit(
                "Threads that stay, against threads that are launched for the call",
                (MEASURED,),
                _threads(data),
                commands["threads"],
                "us for all N gradients on two threads.",
            )
        )
    parts += [*notes(data), *absent_parts(data)]
    parts.append(Exhibit("What the papers print", (PUBLISHED,), _claims(data), data["papers"]["paper"]))
    return parts


def _steps(data: View) -> Html:
    rows, panels = [], []
    keys = (("one_thread_s", "one thread"), ("all_threads_s", "all threads"), ("pinocchio_s", "Pinocchio"))
    for robot in data["robots"]:
        for row in robot["rows"]:
            rows.append(
                (
                    words(robot["robot"]),
                    number(row["count"], "plain"),
                    *(number(row[key], "sig3", _US) for key, _ in keys),
                    number(row["faster_on_one"], "times"),
                    number(row["faster_on_all"], "times"),
                    number(row["error"], "power"),
                    words(row["reference"]),
                )
            )
        series = [
            Series(name, [(row["count"], row[key]) for row in robot["rows"]], k)
            for k, (key, name) in enumerate(keys)
            if any(row[key].value is not None for row in robot["rows"])
        ]
        about = f"microseconds for N gradients of {robot['robot'].value}"
        drawn = curves(about, series, x_label="N", y_label="us", log="xy", scales=(1.0, _US))
        panels.append(panel(robot["robot"].value, drawn))
    names = [name for _, name in keys]
    columns = ("robot", "N", *names, "over Pinocchio, one thread", "all threads", "error", "against")
    return join(figure_panels(*panels), Table(columns, rows).html())


def _threads(data: View) -> Html:
    rows = []
    for robot in data["threads"]:
        for row in robot["rows"]:
            times = [number(row[key], "sig3", _US) for key in ("one_s", "persistent_s", "launched_s")]
            ratios = [number(row[key], "times") for key in ("two_over_one", "persistent_over_launched")]
            rows.append((words(robot["robot"]), number(row["count"], "plain"), *times, *ratios))
    columns = (
        *("robot", "N", "one thread", "two that stay", "two launched", "two over one"),
        "staying over launched",
    )
    return Table(columns, rows).html()


def _claims(data: View) -> Html:
    rows = []
    for claim in data["papers"]["claims"]:
        to = claim.get("to")
        ratio = number(claim["from"], "ratio")
        rows.append((words(claim["what"]), ratio, NOTHING if to is None else number(to, "ratio")))
    return Table(("claim", "ratio", "to"), rows, theirs=frozenset(range(len(rows)))).html()
