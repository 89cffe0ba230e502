"""Control rate against horizon as figures, with the papers' lines at 250 Hz and 1 kHz."""

from __future__ import annotations

from robomorph.mpc.studies.horizons import ESTIMATE, MEASURED, PUBLISHED, RATES, curves
from robomorph.mpc.studies.rate import RateStudy
from robomorph.report.figures import Curve, Figure, Panel

_FORMS = {MEASURED: "o-", ESTIMATE: "s--", PUBLISHED: ":"}


def rate_figures(study: RateStudy) -> list[Figure]:
    """Rates over horizons, a panel for every robot; round trips over steps if chips were simulated."""
    robots = list(dict.fromkeys(point.robot for point in study.points))
    figures = [Figure("rates", [_rates(study, robot) for robot in robots], (5.2 * len(robots), 4.0))]
    if study.trips:
        figures.append(Figure("round_trips", [_trips(study)], (5.2, 4.0)))
    return figures


def _rates(study: RateStudy, robot: str) -> Panel:
    mine = {who: points for (name, who), points in curves(study.points).items() if name == robot}
    drawn = [
        Curve([p.horizon for p in points], [p.rate for p in points], _label(who, points[0].known), None, form)
        for who, points in mine.items()
        for form in (_FORMS[points[0].known],)
    ]
    ends = [float(p.horizon) for points in mine.values() for p in points]
    lines = [Curve([min(ends), max(ends)], [rate] * 2, f"{rate:g} Hz", "#888888", "-") for rate in RATES]
    title = f"{robot}, {study.iterations} iterations a plan"
    return Panel([*drawn, *lines], title, "steps", "plans a second", log="xy", legend="inside", grid=True)


def _label(who: str, known: str) -> str:
    return who if known == MEASURED else f"{who} ({known})"


def _trips(study: RateStudy) -> Panel:
    drawn = [
        Curve(
            [t.states for t in trip.trips], [t.seconds * 1e6 for t in trip.trips], f"{trip.robot}, {trip.who}"
        )
        for trip in study.trips
    ]
    title = "round trips of gradients, simulated"
    return Panel(drawn, title, "steps", "us", log="xy", legend="inside", grid=True)
