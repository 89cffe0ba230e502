"""Pinocchio's wheel, called as its users call it: one state at a time in a Python loop, model and data made
once, states prepared as contiguous vectors. `calls` leaves the results in Pinocchio's data; `calls, copies`
also copies them into arrays of the batch. Its own parallel calls take part where it has them."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import numpy as np

from robomorph.bench.cpus import available_cpus
from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant, Results
from robomorph.bench.peers.dynamics_peer import Array, DynamicsPeer, Order, joints_of_one
from robomorph.bench.peers.peer import PeerError, module
from robomorph.bench.subject import Subject

PINOCCHIO = "pinocchio"
CALLS = "calls"
COPIES = "calls, copies"
PARALLEL = "in parallel"

Row = tuple[Any, ...]
Loop = Callable[[int], None]

# Our function -> Pinocchio's, and where that leaves each output in the data.
_CALLS: dict[str, tuple[str, dict[str, str]]] = {
    "inverse_dynamics": ("rnea", {"tau": "tau"}),
    "mass_matrix": ("crba", {"mass": "M"}),
    "mass_matrix_inverse": ("computeMinverse", {"minv": "Minv"}),
    "forward_dynamics": ("aba", {"qdd": "ddq"}),
    "inverse_dynamics_gradient": (
        "computeRNEADerivatives",
        {"dtau_dq": "dtau_dq", "dtau_dqd": "dtau_dv"},
    ),
    "forward_dynamics_gradient": (
        "computeABADerivatives",
        {"qdd": "ddq", "dqdd_dq": "ddq_dq", "dqdd_dqd": "ddq_dv"},
    ),
}
_IN_PARALLEL = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}


class Pinocchio(DynamicsPeer):
    name = PINOCCHIO
    package = "pin"
    modules = ("pinocchio",)

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        start = time.perf_counter()
        self.pin = module("pinocchio")
        self.subject = subject
        self.model = self.pin.buildModelFromXML(subject.urdf)
        self.model.gravity.linear = subject.robot.gravity
        self.data = self.model.createData()
        self.prepared_s = time.perf_counter() - start
        self.order = self._order()
        self.frame = self.model.getFrameId(subject.frame)

    def _order(self) -> Order:
        names = joints_of_one(self.subject)
        if set(names) != set(self.model.names) - {"universe"}:
            raise PeerError("Pinocchio finds other joints in this file")
        joints = [self.model.joints[self.model.getJointId(name)] for name in names]
        circles = [i for i, joint in enumerate(joints) if joint.nq == 2]
        return Order(self.subject, [j.idx_q for j in joints], [j.idx_v for j in joints], circles)

    def contestants(self, function: Function, batch: int) -> list[Contestant]:
        arguments = self.order.arguments(function, self.subject.states(batch))
        rows: list[Row] = [tuple(np.ascontiguousarray(a[i]) for a in arguments) for i in range(batch)]
        out = self._arrays(function, batch)
        calls, copies = self._loops(function, rows, out)

        def results() -> Results:
            copies(1)
            return {name: self.order.ours(name, a) for name, a in out.items()}

        first = Contestant(PINOCCHIO, CALLS, calls, batch, results, prepared_s=self.prepared_s)
        second = Contestant(PINOCCHIO, COPIES, copies, batch, results, prepared_s=self.prepared_s)
        return [first, second, *self._parallel(function, arguments, batch)]

    def _arrays(self, function: Function, batch: int) -> Results:
        nv = self.model.nv
        shapes = {"tau": (nv,), "qdd": (nv,), "pose": (4, 4), "jacobian": (6, nv)}
        return {name: np.zeros((batch, *shapes.get(name, (nv, nv)))) for name in function.outputs}

    def _loops(self, function: Function, rows: list[Row], out: Results) -> tuple[Loop, Loop]:
        if function.name == "forward_kinematics":
            return self._pose_loops(rows, out["pose"])
        if function.name == "jacobian":
            return self._jacobian_loops(rows, out["jacobian"])
        name, places = _CALLS[function.name]
        call = getattr(self.pin, name)
        into = [(out[ours], theirs) for ours, theirs in places.items()]
        alone = _unary if len(rows[0]) == 1 else _ternary
        model, data = self.model, self.data

        def copies(count: int) -> None:
            for _ in repeat(None, count):
                for i, row in enumerate(rows):
                    call(model, data, *row)
                    for array, attribute in into:
                        array[i] = getattr(data, attribute)

        return alone(call, model, data, rows), copies

    def _pose_loops(self, rows: list[Row], poses: Array) -> tuple[Loop, Loop]:
        model, data, frame = self.model, self.data, self.frame
        forward, update = self.pin.forwardKinematics, self.pin.updateFramePlacement

        def calls(count: int) -> None:
            for (q,) in chain.from_iterable(repeat(rows, count)):
                forward(model, data, q)
                update(model, data, frame)

        def copies(count: int) -> None:
            for _ in repeat(None, count):
                for i, (q,) in enumerate(rows):
                    forward(model, data, q)
                    update(model, data, frame)
                    poses[i] = data.oMf[frame].homogeneous

        return calls, copies

    def _jacobian_loops(self, rows: list[Row], jacobians: Array) -> tuple[Loop, Loop]:
        model, data, frame = self.model, self.data, self.frame
        call, axes = self.pin.computeFrameJacobian, self.pin.LOCAL_WORLD_ALIGNED

        def calls(count: int) -> None:
            for (q,) in chain.from_iterable(repeat(rows, count)):
                call(model, data, q, frame, axes)

        def copies(count: int) -> None:
            for _ in repeat(None, count):
                for i, (q,) in enumerate(rows):
                    jacobians[i] = call(model, data, q, frame, axes)

        return calls, copies

    def _parallel(self, function: Function, arguments: list[Array], batch: int) -> list[Contestant]:
        call = getattr(self.pin, _IN_PARALLEL.get(function.name, ""), None)
        if call is None or batch == 1:
            return []
        # One thread as well: on a busy machine OpenMP's threads wait for each other for milliseconds.
        counts = dict.fromkeys((1, available_cpus()))
        return [self._in_parallel(call, function, arguments, batch, threads) for threads in counts]

    def _in_parallel(
        self, call: Any, function: Function, arguments: list[Array], batch: int, threads: int
    ) -> Contestant:
        pool = self.pin.ModelPool(self.model, threads)
        a, b, c = (np.asfortranarray(x.T) for x in arguments)
        result = np.zeros((self.model.nv, batch), order="F")

        def loop(count: int) -> None:
            for _ in repeat(None, count):
                call(threads, pool, a, b, c, result)

        def results() -> Results:
            return {function.outputs[0]: self.order.ours(function.outputs[0], result.T)}

        return Contestant(PINOCCHIO, PARALLEL, loop, batch, results, threads=threads)


def _unary(call: Any, model: Any, data: Any, rows: list[Row]) -> Loop:
    def loop(count: int) -> None:
        for (a,) in chain.from_iterable(repeat(rows, count)):
            call(model, data, a)

    return loop


def _ternary(call: Any, model: Any, data: Any, rows: list[Row]) -> Loop:
    def loop(count: int) -> None:
        for a, b, c in chain.from_iterable(repeat(rows, count)):
            call(model, data, a, b, c)

    return loop
