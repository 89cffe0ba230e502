"""The parts of `robomorph rtl --algorithm quick_ik`, each as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.make import IkChip
from robomorph.accelerators.ik.problems import MODES, Problems, make_problems, mode_speculations
from robomorph.export.ik_chip_vectors import reachable
from robomorph.robot import Robot
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.cycles import cycles_of, period
from robomorph.targets.rtl.ik.definition import Answers, solve
from robomorph.targets.rtl.ik.stream_words import CONVERGED, NEWTON_BIT, RELAXED_BIT, STALLED, STATUS
from robomorph.targets.rtl.simulate import Simulation

Array = npt.NDArray[Any]
_QUIET = 10**12  # cycles: a solve ends by itself, at its cap
_ALONE = 5  # problems that are sent one by one
_MANY = 2_000_000  # cycles from which it pays to have the simulation optimised
_PAUSE = 30  # percent of the cycles in which a stream rests


def chain(chip: IkChip) -> dict[str, Any]:
    """What the chip's chain is."""
    joints, plan = chip.chain.joints, chip.plan
    return {
        "joints": plan.joints,
        "coordinates": plan.coordinates,
        "sliding": sum(joint.slides for joint in joints),
        "coupled": max(plan.joints - plan.coordinates, sum((j.scale, j.shift) != (1.0, 0.0) for j in joints)),
        "limited": int(plan.tables.coordinate_clamped.sum()),
        "names": [joint.name for joint in joints],
        "reach_m": chip.chain.reach,
    }


def words(chip: IkChip) -> dict[str, Any]:
    """Formats of the chip's words, and what they are worth."""
    plan, w = chip.plan, chip.plan.widths
    return {
        "widths": asdict(w),
        "formats": {
            "positions and sines, search units": _format(w.unit, plan.unit_frac),
            "positions and sines, serial unit": _format(w.serial, plan.serial_frac),
            "angles": _format(plan.theta_bits, w.theta) + ", in turns",
            "steps": _format(plan.delta_bits, plan.delta_frac) + ", in turns",
            "J J^T, exact": _format(plan.gram_bits, 2 * plan.serial_frac),
            "squared errors, exact": f"{plan.square_bits} bits without sign",
        },
        "unit_length_m": chip.length,
        "last_place_m": chip.place,
        "declared_error_m": chip.own_error,
        "input_words": plan.input_words,
        "output_words": plan.output_words,
    }


def _format(bits: int, frac: int) -> str:
    return f"Q{bits - frac}.{frac} ({bits} bits)"


def estimates(design: IkDesign, modes: Sequence[str]) -> dict[str, Any]:
    """Cycles by the formula, which simulation has to meet."""
    return {
        "cycles": {mode: asdict(_cycles(design, mode)) for mode in modes},
        "cycles_in_flight": period(design.timing, design.plan.knobs.speculations, design.plan.knobs.problems),
    }


def _cycles(design: IkDesign, mode: str) -> Any:
    tried = mode_speculations(mode, design.plan.knobs)
    bits = MODES[mode]
    return cycles_of(design.timing, tried, newton=bool(bits & NEWTON_BIT), relaxed=bool(bits & RELAXED_BIT))


def simulated(
    robot: Robot,
    design: IkDesign,
    chip: IkChip,
    modes: Sequence[str],
    *,
    states: int,
    tolerance: float,
    cap: int,
) -> dict[str, Any]:
    """Solves in every mode: words, counts, statuses and flags against the definition; cycles against the
    formula, of problems that are sent one by one; the true error by forward kinematics in float64."""
    targets, starts = reachable(robot, chip.chain.frame, states, seed=5)
    asked = [make_problems(chip, mode, targets, starts, tolerance=tolerance, cap=cap) for mode in modes]
    answers = [solve(chip.plan, problems.words) for problems in asked]
    total = sum(
        int(one.iterations.sum()) * _cycles(design, mode).iteration
        for one, mode in zip(answers, modes, strict=True)
    )
    simulation = Simulation(design, optimise=total > _MANY)
    found = {
        problems.mode: _simulated_mode(robot, design, simulation, problems, one)
        for problems, one in zip(asked, answers, strict=True)
    }
    every = found.values()
    return {
        "problems": states,
        "tolerance_m": tolerance,
        "max_iterations": cap,
        "modes": found,
        "exact": all(one["exact"] for one in every),
        "cycles_exact": all(one["cycles_exact"] for one in every),
        "true": all(one["beyond_tolerance"] == 0 and one["beyond_declared"] == 0 for one in every),
    }


def _simulated_mode(
    robot: Robot, design: IkDesign, simulation: Simulation, problems: Problems, answers: Answers
) -> dict[str, Any]:
    few = _likely(answers)
    paused = simulation.run(problems.words, quiet=_QUIET, pause_in=_PAUSE, pause_out=_PAUSE)
    burst = simulation.run(problems.words, quiet=_QUIET)
    alone = simulation.run(problems.words[few], quiet=_QUIET, one_by_one=True)
    runs = [(run, answers.words, answers.overflow) for run in (paused, burst)]
    runs.append((alone, answers.words[few], answers.overflow[few]))
    wrong_words = sum(int(np.count_nonzero(r.words != w)) for r, w, _ in runs)
    wrong_flags = sum(
        int(np.count_nonzero(r.overflow != f)) + int(r.sticky_overflow != bool(f.any())) for r, _, f in runs
    )
    compared = np.flatnonzero(answers.status[few] != STALLED)
    one = _cycles(design, problems.mode)
    formula = one.outside + answers.iterations[few] * one.iteration
    wrong_cycles = int(np.count_nonzero(alone.latency[compared] != formula[compared]))
    return {
        "speculations": problems.speculations,
        "exact": wrong_words == 0 and wrong_flags == 0,
        "wrong_words": wrong_words,
        "wrong_flags": wrong_flags,
        "cycles_exact": wrong_cycles == 0,
        "cycles_compared": len(compared),
        "statuses": {name: int((answers.status == code).sum()) for code, name in STATUS.items()},
        "mean_iterations": float(answers.iterations.mean()),
        "mean_cycles_alone": float(alone.latency.mean()),
        "cycles_per_iteration_in_flight": burst.cycles / max(1, int(answers.iterations.sum())),
        "saturated": int(answers.overflow.sum()),
        **_true_errors(robot, problems, answers),
    }


def _likely(answers: Answers) -> Array:
    """Some problems to be sent one by one: those that do not stall, to which the formula applies, first."""
    return np.argsort(answers.status == STALLED, kind="stable")[:_ALONE]


def _true_errors(robot: Robot, problems: Problems, answers: Answers) -> dict[str, Any]:
    """m, by forward kinematics in float64: of what was solved, and how far from it the chip's errors are."""
    chip, results = problems.chip, answers.words
    places = robot.forward_kinematics(problems.configurations(results), chip.chain.frame)[:, :3, 3]
    true = np.linalg.norm(places - problems.targets, axis=1)
    solved = answers.status == CONVERGED
    off = np.abs(true - problems.distances(results))
    return {
        "solved": int(solved.sum()),
        "worst_true_error_m": float(true[solved].max()) if solved.any() else None,
        "worst_own_error_m": float(off.max()),
        "beyond_declared": int(((off > chip.own_error) & ~answers.overflow).sum()),
        "beyond_tolerance": int((true[solved] > problems.tolerance).sum()),
    }
