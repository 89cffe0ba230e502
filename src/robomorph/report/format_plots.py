"""Cost against iterations by number format, as the papers' figure 12."""

from __future__ import annotations

from statistics import median

from robomorph.mpc.studies.formats import FLOAT, FORMS, FormatStudy
from robomorph.report.figures import Curve, Figure, Panel

_LEAST = 1e-12  # what is nearer to the best is drawn there


def format_figures(study: FormatStudy) -> list[Figure]:
    """One figure a form, a panel for every family: the median over its problems."""
    return [
        Figure(
            f"formats_{form.name.replace(', ', '_').replace(' ', '_')}",
            [
                _panel(study, form.name, family.name, last=k == len(study.families) - 1)
                for k, family in enumerate(study.families)
            ],
            (4.2 * len(study.families), 3.8),
            title=f"{study.robot}, {form.words}",
            share_y=True,
        )
        for form in FORMS
    ]


def _panel(study: FormatStudy, form: str, family: str, *, last: bool) -> Panel:
    best = {
        run.problem: min(run.costs[-1] for run in study.of(problem=run.problem, gradient=FLOAT))
        for run in study.of(form=form, gradient=FLOAT, family=family)
    }
    steps = range(study.iterations + 1)
    curves = []
    for gradient in study.formats:
        runs = study.of(form=form, gradient=gradient, family=family)
        beyond = [
            median(run.costs[min(k, len(run.costs) - 1)] / best[run.problem] - 1.0 for run in runs)
            for k in steps
        ]
        curves.append(Curve(list(steps), [max(x, _LEAST) for x in beyond], gradient, form="-"))
    return Panel(
        curves,
        family,
        "iterations",
        "cost beyond the best, relative",
        log="y",
        legend="beside" if last else "",
        grid=True,
    )
