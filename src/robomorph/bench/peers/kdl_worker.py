"""Solves problems with KDL and times them, in an interpreter that may know nothing of robomorph.

usage: python kdl_worker.py TASK.npz RESULT.npz
A task holds the chain (joint types, axes, tips), limits, targets (n, 12), starts (n, joints) and settings.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import PyKDL  # type: ignore[import-not-found,unused-ignore]


def frame(numbers: Any) -> Any:
    """A KDL frame from position (3) and rotation, row by row (9)."""
    rotation = PyKDL.Rotation(*(float(x) for x in numbers[3:12]))
    return PyKDL.Frame(rotation, PyKDL.Vector(*(float(x) for x in numbers[:3])))


def make_chain(task: Any) -> Any:
    """The base as a fixed segment if it is not at the origin, then one segment a joint."""
    chain = PyKDL.Chain()
    if not np.array_equal(task["base"], [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]):
        chain.addSegment(PyKDL.Segment(PyKDL.Joint(PyKDL.Joint.Fixed), frame(task["base"])))
    names = (("RotX", (1, 0, 0)), ("RotY", (0, 1, 0)), ("RotZ", (0, 0, 1)))
    plain = {(0, axis): getattr(PyKDL.Joint, name) for name, axis in names}
    for slides, axis, tip in zip(task["slides"], task["axes"], task["tips"], strict=True):
        kind = plain.get((int(slides), tuple(axis)))
        if kind is not None:
            joint = PyKDL.Joint(kind)
        else:
            general = PyKDL.Joint.TransAxis if slides else PyKDL.Joint.RotAxis
            joint = PyKDL.Joint(PyKDL.Vector(0, 0, 0), PyKDL.Vector(*(float(x) for x in axis)), general)
        chain.addSegment(PyKDL.Segment(joint, frame(tip)))
    return chain


def joint_array(values: Any) -> Any:
    out = PyKDL.JntArray(len(values))
    for k, value in enumerate(values):
        out[k] = float(value)
    return out


class PositionNewton:
    """Newton's steps for a position alone, each by KDL's weighted SVD (ChainIkSolverVel_wdls); orientation
    has weight 0. KDL's own loop over such steps always asks for a whole pose, so the loop is here; `seconds`
    counts KDL's calls in it and nothing else."""

    # Without damping the singular values of the rows with weight 0 are divided by: 0 / 0.
    DAMPING = 1e-6

    def __init__(self, chain: Any, forward: Any, weights: Any, tolerance: float, iterations: int) -> None:
        self.forward, self.tolerance, self.iterations = forward, tolerance, iterations
        self.velocity = PyKDL.ChainIkSolverVel_wdls(chain)
        self.velocity.setWeightTS(np.diag(weights))
        self.velocity.setLambda(self.DAMPING)
        self.frame = PyKDL.Frame()
        self.step = PyKDL.JntArray(chain.getNrOfJoints())
        self.seconds = 0.0

    def CartToJnt(self, start: Any, goal: Any, out: Any) -> int:
        """As KDL's solvers: a negative code if it did not converge."""
        self.seconds = 0.0
        nowhere = PyKDL.Vector(0.0, 0.0, 0.0)
        for k in range(out.rows()):
            out[k] = start[k]
        for _ in range(self.iterations + 1):
            begin = time.perf_counter()
            self.forward.JntToCart(out, self.frame)
            way = goal.p - self.frame.p
            close = way.Norm() <= self.tolerance
            if not close:
                self.velocity.CartToJnt(out, PyKDL.Twist(way, nowhere), self.step)
                PyKDL.Add(out, self.step, out)
            self.seconds += time.perf_counter() - begin
            if close:
                return 0
        return -1


class Search:
    """KDL's solver with restarts: every answer is brought inside the limits by whole turns, or refused."""

    def __init__(self, task: Any) -> None:
        self.chain = make_chain(task)
        self.lower, self.upper = task["lower"], task["upper"]
        self.n = len(self.lower)
        tolerance, weights = float(task["tolerance"]), task["weights"]
        self.forward = PyKDL.ChainFkSolverPos_recursive(self.chain)
        if str(task["solver"]) == "lma":
            self.solver = PyKDL.ChainIkSolverPos_LMA(
                self.chain, weights, tolerance, int(task["iterations"]), 1e-15
            )
        elif str(task["solver"]) == "svd":
            self.solver = PositionNewton(
                self.chain, self.forward, weights, tolerance, int(task["iterations"])
            )
        else:
            self.velocity = PyKDL.ChainIkSolverVel_pinv(self.chain)
            self.solver = PyKDL.ChainIkSolverPos_NR(
                self.chain, self.forward, self.velocity, int(task["iterations"]), tolerance
            )
        # LMA judges the weighted error; with weights of one it is the length of the twist.
        self.free = ~np.isfinite(self.lower) & ~np.isfinite(self.upper)
        self.out = PyKDL.JntArray(self.n)
        self.seconds = 0.0

    def once(self, start: Any, goal: Any) -> Any:
        """One call; the answer inside the limits, or None."""
        given = joint_array(start)
        begin = time.perf_counter()
        code = self.solver.CartToJnt(given, goal, self.out)
        whole = time.perf_counter() - begin  # KDL's own time: none of what this script adds
        self.seconds += getattr(self.solver, "seconds", whole)
        if code < 0:
            return None
        q = np.array([self.out[k] for k in range(self.n)])
        turns = 2.0 * np.pi
        low = np.where(self.free, -np.inf, self.lower)
        q = np.where(q > self.upper, q - turns * np.ceil((q - self.upper) / turns), q)
        q = np.where(q < low, q + turns * np.ceil((low - q) / turns), q)
        return q if np.all(q >= low) and np.all(q <= self.upper) else None


def random_start(rng: np.random.Generator, search: Search) -> Any:
    low = np.where(np.isfinite(search.lower), search.lower, -np.pi)
    high = np.where(np.isfinite(search.upper), search.upper, np.pi)
    return rng.uniform(low, high)


def solve(
    search: Search, start: Any, goal: Any, restarts: int, best_of: bool, rng: np.random.Generator
) -> Any:
    """The first answer of at most `restarts` starts, or with `best_of` the nearest to the start of all."""
    found: Any = None
    distance = float("inf")
    for k in range(restarts):
        q = search.once(start if k == 0 else random_start(rng, search), goal)
        if q is None:
            continue
        if not best_of:
            return q
        if np.linalg.norm(q - start) < distance:
            found, distance = q, float(np.linalg.norm(q - start))
    return found


def main() -> None:
    task = np.load(sys.argv[1])
    search = Search(task)
    rng = np.random.default_rng(int(task["seed"]))
    goals = [frame(numbers) for numbers in task["targets"]]
    answers, seconds = [], []
    for goal, start in zip(goals, task["starts"], strict=True):
        took = []
        for _ in range(int(task["repeats"])):
            search.seconds = 0.0
            q = solve(search, start, goal, int(task["restarts"]), bool(task["best_of"]), rng)
            took.append(search.seconds)
        answers.append(np.full(search.n, np.nan) if q is None else q)
        seconds.append(took)
    np.savez(sys.argv[2], q=np.array(answers), seconds=np.array(seconds).T)


if __name__ == "__main__":
    main()
