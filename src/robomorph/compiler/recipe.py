"""From a request about a robot to a recipe, which knows none: all made at most once, when asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from robomorph.algorithms.registry import ALGORITHMS, Algorithm
from robomorph.algorithms.sweep import Sweep
from robomorph.algorithms.tree import model_sizes
from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.compiler.program import measure
from robomorph.compiler.specialise import Request, Specialised, Specialiser
from robomorph.compiler.unit_parts import unit_parts
from robomorph.ir.program import Port, Program
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.runtime.cache import default_cache
from robomorph.runtime.kernel import KernelStats, Recipe

if TYPE_CHECKING:
    from robomorph.targets.fixed_point.function import ChipSource


def robot_recipe(specialiser: Specialiser, request: Request, dtype: str) -> Recipe:
    """The recipe of one algorithm for one robot."""
    cook = _Cook(specialiser, request)
    inputs, outputs = cook.ports()
    return Recipe(
        name=request.name,
        inputs=inputs,
        outputs=outputs,
        dtype=dtype,
        program=cook.program,
        stats=cook.stats,
        key=cook.key,
        units=unit_parts(specialiser.model),
        max_barriers=barrier_limit(len(specialiser.model.bodies)),
        chip=cook.chip,
    )


def barrier_limit(links: int) -> int:
    """At most three barriers per link and ten more: what the thread-group mapping is held to."""
    return 3 * links + 10


class _Cook:
    """Makes what a recipe asks for, each part once."""

    def __init__(self, specialiser: Specialiser, request: Request) -> None:
        self.specialiser, self.request = specialiser, request
        # None: made from code that the fingerprint does not cover, so never kept on disk.
        self.key: str | None = None
        if _is_own(specialiser.model, ALGORITHMS[request.algorithm]):
            self.key = f"{source_fingerprint()}|{specialiser.model.digest}|{request.key}"
        self._made: Specialised | None = None
        self._stats: KernelStats | None = None

    def ports(self) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        algorithm, links = self.request.entry, self.request.wrench_links
        sizes = model_sizes(self.specialiser.model)
        counts = (len(self.request.frames), len(links))
        return (
            algorithm.input_ports(sizes, links, counts[0]),
            tuple(algorithm.output_port(name, sizes, *counts) for name in self.request.results),
        )

    def specialised(self) -> Specialised:
        if self._made is None:
            self._made = self.specialiser.specialise(self.request)
            if self.key is not None:
                default_cache().put(self.key, json.dumps(self._measure(self._made)).encode())
        return self._made

    def program(self) -> Program:
        return self.specialised().program

    def stats(self) -> KernelStats:
        """From the cache if another process has traced this program, else by tracing it."""
        if self._stats is None:
            known = self.key if self._made is None else None
            stored = default_cache().get(known) if known is not None else None
            data = json.loads(stored) if stored else self._measure(self.specialised())
            self._stats = KernelStats(**data)
        return self._stats

    def chip(self) -> ChipSource:
        from robomorph.compiler.chip import RobotChip  # only who builds hardware pays for its import

        return RobotChip(self.specialiser, self.request)

    def _measure(self, made: Specialised) -> dict[str, object]:
        chosen = {"formulation": made.formulation, "candidates": made.candidates}
        return {**measure(made.program), "algorithm": self.request.name, **chosen}


def _is_own(model: Model, algorithm: Algorithm) -> bool:
    """Are the algorithm and the joint types part of robomorph, or were they registered by the user?"""
    modules = [type(JOINT_TYPES[body.kind]).__module__ for body in model.bodies]
    for parts in algorithm.formulations.values():
        modules += [(part.step if isinstance(part, Sweep) else part.work).__module__ for part in parts]
    return all(module.startswith("robomorph.") for module in modules)
