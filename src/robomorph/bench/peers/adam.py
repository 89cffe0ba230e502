"""adam's CasADi back end: expressions of the dynamics, differentiated by CasADi, generated as C and compiled
where a C compiler is found and the function is small enough for it, else run by CasADi's virtual machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant, Results
from robomorph.bench.peers.dynamics_peer import Array, DynamicsPeer, Order, joints_of_one
from robomorph.bench.peers.peer import module
from robomorph.bench.subject import Subject

_MOST_INSTRUCTIONS = 40_000  # a C compiler takes minutes for more


class Adam(DynamicsPeer):
    name = "casadi/adam"
    package = "adam-robotics[casadi]"
    modules = ("casadi", "adam.casadi")

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        self.casadi, self.subject = module("casadi"), subject
        self.compiler = None if quick else shutil.which("gcc") or shutil.which("cc")
        joints = list(joints_of_one(subject))
        gravity = np.concatenate([subject.robot.gravity, np.zeros(3)])
        with _quiet():
            self.dynamics = module("adam.casadi").KinDynComputations(subject.urdf, joints, gravity=gravity)
        n = subject.nv
        self.order = Order(subject, range(n), range(n))
        self.q, self.v, self.a = (self.casadi.SX.sym(name, n) for name in "qva")
        self._made: dict[str, tuple[Any, str, float]] = {}

    def contestants(self, function: Function, batch: int) -> list[Contestant]:
        if function.name not in self._made:
            start = time.perf_counter()
            evaluator, how = self._evaluator(function)
            self._made[function.name] = evaluator, how, time.perf_counter() - start
        evaluator, how, prepared_s = self._made[function.name]
        if evaluator is None:
            return []
        arguments = self.order.arguments(function, self.subject.states(batch))
        return [self._contestant(function, evaluator, how, arguments, prepared_s)]

    def _evaluator(self, function: Function) -> tuple[Any, str]:
        expressions = self._expressions(function.name)
        if not expressions:
            return None, ""
        inputs = [self.q] if len(function.arguments) == 1 else [self.q, self.v, self.a]
        dense = [self.casadi.densify(e) for e in expressions]
        evaluator = self.casadi.Function("f", inputs, dense, {"cse": True})
        if self.compiler is not None and evaluator.n_instructions() <= _MOST_INSTRUCTIONS:
            return self._compiled(evaluator), "generated C"
        return evaluator, "virtual machine"

    def acceleration(self) -> Any:
        """qdd as a casadi.Function of q, qd and tau, to be differentiated in problems: by a solve, which is
        cheaper there than an inverse."""
        cs, base, still = self.casadi, self.casadi.SX.eye(4), self.casadi.SX.zeros(6)
        mass = self.dynamics.mass_matrix(base, self.q)[6:, 6:]
        bias = self.dynamics.bias_force(base, self.q, still, self.v)[6:]
        found = cs.densify(cs.solve(mass, self.a - bias))
        return cs.Function("acceleration", [self.q, self.v, self.a], [found], {"cse": True})

    def _expressions(self, name: str) -> list[Any]:
        cs, base, still = self.casadi, self.casadi.SX.eye(4), self.casadi.SX.zeros(6)
        mass = self.dynamics.mass_matrix(base, self.q)[6:, 6:]
        if name == "mass_matrix":
            return [mass]
        bias = self.dynamics.bias_force(base, self.q, still, self.v)[6:]
        torque = cs.mtimes(mass, self.a) + bias
        gradients = [cs.jacobian(torque, self.q), cs.jacobian(torque, self.v)]
        if name == "inverse_dynamics":
            return [torque]
        if name == "inverse_dynamics_gradient":
            return gradients
        if name not in ("forward_dynamics", "forward_dynamics_gradient"):
            return []
        inverse = cs.inv(mass)
        acceleration = cs.mtimes(inverse, self.a - bias)  # here the third argument is the torque
        if name == "forward_dynamics":
            return [acceleration]
        at = cs.substitute(gradients, [self.a], [acceleration])
        return [acceleration, *(-cs.mtimes(inverse, g) for g in at)]

    def _compiled(self, evaluator: Any) -> Any:
        folder = Path(tempfile.mkdtemp(prefix="robomorph-bench-"))
        before = os.getcwd()
        try:
            os.chdir(folder)  # CasADi writes into the working directory only
            evaluator.generate("f.c")
            os.chdir(before)
            options = ["-O2", "-march=native", "-shared", "-fPIC"]
            command = [str(self.compiler), *options, str(folder / "f.c"), "-o", str(folder / "f.so")]
            subprocess.run(command, check=True, capture_output=True)
            return self.casadi.external("f", str(folder / "f.so"))
        finally:
            os.chdir(before)
            shutil.rmtree(folder, ignore_errors=True)  # the library stays mapped

    def _contestant(
        self, function: Function, evaluator: Any, how: str, arguments: list[Array], prepared_s: float
    ) -> Contestant:
        buffers, trigger = evaluator.buffer()
        slots = [np.zeros(a.shape[1]) for a in arguments]
        sinks = [np.zeros(evaluator.numel_out(i)) for i in range(evaluator.n_out())]
        shapes = [evaluator.size_out(i) for i in range(evaluator.n_out())]
        for i, slot in enumerate(slots):
            buffers.set_arg(i, slot.data)
        for i, sink in enumerate(sinks):
            buffers.set_res(i, sink.data)
        rows = list(zip(*arguments, strict=True))

        def evaluate(row: tuple[Array, ...]) -> None:
            for slot, value in zip(slots, row, strict=True):
                slot[:] = value
            trigger()

        evaluate.__dict__["kept"] = buffers  # `trigger` points into it without owning it

        def loop(count: int) -> None:
            for row in chain.from_iterable(repeat(rows, count)):
                evaluate(row)

        def results() -> Results:
            found: dict[str, list[Array]] = {name: [] for name in function.outputs}
            for row in rows:
                evaluate(row)
                for name, sink, shape in zip(function.outputs, sinks, shapes, strict=True):
                    matrix = sink.reshape(shape, order="F").copy()
                    found[name].append(matrix[:, 0] if name in ("tau", "qdd") else matrix)
            return {name: np.array(arrays) for name, arrays in found.items()}

        return Contestant(self.name, how, loop, len(rows), results, prepared_s=prepared_s)


@contextmanager
def _quiet() -> Iterator[None]:
    """adam prints its model while it reads it."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield
