"""Quick-IK on its paper's chains: iterations and times by method, and chips for it beside IKAcc."""

from __future__ import annotations

from typing import Any

from robomorph.bench.chain_problems import PAPER_REDUCTION, PAPER_TIMES
from robomorph.bench.ik_chip_tables import CHIP, CLOCK_MHZ, CPU, DERIVED, OPENCL
from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.sections.ik.paper import NAMES, SWEEP, TIMED
from robomorph.evidence import papers
from robomorph.evidence.bench_runs import bench_records, pick, seconds
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import (
    COMPUTED,
    ESTIMATED,
    MEASURED,
    PUBLISHED,
    Exhibit,
    Lack,
    Part,
    Table,
    absent_parts,
    notes,
    sentence,
)
from robomorph.evidence.tools import quick_only
from robomorph.evidence.view import UNITS, Html, View, join, number, words

_MS, _US = UNITS["ms"], UNITS["us"]
_SET = "set B"
Records = list[dict[str, Any]]


def run(context: Context) -> dict[str, Any]:
    commands = {
        "paper": f"robomorph bench ik{' --quick' if context.quick else ''} --only paper",
        "chip": f"robomorph bench ik{' --quick' if context.quick else ''} --only chip",
    }
    about = {"papers": {"paper": papers.QUICK_IK, "fewer": PAPER_REDUCTION}, "commands": commands}
    why = Pinocchio.absence()
    if why is not None:
        lack = Lack("Pinocchio", f"every solution is checked by it: {why}", "pip install 'robomorph[bench]'")
        return {"chains": [], "absent": [lack.data()], "notes": [], **about}
    methods = bench_records(context, "ik", ("paper",), peers=(), robots=False)
    chips = bench_records(context, "ik", ("chip",), peers=(), robots=False, jobs=1)
    records = methods["records"]
    absent = [quick_only("Longer chains", "a quick run has the shortest, and fewer targets").data()]
    return {
        "chains": _chains(records),
        "methods": [_method(records, method, name) for method, name in NAMES.items()],
        "sweep": _sweep(records),
        "fewer": _fewer(records),
        "printed": [
            {"who": who, "seconds": {str(n): ms * 1e-3 for n, ms in by.items()}}
            for who, by in PAPER_TIMES.items()
        ],
        "chip_chains": _chains(chips["records"]),
        "chip_clock_hz": CLOCK_MHZ * 1e6,
        "chips": _chips(chips["records"]),
        "derived_cycles": {str(n): cycles for n, cycles in DERIVED.items()},
        "notes": [*methods["notes"], *chips["notes"]],
        "absent": absent if context.quick else [],
        **about,
    }


def _joints(record: dict[str, Any]) -> int:
    return int(record["figures"]["joints"])


def _chains(records: Records) -> list[int]:
    return sorted({_joints(r) for r in records})


def _method(records: Records, method: str, name: str) -> dict[str, Any]:
    """By chain: iterations, share solved, and seconds of a solve."""
    counted = {_joints(r): r for r in pick(records, case=_SET, how=method)}
    timed = {_joints(r): r for r in pick(records, case=TIMED, how=method)}
    by = {
        str(n): {
            "iterations": counted[n]["figures"]["iterations"],
            "solved": counted[n]["figures"]["solved"],
            "targets": int(counted[n]["figures"]["problems"]),
            "seconds": seconds(timed[n]),
        }
        for n in counted
    }
    return {"method": method, "name": name, "by_joints": by}


def _sweep(records: Records) -> list[dict[str, Any]]:
    """Iterations by speculations, for every chain."""
    found = []
    for n in _chains(records):
        mine = [r for r in pick(records, case=SWEEP) if _joints(r) == n]
        points = [
            {"speculations": int(r["figures"]["speculations"]), "iterations": r["figures"]["iterations"]}
            for r in mine
        ]
        found.append({"joints": n, "points": points})
    return found


