"""Speculative searches on a simulated chip: positions of one frame, whole solves, every word exact."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.chain import make_chain
from robomorph.accelerators.ik.knobs import make_knobs, read_knobs
from robomorph.accelerators.ik.make import IkChip, make_chip
from robomorph.accelerators.ik.problems import MODES, PATIENCE
from robomorph.errors import ArgumentError
from robomorph.ik.devices import Found
from robomorph.ik.options import FIRST
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.plan import HEADER_OUT
from robomorph.targets.rtl.ik.stream_words import CAP_BITS, CONVERGED, problem_words
from robomorph.targets.rtl.simulate import Run, Simulation
from robomorph.tasks import Position

if TYPE_CHECKING:
    from robomorph.ik.solver import Solver

Array = npt.NDArray[Any]
_QUIET = 10**12  # cycles: a solve ends by itself, at its cap


def make_search(solver: Solver) -> RtlSearch:
    frame = _frame(solver)
    _refuse(solver, frame)
    return RtlSearch(solver, frame)


class RtlSearch:
    """A solver's search on a chip; its simulation is built by the first call. `last_run` tells the cycles."""

    def __init__(self, solver: Solver, frame: str) -> None:
        self.solver = solver
        self.chip = _chip(solver, frame)
        self.last_run: Run | None = None
        self._simulation: Simulation | None = None
        self._lock = threading.Lock()

    def __call__(self, reference: Array, start: Array) -> Found:
        n, most = len(start), min(self.solver.options.max_iterations, (1 << CAP_BITS) - 1)
        if not n:
            return Found(start.copy(), np.zeros(0, np.int32))
        tolerance = _tolerance(self.solver)
        q, words = self._run(reference, start, np.full(n, tolerance), np.full(n, most))
        iterations = words[:, 1]
        # Roundings that add up where they should even out: such problems go on, to a lower threshold.
        true, claimed = self.solver.evaluate(reference, q).position_error, self.chip.distance(words)
        missed = np.flatnonzero((words[:, 0] & 3 == CONVERGED) & (true > tolerance))
        if len(missed):
            lower, left = tolerance - (true - claimed)[missed], most - iterations[missed]
            q[missed], words = self._run(reference[missed], q[missed], lower, left)
            iterations[missed] += words[:, 1]
        return Found(q, iterations.astype(np.int32))

    def _run(self, reference: Array, start: Array, tolerance: Array, most: Array) -> tuple[Array, Array]:
        """Configurations (n, nq) and result words (n, output_words)."""
        words, whole = self.words(reference, start, tolerance, most)
        run = self._simulate(words)
        return self.chip.configurations(run.words[:, HEADER_OUT:], whole, start), run.words

    def _simulate(self, words: Array) -> Run:
        with self._lock:
            if self._simulation is None:
                self._simulation = Simulation(IkDesign(self.chip.plan))
            self.last_run = run = self._simulation.run(words, quiet=_QUIET)
        return run

    def words(self, reference: Array, start: Array, tolerance: Array, most: Array) -> tuple[Array, Array]:
        """Words of problems (n, input_words), and whole turns that are left out of their angles; tolerances
        (n,) in m, at most so many iterations (n,)."""
        options, chip = self.solver.options, self.chip
        target, _ = chip.target_words(reference)
        theta, whole = chip.theta_words(start)
        words = problem_words(
            target,
            np.array([chip.threshold_words(float(x)) for x in tolerance]),
            most,
            MODES[options.rule.name],
            options.speculations.bit_length() - 1,
            PATIENCE,
            _seeds(target, theta, options.seed),
            theta,
        )
        return words, whole


def _seeds(target: Array, theta: Array, seed: int) -> Array:
    """16 bits a problem (n,): of the problem and the caller's seed alone, wherever it stands in a batch."""
    words = np.concatenate([target, theta], axis=1).astype(np.uint64)
    weights = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    own = np.uint64(seed * 0xD1B54A32D192ED03 % 2**64)
    mixed = (words * weights).sum(axis=1) + own
    return np.asarray(mixed >> np.uint64(48)).astype(np.int64)


def _frame(solver: Solver) -> str:
    """The frame whose position is asked for, and nothing else."""
    tasks = solver.layout.tasks
    for task in tasks:
        if type(task) is not Position:
            raise ArgumentError(
                f"target: the chip solves for the position of one frame, found {task.title}: leave it out, "
                'or use on="cpu"'
            )
    if len(tasks) != 1:
        raise ArgumentError(
            f'target: the chip solves for one position, found {len(tasks)}: give one, or use on="cpu"'
        )
    rows = solver.rows
    same = len(set(rows.inverse_tolerance)) == 1 and len(set(rows.group)) == 1
    if set(rows.weights) != {1.0} or not same or not rows.inverse_tolerance[0]:
        raise ArgumentError(
            "target: the chip judges a position by its distance: leave weights and tolerances of single axes "
            'out, or use on="cpu"'
        )
    task = tasks[0]
    assert isinstance(task, Position)
    return task.frame


def _refuse(solver: Solver, frame: str) -> None:
    options = solver.options
    if options.rule.name not in MODES:
        raise ArgumentError(
            f'method: the chip has {", ".join(MODES)}, found "{options.rule.name}": name one of them, or use '
            'on="cpu"'
        )
    if options.choice != FIRST:
        raise ArgumentError('solutions: the chip finds one, from q0: leave `solutions` out, or use on="cpu"')
    if options.starts > 1:
        raise ArgumentError(
            f"starts: the chip starts from q0 alone, found {options.starts}: leave `starts` out, pass other "
            'starts as a batch of q0, or use on="cpu"'
        )
    if options.speculations & (options.speculations - 1) or options.speculations > 1024:
        raise ArgumentError(
            f"speculations: the chip tries a power of two, at most 1024, found {options.speculations}"
        )
    if options.fixed:
        raise ArgumentError(
            f"fixed: the chip moves every joint on the way to {frame!r}, found {', '.join(options.fixed)}: "
            'load the robot with `locked` instead, or use on="cpu"'
        )


def read_chip(given: Mapping[Any, Any]) -> tuple[tuple[str, Any], ...]:
    """Knobs and widths by name, each of its kind; whether they suit the robot is seen later."""
    if "speculations" in given:
        raise ArgumentError("chip: speculations are an option of their own: pass speculations=...")
    return read_knobs(given)


def _chip(solver: Solver, frame: str) -> IkChip:
    widths, knobs = make_knobs({**dict(solver.options.chip), "speculations": solver.options.speculations})
    chip = make_chip(make_chain(solver.robot.model, frame, solver.lower, solver.upper), widths, knobs)
    tolerance = _tolerance(solver)
    if chip.threshold_words(tolerance) < 1:
        raise ArgumentError(
            f"tolerance: this chip's own error may be {chip.own_error:.2g} m, expected more than that, found "
            f"{tolerance:g} m: allow more, give it wider words (chip={{'unit': ..., 'angle': ..., 'serial': "
            '...}), or use on="cpu"'
        )
    return chip


def _tolerance(solver: Solver) -> float:
    """m."""
    value = 1.0 / solver.rows.inverse_tolerance[0]
    return value if math.isfinite(value) else 1e9
