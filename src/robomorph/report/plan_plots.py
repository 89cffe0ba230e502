"""A plan as figures: joints, speeds, torques, centre of mass, constraints with their bounds, the Jacobian."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.report.guard import matplotlib_figure

if TYPE_CHECKING:
    from robomorph.planning import Motion, Plan
    from robomorph.planning.requirements import Requirement

Array = npt.NDArray[np.float64]
_SAMPLES = 400


def draw_plan(plan: Plan, motion: Motion, folder: Path) -> list[Path]:
    """PNG files in a folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "motion": _motion(plan),
        "constraints": _constraints(plan),
        "jacobian": _jacobian(plan, motion),
    }
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130, bbox_inches="tight")
    return paths


def _motion(plan: Plan) -> Any:
    t = np.linspace(0.0, plan.seconds, _SAMPLES)
    limits = plan.robot.limits
    panels = (
        ("joints (rad, m)", plan.q(t)),
        ("speeds, share of the limit", _share(plan.qd(t), limits.velocity)),
        ("torques, share of the limit", _share(plan.tau(t), limits.effort)),
        ("centre of mass (m)", plan.robot.center_of_mass(plan.q(t))),
    )
    figure = matplotlib_figure()(figsize=(8.0, 10.0))
    for k, (title, values) in enumerate(panels):
        axes = figure.add_subplot(len(panels), 1, k + 1)
        axes.plot(t, values, linewidth=0.8)
        axes.set_title(title, fontsize=9)
        if k == len(panels) - 1:
            axes.legend(("x", "y", "z"), fontsize=7)
            axes.set_xlabel("s")
    figure.tight_layout()
    return figure


def _share(values: Array, limit: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.isfinite(limit) & (limit > 0.0), values / limit, 0.0))


def _constraints(plan: Plan) -> Any:
    from robomorph.planning.sampling import Sampler

    sampler = Sampler(plan.robot, plan.requirements)
    figure = matplotlib_figure()(figsize=(8.0, 2.0 * max(1, len(plan.requirements))))
    for k, requirement in enumerate(plan.requirements):
        axes = figure.add_subplot(len(plan.requirements), 1, k + 1)
        begin, end = requirement.window
        t = np.linspace(begin, end, _SAMPLES if end > begin else 1)
        axes.plot(t, _in_band(requirement, sampler.values(k, plan.spline, t)), linewidth=0.8)
        axes.axhspan(0.0, 1.0, alpha=0.12)
        axes.set_xlim(0.0, plan.seconds)
        axes.set_title(f"{requirement.name}: 0 at the lower bound, 1 at the upper", fontsize=8)
    figure.tight_layout()
    return figure


def _in_band(requirement: Requirement, values: Array) -> Array:
    """Values of rows with a bound, 0 at the lower and 1 at the upper; one-sided rows from their bound."""
    columns = []
    for k in requirement.live:
        low, high = float(requirement.lower[k]), float(requirement.upper[k])
        if np.isfinite(low) and np.isfinite(high):
            columns.append((values[:, k] - low) / (high - low) if high > low else values[:, k] - low)
        elif np.isfinite(low):
            columns.append(values[:, k] - low)
        else:
            columns.append(1.0 - (high - values[:, k]))
    return np.stack(columns, axis=-1)


def _jacobian(plan: Plan, motion: Motion) -> Any:
    """Structure and amplitudes (log10), as in the paper's figure 6."""
    from robomorph.planning.evaluate import Evaluator
    from robomorph.planning.jacobian import Jacobian

    assembled = motion.problem(None, "grid" if plan.method == "grid" else "bernstein")
    evaluator = Evaluator(assembled.problem, assembled.functions)
    jacobian = Jacobian(evaluator)
    x = evaluator.variables(plan.control, plan.seconds / assembled.problem.seconds)
    size = np.abs(jacobian.values(x))
    shown = size > 0.0
    figure = matplotlib_figure()(figsize=(9.0, 8.0))
    axes = figure.add_subplot(1, 1, 1)
    points = axes.scatter(
        jacobian.column[shown],
        jacobian.row[shown],
        c=np.log10(size[shown]),
        vmin=-8.0,  # what is below is rounding
        s=0.4,
        marker="s",
        linewidths=0.0,
    )
    axes.set_xlim(0, assembled.problem.variables)
    axes.set_ylim(evaluator.count, 0)
    axes.set_xlabel("variable")
    axes.set_ylabel("row")
    figure.colorbar(points, label="log10 of the amplitude")
    return figure