def _fewer(records: Records) -> list[dict[str, Any]]:
    """The share of iterations that Quick-IK saves over both plain transposes."""
    found = []
    for n in _chains(records):
        by = {r["how"]: r["figures"]["iterations"] for r in pick(records, case=_SET) if _joints(r) == n}
        quick = by["quick-ik"]
        fixed, buss = by["jacobian-transpose-fixed"], by["jacobian-transpose"]
        found.append({"joints": n, "fixed_step": 1.0 - quick / fixed, "best_step": 1.0 - quick / buss})
    return found


def _chips(records: Records) -> list[dict[str, Any]]:
    """Each way to solve, by chain; a chip's seconds are cycles at the stated clock."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for r in records:
        one = found.setdefault((r["case"], r["how"]), {"where": r["case"], "how": r["how"], "by_joints": {}})
        f = r["figures"]
        cycles = f.get("cycles") if r["case"] == CHIP else None
        time = seconds(r) if cycles is None else (f["outside"] + f["iterations"] * cycles) / (CLOCK_MHZ * 1e6)
        one["by_joints"][str(_joints(r))] = {
            "iterations": f["iterations"],
            "solved": f["solved"],
            "cycles": cycles,
            "fewer_than_derived": None if cycles is None else DERIVED[_joints(r)] / cycles,
            "seconds": time,
        }
    order = (CHIP, CPU, OPENCL)
    return sorted(found.values(), key=lambda one: order.index(one["where"]))


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    parts: list[Part] = [
        sentence(
            "The paper's problem: the end of a chain is brought to a position within a centimetre, from a "
            "random start; targets lie in a ball about the base. Its chains are robomorph's chain:N. Every "
            "solution is confirmed by Pinocchio."
        ),
        *absent_parts(data),
        *notes(data),
    ]
    if not data["chains"]:
        return parts
    commands = data["commands"]
    parts += [
        Exhibit(
            "Iterations by method", (MEASURED, PUBLISHED), _iterations(data), commands["paper"], _ITERATED,
            data["papers"]["paper"],
        ),
        Exhibit("Iterations by speculations", (MEASURED,), _speculations(data), commands["paper"]),
        Exhibit(
            "Time of a solve, ms", (MEASURED, PUBLISHED), _times(data), commands["paper"],
            "ours: one thread, one solve at a time, called from Python. The paper's rows are of its authors' "
            "machines: an Atom, a Jetson TX1 and the chip IKAcc.", data["papers"]["paper"],
        ),
        Exhibit(
            "Our chip, cycles of an iteration", (COMPUTED, ESTIMATED), _cycles(data), commands["chip"],
            _DERIVED, data["papers"]["paper"],
        ),
        Exhibit(
            "Our chip, this CPU and OpenCL, us of a solve", (ESTIMATED, MEASURED, PUBLISHED), _solves(data),
            commands["chip"], _SOLVED, data["papers"]["paper"],
        ),
    ]  # fmt: skip
    return parts


_ITERATED = (
    "mean over all targets; in brackets the share solved within ten thousand iterations. The paper prints "
    "one figure: Quick-IK takes that much fewer iterations than plain transpose; it does not print its step."
)
_DERIVED = (
    "by the formula that simulation meets exactly. IKAcc's cycles are derived, not printed: the paper's "
    "times at its clock over estimates of its iterations, the least of three ways, which favours it."
)
_SOLVED = (
    "chip: its own iterations, word by word, at the stated clock, streams not counted: an estimate. CPU: "
    "measured, one thread. OpenCL: all targets in one launch; PoCL is the CPU itself."
)


def _columns(chains: View) -> list[Html]:
    return [join(number(n, "plain"), " joints") for n in chains]


def _iterations(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    for one in data["methods"]:
        cells = []
        for n in data["chains"]:
            by = one["by_joints"][str(n.value)]
            cells.append(join(number(by["iterations"], "sig3"), " (", number(by["solved"], "percent"), ")"))
        rows.append((words(one["name"]), *cells))
    for key, label in (("fixed_step", "the fixed step"), ("best_step", "Buss's step")):
        cells = [number(f[key], "percent") for f in data["fewer"]]
        rows.append((f"Quick-IK: fewer iterations than {label}", *cells))
    theirs = data["papers"]["fewer"]
    rows.append(
        ("the paper: Quick-IK, fewer iterations", *(number(theirs, "percent") for _ in data["chains"]))
    )
    table = Table(("method", *_columns(data["chains"])), rows, theirs=frozenset([len(rows) - 1]))
    return table.html()


def _speculations(data: View) -> Html:
    series = [
        Series(
            join(number(one["joints"], "plain"), " joints"),
            [(p["speculations"], p["iterations"]) for p in one["points"]],
            k,
        )
        for k, one in enumerate(data["sweep"])
    ]
    drawn = curves(
        "iterations of Quick-IK against speculations",
        series,
        x_label="speculations",
        y_label="iterations",
        log="xy",
    )
    return figure_panels(panel("Quick-IK", drawn))


def _times(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    series = []
    for k, one in enumerate(data["methods"]):
        own = [one["by_joints"][str(n.value)]["seconds"] for n in data["chains"]]
        rows.append((words(one["name"]), *(number(x, "sig3", _MS) for x in own)))
        series.append(Series(words(one["name"]), list(zip(data["chains"], own, strict=True)), k))
    ours = len(rows)
    for k, one in enumerate(data["printed"]):
        own = [one["seconds"][str(n.value)] for n in data["chains"]]
        rows.append((join(words(one["who"]), ", the paper's"), *(number(x, "sig4", _MS) for x in own)))
        spots = list(zip(data["chains"], own, strict=True))
        series.append(Series(join(words(one["who"]), ", theirs"), spots, k, dashed=True))
    drawn = curves(
        "milliseconds of a solve against joints",
        series,
        x_label="joints",
        y_label="ms",
        log="y",
        scales=(1.0, _MS),
    )
    theirs = frozenset(range(ours, len(rows)))
    table = Table(("method", *_columns(data["chains"])), rows, theirs=theirs)
    return join(figure_panels(panel("", drawn)), table.html())


def _cycles(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    for one in data["chips"]:
        if one["where"].value != CHIP:
            continue
        cells = []
        for n in data["chip_chains"]:
            by = one["by_joints"][str(n.value)]
            fewer = number(by["fewer_than_derived"], "times")
            cells.append(join(number(by["cycles"], "whole"), " (", fewer, " fewer)"))
        rows.append((words(one["how"]), *cells))
    derived = [number(data["derived_cycles"][str(n.value)], "whole") for n in data["chip_chains"]]
    rows.append(("IKAcc, derived, favourable", *derived))
    table = Table(("chip", *_columns(data["chip_chains"])), rows, theirs=frozenset([len(rows) - 1]))
    return table.html()


def _solves(data: View) -> Html:
    rows: list[tuple[str, ...]] = []
    for one in data["chips"]:
        own = [one["by_joints"][str(n.value)] for n in data["chip_chains"]]
        cells = [
            join(number(by["seconds"], "sig3", _US), " (", number(by["iterations"], "sig3"), " iterations)")
            for by in own
        ]
        rows.append((join(words(one["where"]), ": ", words(one["how"])), *cells))
    ours = len(rows)
    for one in data["printed"]:
        cells = [number(one["seconds"][str(n.value)], "sig4", _US) for n in data["chip_chains"]]
        rows.append((join(words(one["who"]), ", the paper's"), *cells))
    clock = join("clock of the chip: ", number(data["chip_clock_hz"], "plain", UNITS["MHz"]), " MHz, stated")
    table = Table(("on", *_columns(data["chip_chains"])), rows, theirs=frozenset(range(ours, len(rows))))
    return join(table.html(), Html("<p class='note'>"), clock, Html("</p>"))
