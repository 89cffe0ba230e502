"""Round trips of gradients through a simulated chip behind a link to its host, beside this CPU."""

from __future__ import annotations

from typing import Any

from robomorph.accelerators.coprocessor import LINKS
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.measuring import time_calls
from robomorph.bench.ours import our_contestant
from robomorph.bench.subject import Subject
from robomorph.evidence import papers
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import (
    ESTIMATED,
    MEASURED,
    PUBLISHED,
    SIMULATED,
    Exhibit,
    Part,
    Table,
    absent_parts,
    sentence,
)
from robomorph.evidence.tools import quick_only, simulator
from robomorph.evidence.view import UNITS, Html, View, join, number, words
from robomorph.mpc.studies.chip_rates import PAPERS_CLOCK, STEPS, ChipTrips, chip_trips

_US = UNITS["us"]
_ROUNDS = 30
_PIPELINES, _QUICK_PIPELINES = (1, 4), (1,)


def run(context: Context) -> dict[str, Any]:
    lack = simulator()
    if lack is not None:
        return {"robots": [], "absent": [lack.data()], **_about(context)}
    robots, sources = [], context.sources[: 1 if context.quick else None]
    for source in sources:
        subject = Subject(source)
        trips = [
            _trips(context, subject, name, count)
            for count in (_QUICK_PIPELINES if context.quick else _PIPELINES)
            for name in LINKS
        ]
        robots.append({"robot": subject.robot.name, "cpu": _on_cpu(subject), "chips": trips})
    left = len(context.sources) > len(sources)
    absent = [quick_only("Other robots and pipelines", "a quick run simulates one design").data()]
    return {"robots": robots, "absent": absent if left else [], **_about(context)}


def _about(context: Context) -> dict[str, Any]:
    return {
        "clock_hz": PAPERS_CLOCK,
        "papers": papers.COPROCESSOR,
        "commands": {"trips": f"robomorph mpc rate {context.sources[0]} --chip --link pcie1x8"},
    }


def _trips(context: Context, subject: Subject, link: str, pipelines: int) -> dict[str, Any]:
    context.tell(f"{subject.name}: {pipelines} pipelines, {link}")
    made: ChipTrips = chip_trips(subject.robot, LINKS[link], PAPERS_CLOCK, pipelines)
    return {
        "link": link,
        "bandwidth": made.link.bandwidth,
        "latency_s": made.link.latency,
        "pipelines": pipelines,
        "multipliers": made.multipliers,
        "trips": [
            {"states": t.states, "cycles": t.cycles, "seconds": t.seconds, "link_s": t.link_seconds}
            for t in made.trips
        ],
    }


def _on_cpu(subject: Subject) -> list[dict[str, Any]]:
    """The same gradients on one thread of this machine."""
    found = []
    for count in STEPS:
        contestant = our_contestant(subject, FORWARD_DYNAMICS_GRADIENT, count)
        timing = time_calls(lambda loop=contestant.loop: loop(1), _ROUNDS)  # type: ignore[misc]
        found.append({"states": count, "seconds": timing.best_ns * 1e-9})
    return found


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    parts: list[Part] = [
        sentence(
            "From the host's call until the last result is in its memory: words arrive and leave at the "
            "link's rate, and the design runs cycle by cycle; every word is compared with the interpreter's. "
            "Clock (that of the papers' FPGA, ",
            number(data["clock_hz"], "one", UNITS["MHz"]),
            " MHz), rate and latency of the links are assumptions.",
        ),
        *absent_parts(data),
    ]
    for robot in data["robots"]:
        name = robot["robot"].value
        parts.append(
            Exhibit(
                f"{name}: round trips",
                (SIMULATED, ESTIMATED, MEASURED),
                _body(robot),
                data["commands"]["trips"],
                "us for all steps. Chips: cycles simulated, at the assumed clock and link. CPU: measured on "
                "one thread of this machine, arrays to arrays.",
            )
        )
    parts.append(Exhibit("What the papers print", (PUBLISHED,), _claims(data), data["papers"]["paper"]))
    return parts


def _body(robot: View) -> Html:
    cpu = [(one["states"], one["seconds"]) for one in robot["cpu"]]
    series = [Series("this CPU, one thread", cpu, 0)]
    rows: list[tuple[str, ...]] = [
        ("this CPU, one thread", "-", *(number(seconds, "sig3", _US) for _, seconds in cpu))
    ]
    for k, chip in enumerate(robot["chips"]):
        count = number(chip["pipelines"], "plain")
        label = join("chip, link ", words(chip["link"]), ", pipelines: ", count)
        series.append(Series(label, [(t["states"], t["seconds"]) for t in chip["trips"]], k + 1, dashed=True))
        times = [number(t["seconds"], "sig3", _US) for t in chip["trips"]]
        rows.append((label, number(chip["multipliers"], "whole"), *times))
    drawn = curves(
        f"microseconds of round trips, {robot['robot'].value}",
        series,
        x_label="time steps",
        y_label="us",
        log="xy",
        scales=(1.0, _US),
    )
    steps = [join(number(one["states"], "plain"), " steps") for one in robot["cpu"]]
    return join(figure_panels(panel("", drawn)), Table(("who", "multipliers", *steps), rows).html())


def _claims(data: View) -> Html:
    theirs = data["papers"]
    low, high = theirs["steps"]
    about = join(number(low, "plain"), " to ", number(high, "plain"), " time steps")
    rows = []
    for key, who in (("over_cpu", "their FPGA over their CPU"), ("over_gpu", "their FPGA over their GPU")):
        least, most = theirs[key]
        rows.append((who, about, join(number(least, "ratio"), " to ", number(most, "ratio"))))
    return Table(("claim", "for", "ratio"), rows, left=2, theirs=frozenset(range(len(rows)))).html()
