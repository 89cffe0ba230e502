"""What an observer evaluates of a robot, with a point mass at a frame whose kilograms are an argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from robomorph.algorithms.inverse_dynamics import RNEA
from robomorph.algorithms.joint_forces import armature_of
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.sweep import State, run
from robomorph.algorithms.tracing import begin
from robomorph.algorithms.tree import Tree
from robomorph.compiler.program import Deferred
from robomorph.compiler.specialise import make_request
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.robot import Robot
from robomorph.runtime.kernel import AnyKernel, Settings
from robomorph.spatial import BodyInertia

_FORWARD = "forward_dynamics"
_WEIGHTLESS = (0.0, 0.0, 0.0)


class ObserverKernels:
    """Of one robot and the frame at which a payload may be; nothing is traced or compiled before it is asked
    for. Vectors are (nv,); seconds and mass (1,).

    - `predict`: q, qd, qdd, tau, seconds, mass -> q, qd, qdd: one step on. The acceleration is that in the
      middle of the step, for which the acceleration before it (qdd) lets guess the speed.
    - `correct`: q, change, mass -> momentum: the mass matrix times a change of speed.
    - `carry`: q, qd, qdd -> torque: what one kilogram at the frame adds to inverse dynamics.
    """

    def __init__(self, robot: Robot, frame: str) -> None:
        self._robot, self._frame = robot, frame
        robot.model.frame_index(frame)

    @cached_property
    def predict(self) -> AnyKernel:
        vectors, numbers = ("q", "qd", "qdd", "tau"), ("seconds", "mass")
        return self._kernel("predict", vectors, numbers, ("q", "qd", "qdd"), self._predict)

    @cached_property
    def correct(self) -> AnyKernel:
        return self._kernel("correct", ("q", "change"), ("mass",), ("momentum",), self._correct)

    @cached_property
    def carry(self) -> AnyKernel:
        return self._kernel("carry", ("q", "qd", "qdd"), (), ("torque",), self._carry)

    def _kernel(
        self,
        name: str,
        vectors: Sequence[str],
        numbers: Sequence[str],
        results: Sequence[str],
        trace: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    ) -> AnyKernel:
        robot = self._robot
        ports = (*(Port(n, (robot.nv,)) for n in vectors), *(Port(n, (1,)) for n in numbers))
        outputs = tuple(Port(n, (robot.nv,)) for n in results)

        def program() -> Program:
            tracer = Tracer()
            made = trace(tracer.inputs(ports))
            shapes = {port.name: port.shape for port in outputs}
            return run_passes(tracer.program(f"observer_{name}", ports, made, shapes), SIMPLIFY)

        key = f"observer {name}|{robot.model.digest}|{self._frame}"
        deferred = Deferred(f"observer_{name}", ports, outputs, program, key)
        return deferred.kernel("cpu", "float64", Settings(1, False, {}))

    # --- programs -----------------------------------------------------------------------------------------

    def _predict(self, given: Mapping[str, Any]) -> dict[str, Any]:
        q, qd, qdd, h = given["q"], given["qd"], given["qdd"], given["seconds"][0]
        half = [x + 0.5 * h * v for x, v in zip(q, qd, strict=True)]
        speed = [v + 0.5 * h * a for v, a in zip(qd, qdd, strict=True)]
        now = self._accelerations({"q": half, "qd": speed, "tau": given["tau"]}, given["mass"][0])
        later = [v + h * a for v, a in zip(qd, now, strict=True)]
        return {"q": [x + 0.5 * h * v for x, v in zip(half, later, strict=True)], "qd": later, "qdd": now}

    def _accelerations(self, values: Mapping[str, Any], mass: Any) -> list[Any]:
        """The formulation that is cheapest without the payload."""
        specialiser, algorithm = self._robot.specialiser, ALGORITHMS[_FORWARD]
        chosen = specialiser.specialise(make_request(self._robot.model, _FORWARD)).formulation
        state = State(self._loaded(specialiser.tree(regroup=True), mass))
        begin(state, algorithm, values, (), None, ())
        run(state, algorithm.formulations[chosen])
        return list(state.whole["qdd"])

    def _correct(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Inverse dynamics at rest, without weight and springs: joints ask for armature alone."""
        whole = self._robot.specialiser.tree(regroup=True)
        links = (replace(link, forces=armature_of(link.forces)) for link in whole.links)
        tree = self._loaded(replace(whole, links=tuple(links)), given["mass"][0])
        rest = [0.0] * self._robot.nv
        values = {"q": given["q"], "qd": rest, "qdd": given["change"]}
        return {"momentum": self._torques(replace(tree, gravity=_WEIGHTLESS), values)}

    def _carry(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Inverse dynamics of a robot that has no other mass."""
        tree = self._robot.specialiser.tree(regroup=False)
        links = (replace(link, inertia=BodyInertia(), forces=()) for link in tree.links)
        bare = replace(tree, links=tuple(links))
        return {"torque": self._torques(self._loaded(bare, 1.0), given)}

    def _torques(self, tree: Tree, values: Mapping[str, Any]) -> list[Any]:
        state = State(tree)
        begin(state, ALGORITHMS["inverse_dynamics"], values, (), None, ())
        run(state, RNEA)
        return list(state.whole["tau"])

    def _loaded(self, tree: Tree, mass: Any) -> Tree:
        """The tree with a point mass at the origin of the frame."""
        body, pose = tree.frames[self._frame]
        if body < 0:
            return tree
        point = pose.inertia_back(BodyInertia(mass))
        links = list(tree.links)
        links[body] = replace(links[body], inertia=links[body].inertia + point)
        return replace(tree, links=tuple(links))
