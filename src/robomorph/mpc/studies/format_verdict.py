"""Where the papers' conclusion about number formats holds, in words that the figures of a study make."""

from __future__ import annotations

import math

from robomorph.mpc.studies.format_loops import LoopRun
from robomorph.mpc.studies.formats import FLOAT, FORMS, FormatStudy

# What the papers say suffices: their design, and the least that they found.
PAPERS = {
    "Q16.16": "both papers' design",
    "Q14.6": "20 bits, robomorphic computing",
    "Q12.5": "12 and 5 bits, the papers' other one",
}
_GOOD = 0.01  # of float64's cost
NONE = "none"


def loop_ratio(loops: list[LoopRun], form: str, gradient: str, scenario: str) -> float:
    """The cost of a closed loop over that with float64."""
    costs = {run.gradient: run.cost for run in loops if (run.form, run.scenario) == (form, scenario)}
    exact = costs[FLOAT]
    return costs[gradient] / exact if math.isfinite(exact) else math.nan


def verdict(study: FormatStudy, loops: list[LoopRun]) -> list[str]:
    """A line for each of the papers' formats that was tried, and for the control without a gradient."""
    lines = []
    for form in FORMS:
        for name, words in PAPERS.items():
            if name in study.formats:
                lines.append(f"{form.name}, {name} ({words}): {_told(study, loops, form.name, name)}")
        if NONE in study.formats:
            lines.append(f"{form.name}, no gradient at all: {_told(study, loops, form.name, NONE)}")
    return lines


def _told(study: FormatStudy, loops: list[LoopRun], form: str, gradient: str) -> str:
    parts = []
    for family in study.families:
        ratios = study.ratios(form, gradient, family.name)
        good, worst = sum(ratio <= 1.0 + _GOOD for ratio in ratios), max(ratios)
        if good == len(ratios):
            parts.append(f"{family.name} holds (worst {_more(worst)})")
        else:
            parts.append(f"{family.name} {good} of {len(ratios)} within 1% (worst {_more(worst)})")
    for scenario in dict.fromkeys(run.scenario for run in loops):
        ratio = loop_ratio(loops, form, gradient, scenario)
        parts.append(f"loop {scenario}: {_more(ratio)}")
    return "; ".join(parts)


def _more(ratio: float) -> str:
    if math.isinf(ratio):
        return "fails"
    if abs(ratio - 1.0) < 1e-4:
        return "less than 0.01% off"
    return f"{ratio:.3g} times" if ratio >= 2.0 else f"{100.0 * (ratio - 1.0):+.2g}%"
