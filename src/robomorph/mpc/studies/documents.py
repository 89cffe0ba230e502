"""Studies as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from robomorph.mpc.studies.format_loops import LoopRun
from robomorph.mpc.studies.format_verdict import verdict
from robomorph.mpc.studies.formats import FORMS, FormatStudy
from robomorph.mpc.studies.horizons import RATES, curves, longest
from robomorph.mpc.studies.rate import RateStudy


def rate_data(study: RateStudy) -> dict[str, Any]:
    """The study as plain data."""
    return {
        "iterations": study.iterations,
        "points": [
            {
                "robot": p.robot,
                "who": p.who,
                "horizon": p.horizon,
                "seconds": p.seconds,
                "rate_hz": p.rate,
                "known": p.known,
            }
            for p in study.points
        ],
        "horizons": [
            {
                "robot": robot,
                "who": who,
                "known": points[0].known,
                **{f"at_{rate:.0f}_hz": longest(points, rate)[0] for rate in RATES},
                "curve_ends": [rate for rate in RATES if longest(points, rate)[1]],
            }
            for (robot, who), points in curves(study.points).items()
        ],
        "round_trips": [
            {
                "robot": trip.robot,
                "who": trip.who,
                "pipelines": trip.pipelines,
                "multipliers": trip.multipliers,
                "interval_cycles": trip.interval,
                "clock_hz": trip.clock,
                "bandwidth": trip.link.bandwidth,
                "latency_s": trip.link.latency,
                "trips": [
                    {"states": t.states, "cycles": t.cycles, "seconds": t.seconds, "link_s": t.link_seconds}
                    for t in trip.trips
                ],
            }
            for trip in study.trips
        ],
    }


def format_data(study: FormatStudy, loops: list[LoopRun]) -> dict[str, Any]:
    """The study as plain data."""
    return {
        "robot": study.robot,
        "horizon": study.horizon,
        "iterations": study.iterations,
        "forms": {form.name: form.words for form in FORMS},
        "families": {family.name: family.words for family in study.families},
        "runs": [asdict(run) for run in study.runs],
        "loops": [asdict(run) for run in loops],
        "verdict": verdict(study, loops),
    }
