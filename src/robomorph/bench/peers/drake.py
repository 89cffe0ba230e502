"""Drake's MultibodyPlant: dynamics in double, gradients by its automatic differentiation scalar."""

from __future__ import annotations

import logging
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

Row = tuple[Any, ...]
Evaluate = Callable[..., Row]


class Drake(DynamicsPeer):
    name = "drake"
    package = "drake"
    modules = ("pydrake.multibody.plant",)

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        start = time.perf_counter()
        logging.getLogger("drake").setLevel(logging.ERROR)
        plant = module("pydrake.multibody.plant").MultibodyPlant(0.0)
        module("pydrake.multibody.parsing").Parser(plant).AddModelsFromString(subject.urdf, "urdf")
        root = subject.robot.link_names[0]
        if root != "world":  # Drake knows a root of that name as its own world
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
        plant.mutable_gravity_field().set_gravity_vector(subject.robot.gravity)
        plant.Finalize()
        self.subject, self.plant, self.context = subject, plant, plant.CreateDefaultContext()
        self.tree = module("pydrake.multibody.tree")
        self.prepared_s = time.perf_counter() - start
        joints = [plant.GetJointByName(name) for name in joints_of_one(subject)]
        positions, velocities = [j.position_start() for j in joints], [j.velocity_start() for j in joints]
        self.order = Order(subject, positions, velocities)

    def contestants(self, function: Function, batch: int) -> list[Contestant]:
        makers: dict[str, tuple[str, Callable[[], Evaluate]]] = {
            "inverse_dynamics": ("CalcInverseDynamics", self._inverse),
            "mass_matrix": ("CalcMassMatrix", self._mass),
            "inverse_dynamics_gradient": ("AutoDiffXd", self._gradient),
        }
        if function.name not in makers:
            return []
        how, make = makers[function.name]
        evaluate = make()
        arguments = self.order.arguments(function, self.subject.states(batch))
        rows: list[Row] = list(zip(*arguments, strict=True))

        def loop(count: int) -> None:
            for row in chain.from_iterable(repeat(rows, count)):
                evaluate(*row)

        def results() -> Results:
            found = zip(*(evaluate(*row) for row in rows), strict=True)
            arrays = {n: np.array(values) for n, values in zip(function.outputs, found, strict=True)}
            return {name: self.order.ours(name, a) for name, a in arrays.items()}

        return [Contestant(self.name, how, loop, batch, results, prepared_s=self.prepared_s)]

    def _inverse(self) -> Evaluate:
        plant, context = self.plant, self.context
        forces = self.tree.MultibodyForces(plant)

        def evaluate(q: Any, v: Any, a: Any) -> Row:
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            plant.CalcForceElementsContribution(context, forces)
            return (plant.CalcInverseDynamics(context, a, forces),)

        return evaluate

    def _mass(self) -> Evaluate:
        plant, context = self.plant, self.context

        def evaluate(q: Any) -> Row:
            plant.SetPositions(context, q)
            return (plant.CalcMassMatrix(context),)

        return evaluate

    def _gradient(self) -> Evaluate:
        autodiff = module("pydrake.autodiffutils")
        scalar, start, gradient = autodiff.AutoDiffXd, autodiff.InitializeAutoDiff, autodiff.ExtractGradient
        plant = self.plant.ToAutoDiffXd()
        context = plant.CreateDefaultContext()
        forces = self.tree.MultibodyForces_[scalar](plant)
        nv = self.subject.nv

        def evaluate(q: Any, v: Any, a: Any) -> Row:
            plant.SetPositionsAndVelocities(context, start(np.concatenate([q, v])).ravel())
            plant.CalcForceElementsContribution(context, forces)
            torques = plant.CalcInverseDynamics(context, np.array([scalar(x) for x in a]), forces)
            both = gradient(torques.reshape(-1, 1))
            return both[:, :nv], both[:, nv:]

        return evaluate
