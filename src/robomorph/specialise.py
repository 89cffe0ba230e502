"""From a model and a request to the one program that answers it.

Internal frames and formulations compete: the one with the fewest traced operations wins for this robot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from robomorph.algorithms.frames import FramePlan, plan_frames
from robomorph.algorithms.registry import ALGORITHMS, Algorithm, trace
from robomorph.algorithms.tree import Tree, build_tree
from robomorph.errors import ArgumentError
from robomorph.ir.program import Program
from robomorph.model.model import Model
from robomorph.model.naming import hint
from robomorph.passes.dce import dce
from robomorph.passes.pipeline import SIMPLIFY, run_passes


@dataclass(frozen=True, slots=True)
class Request:
    """What a kernel shall compute."""

    algorithm: str
    outputs: tuple[str, ...]
    wrench_links: tuple[str, ...] = ()
    frame: str | None = None
    formulation: str | None = None  # None: the cheapest

    @property
    def key(self) -> str:
        return repr((self.algorithm, self.outputs, self.wrench_links, self.frame, self.formulation))


@dataclass(frozen=True, slots=True)
class Specialised:
    """A simplified program, and how it was chosen: traced operations of every candidate."""

    program: Program
    formulation: str
    candidates: dict[str, int]


class Specialiser:
    """Makes programs for one robot; trees are built once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._plan: FramePlan | None = None
        self._trees: dict[bool, Tree] = {}

    def tree(self, *, regroup: bool) -> Tree:
        if regroup not in self._trees:
            self._trees[regroup] = build_tree(self.model, self.plan, regroup=regroup)
        return self._trees[regroup]

    @property
    def plan(self) -> FramePlan:
        if self._plan is None:
            plans = [plan_frames(self.model, fit=fit) for fit in (True, False)]
            self._plan = min(plans, key=self._plan_cost)
        return self._plan

    def _plan_cost(self, plan: FramePlan) -> int:
        tree = build_tree(self.model, plan, regroup=True)
        return dce(trace(ALGORITHMS["inverse_dynamics"], tree, "rnea", outputs=("tau",))).cost()

    def specialise(self, request: Request) -> Specialised:
        """Trace every formulation, keep the cheapest, simplify it."""
        algorithm = ALGORITHMS[request.algorithm]
        tree = self.tree(regroup=algorithm.regroup)
        names = [request.formulation] if request.formulation else list(algorithm.formulations)
        traced = {
            name: dce(
                trace(
                    algorithm,
                    tree,
                    name,
                    outputs=request.outputs,
                    wrench_links=request.wrench_links,
                    frame=request.frame,
                )
            )
            for name in names
        }
        costs = {name: program.cost() for name, program in traced.items()}
        best = min(costs, key=costs.__getitem__)
        return Specialised(run_passes(traced[best], SIMPLIFY), best, costs)


def make_request(
    model: Model,
    algorithm: str,
    *,
    outputs: Sequence[str] | None = None,
    frame: str | None = None,
    f_ext: bool | Sequence[str] = False,
    formulation: str | None = None,
) -> Request:
    """A checked request; every wrong name is answered with the right ones."""
    _require("algorithm", algorithm, ALGORITHMS)
    entry = ALGORITHMS[algorithm]
    chosen = tuple(entry.outputs) if outputs is None else _names(outputs)
    for name in chosen:
        _require(f"output of {algorithm}", name, entry.outputs)
    if not chosen or len(set(chosen)) != len(chosen):
        raise ArgumentError(f"outputs: expected one or more different names, found {chosen!r}")
    if formulation is not None:
        _require(f"formulation of {algorithm}", formulation, entry.formulations)
    links = model.link_names if f_ext is True else () if f_ext is False else _names(f_ext)
    if links and not entry.wrenches:
        raise ArgumentError(f"f_ext: {algorithm} does not take external forces")
    for link in links:
        _require("f_ext link", link, model.link_names)
    _check_frame(model, entry, frame)
    return Request(algorithm, chosen, tuple(links), frame, formulation)


def _check_frame(model: Model, entry: Algorithm, frame: str | None) -> None:
    if entry.frame and frame is None:
        raise ArgumentError(f"frame: {entry.name} is about one frame: name a link or tool frame")
    if not entry.frame and frame is not None:
        raise ArgumentError(f"frame: {entry.name} is not about a single frame, found {frame!r}")
    if frame is not None:
        _require("frame", frame, [f.name for f in model.frames])


def _names(value: Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _require(what: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise ArgumentError(f"{what}: unknown name {name!r}: {hint(str(name), names)}")
