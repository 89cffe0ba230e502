"""MuJoCo through its Python bindings: dynamics by its smooth pipeline, gradients by its own finite
differences (it has no analytical ones). Contacts, limits, damping and friction are switched off."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import numpy as np

from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant, Results
from robomorph.bench.peers.dynamics_peer import DynamicsPeer, Order, joints_of_one
from robomorph.bench.peers.peer import module
from robomorph.bench.subject import Subject

_STEP = 1e-6  # of the finite differences, as in MuJoCo's own examples

Row = tuple[Any, ...]


class MuJoCo(DynamicsPeer):
    name = "mujoco"
    package = "mujoco"
    modules = ("mujoco",)

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        start = time.perf_counter()
        self.mujoco = module("mujoco")
        self.subject = subject
        self.model = self.mujoco.MjModel.from_xml_string(subject.urdf)
        off = self.mujoco.mjtDisableBit
        self.model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_CONTACT)
        self.model.opt.gravity[:] = subject.robot.gravity
        self.model.dof_damping[:] = 0.0
        self.model.dof_frictionloss[:] = 0.0
        self.data = self.mujoco.MjData(self.model)
        self.prepared_s = time.perf_counter() - start
        joints = [self.model.joint(name) for name in joints_of_one(subject)]
        self.order = Order(subject, [int(j.qposadr[0]) for j in joints], [int(j.dofadr[0]) for j in joints])

    def contestants(self, function: Function, batch: int) -> list[Contestant]:
        makers: dict[str, tuple[str, Callable[[], tuple[Callable[[Row], None], Callable[[], Row]]]]] = {
            "inverse_dynamics": ("mj_inverse", self._inverse),
            "forward_dynamics": ("mj_forward", self._forward),
            "inverse_dynamics_gradient": ("finite differences", self._differences),
        }
        if function.name not in makers:
            return []
        how, make = makers[function.name]
        evaluate, read = make()
        arguments = self.order.arguments(function, self.subject.states(batch))
        rows: list[Row] = list(zip(*arguments, strict=True))

        def loop(count: int) -> None:
            for row in chain.from_iterable(repeat(rows, count)):
                evaluate(row)

        def results() -> Results:
            found: dict[str, list[Any]] = {name: [] for name in function.outputs}
            for row in rows:
                evaluate(row)
                for name, value in zip(function.outputs, read(), strict=True):
                    found[name].append(np.array(value))
            return {name: self.order.ours(name, np.array(a)) for name, a in found.items()}

        return [Contestant(self.name, how, loop, batch, results, prepared_s=self.prepared_s)]

    def _inverse(self) -> tuple[Callable[[Row], None], Callable[[], Row]]:
        model, data, call = self.model, self.data, self.mujoco.mj_inverse

        def evaluate(row: Row) -> None:
            data.qpos[:], data.qvel[:], data.qacc[:] = row
            call(model, data)

        return evaluate, lambda: (data.qfrc_inverse,)

    def _forward(self) -> tuple[Callable[[Row], None], Callable[[], Row]]:
        model, data, call = self.model, self.data, self.mujoco.mj_forward

        def evaluate(row: Row) -> None:
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = row
            call(model, data)

        return evaluate, lambda: (data.qacc,)

    def _differences(self) -> tuple[Callable[[Row], None], Callable[[], Row]]:
        model, data, call = self.model, self.data, self.mujoco.mjd_inverseFD
        by_q, by_v = np.zeros((model.nv, model.nv)), np.zeros((model.nv, model.nv))

        def evaluate(row: Row) -> None:
            data.qpos[:], data.qvel[:], data.qacc[:] = row
            call(model, data, _STEP, False, by_q, by_v, None, None, None, None, None)

        return evaluate, lambda: (by_q.T, by_v.T)  # MuJoCo has one column per force
