"""From a model and a request to the one program that answers it.

Internal frames and formulations compete: the one with the fewest traced operations wins for this robot.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from robomorph.algorithms.closed_derivatives import CLOSED, closed_forms
from robomorph.algorithms.derived import DERIVATIVES, derived_algorithm
from robomorph.algorithms.frames import FramePlan, plan_frames
from robomorph.algorithms.prefix import shallow_formulations
from robomorph.algorithms.registry import ALGORITHMS, Algorithm, trace
from robomorph.algorithms.tree import Tree, build_tree, model_sizes
from robomorph.compiler.derive import derive
from robomorph.compiler.invertible import random_configurations, require_invertible, require_masses
from robomorph.errors import ArgumentError
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.ir.trace import TraceTooLong
from robomorph.model.model import Model
from robomorph.naming import hint
from robomorph.passes.dce import dce
from robomorph.passes.fuse import fuse
from robomorph.passes.pipeline import SIMPLIFY, run_passes

# A trace this many times as long as the best so far, dead code not yet removed, cannot win.
_ABANDON = 2.0
# Traces within this factor of the shortest are simplified before they are compared.
_CLOSE = 1.15


@dataclass(frozen=True, slots=True)
class Request:
    """What a kernel shall compute."""

    algorithm: str
    outputs: tuple[str, ...]
    wrench_links: tuple[str, ...] = ()
    frame: str | None = None
    formulation: str | None = None  # None: the cheapest
    frames: tuple[str, ...] = ()
    # How many operations can be done at a time; above 1 depth decides beside work.
    parallel: int = 1
    derivative: str | None = None  # of the outputs named: see algorithms/derived.py

    @property
    def key(self) -> str:
        return repr(tuple(getattr(self, field) for field in self.__slots__))

    @property
    def entry(self) -> Algorithm:
        """The algorithm, or its derivative, as an algorithm of its own."""
        entry = ALGORITHMS[self.algorithm]
        if self.derivative is None:
            return entry
        wrenches = bool(self.wrench_links)
        closed = CLOSED.get((self.algorithm, self.derivative))
        return derived_algorithm(entry, self.derivative, self.outputs, wrenches=wrenches, formulations=closed)

    @property
    def name(self) -> str:
        return self.algorithm if self.derivative is None else f"{self.algorithm}_{self.derivative}"

    @property
    def results(self) -> tuple[str, ...]:
        """The names of what is computed: the outputs, or what their derivative gives."""
        return self.outputs if self.derivative is None else tuple(self.entry.outputs)


@dataclass(frozen=True, slots=True)
class Specialised:
    """A simplified program, and how it was chosen: operations of every candidate, simplified if it came
    close to the best (None: its trace was abandoned, being far longer)."""

    program: Program
    formulation: str
    candidates: dict[str, int | None]


class Specialiser:
    """Makes programs for one robot; trees are built once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._plan: FramePlan | None = None
        self._trees: dict[bool, Tree] = {}
        self._invertible = False

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
        """Trace every formulation, simplify those that may win, keep the cheapest."""
        with no_collection():
            self.require_masses(ALGORITHMS[request.algorithm])
            traced = self._trace_all(request)
            least = min(program.cost() for program in traced.values() if program is not None)
            simplified = {
                name: run_passes(program, SIMPLIFY)
                for name, program in traced.items()
                if program is not None and (request.parallel > 1 or program.cost() <= _CLOSE * least)
            }
        best = min(simplified, key=lambda name: _rank(simplified[name], request.parallel))
        costs = {name: None if program is None else program.cost() for name, program in traced.items()}
        costs.update({name: program.cost() for name, program in simplified.items()})
        return Specialised(simplified[best], best, costs)

    def require_masses(self, algorithm: Algorithm) -> None:
        """Refuse, by name, what cannot be answered for want of masses."""
        if algorithm.masses:
            require_masses(self.model, algorithm.name)
        if algorithm.inverts and not self._invertible:
            program = trace(ALGORITHMS["mass_matrix"], self.tree(regroup=True), "crba", outputs=("mass",))
            mass = interpret(dce(program), {"q": random_configurations(self.model)})["mass"]
            require_invertible(self.model, mass, algorithm.name)
            self._invertible = True

    def _trace_all(self, request: Request) -> dict[str, Program | None]:
        traced: dict[str, Program | None] = {}
        limit: int | None = None
        for name in self._formulations(request):
            program = traced[name] = self._trace(request, name, limit)
            if program is not None and request.parallel == 1:
                length = int(_ABANDON * len(program.nodes))
                limit = length if limit is None else min(limit, length)
        return traced

    def _formulations(self, request: Request) -> list[str]:
        algorithm = _algorithm(request)
        tree = self.tree(regroup=algorithm.regroup)
        derivative, wrenches = request.derivative, bool(request.wrench_links)
        closed = (
            {}
            if derivative is None
            else closed_forms(request.algorithm, derivative, wrenches=wrenches, tree=tree)
        )
        names = [*closed, *algorithm.usable_formulations(tree)]
        if request.formulation is None:
            return names
        if request.formulation not in names:
            raise ArgumentError(
                f"formulation: {request.formulation!r} of {request.algorithm} cannot treat mimic joints: "
                f"use one of {', '.join(names)}, or load the robot with mimic=False"
            )
        return [request.formulation]

    def _trace(self, request: Request, formulation: str, limit: int | None) -> Program | None:
        """One formulation without dead code; None if it is certain to lose."""
        algorithm, outputs, kind = _basis(request, formulation)
        try:
            program = trace(
                algorithm,
                self.tree(regroup=algorithm.regroup),
                formulation,
                outputs=outputs,
                wrench_links=request.wrench_links,
                frame=request.frame,
                frames=request.frames,
                limit=limit,
            )
        except TraceTooLong:
            return None
        if kind is None:
            return dce(program)
        simple = run_passes(dce(program), SIMPLIFY)
        sizes, counts = model_sizes(self.model), (len(request.frames), len(request.wrench_links))
        ports = [request.entry.output_port(name, sizes, *counts) for name in request.results]
        try:
            return dce(derive(simple, self.model, kind, request.name, ports, limit))
        except TraceTooLong:
            return None


def _basis(request: Request, formulation: str) -> tuple[Algorithm, tuple[str, ...], str | None]:
    """What is traced, for which results, and what is to be derived from it (None: nothing). A derivative
    without a closed form is made of the algorithm itself, hvp of a closed form of vjp."""
    kind = request.derivative
    wrenches = bool(request.wrench_links)
    if kind is None or formulation not in closed_forms(request.algorithm, kind, wrenches=wrenches):
        return _algorithm(request), request.outputs, kind
    if kind == "hvp":
        vjp = replace(request, derivative="vjp")
        return vjp.entry, vjp.results, "along"
    return request.entry, request.results, None


def _algorithm(request: Request) -> Algorithm:
    """The algorithm, with formulations of little depth where one of them is asked for or may be chosen."""
    entry = ALGORITHMS[request.algorithm]
    shallow = shallow_formulations(entry.name, entry.formulations)
    if request.parallel > 1 or request.formulation in shallow:
        return replace(entry, formulations={**entry.formulations, **shallow})
    return entry


def _rank(program: Program, parallel: int) -> float:
    """Operations; or about how many rounds a group that does so many at a time takes: it seldom keeps up with
    the critical path, which was measured to count twice."""
    if parallel == 1:
        return program.cost()
    fused = fuse(program)
    return 2.0 * fused.depth() + sum(1 for node in fused.nodes if node.args) / parallel


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the cyclic garbage collector: a trace makes a million tuples and no cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def make_request(
    model: Model,
    algorithm: str,
    *,
    outputs: Sequence[str] | None = None,
    frame: str | None = None,
    f_ext: bool | Sequence[str] = False,
    formulation: str | None = None,
    frames: Sequence[str] | None = None,
    derivative: str | None = None,
) -> Request:
    """A checked request; every wrong name is answered with the right ones."""
    _require("algorithm", algorithm, ALGORITHMS)
    entry = ALGORITHMS[algorithm]
    chosen = tuple(entry.outputs) if outputs is None else _names("outputs", outputs)
    for name in chosen:
        _require(f"output of {algorithm}", name, entry.outputs)
    if not chosen or len(set(chosen)) != len(chosen):
        raise ArgumentError(f"outputs: expected one or more different names, found {chosen!r}")
    if derivative is not None:
        _require("derivative", derivative, DERIVATIVES)
    links = model.link_names if f_ext is True else () if f_ext is False else _names("f_ext", f_ext)
    if links and not entry.wrenches:
        raise ArgumentError(f"f_ext: {algorithm} does not take external forces")
    for link in links:
        _require("f_ext link", link, model.link_names)
    _check_frame(model, entry, frame)
    several = _frames(model, entry, frames)
    request = Request(algorithm, chosen, tuple(links), frame, formulation, several, derivative=derivative)
    own = () if derivative is None else closed_forms(algorithm, derivative, wrenches=bool(links))
    if formulation is not None:
        known = [*own, *entry.formulations, *shallow_formulations(algorithm, entry.formulations)]
        _require(f"formulation of {request.name}", formulation, known)
    return request


def _frames(model: Model, entry: Algorithm, frames: Sequence[str] | None) -> tuple[str, ...]:
    if entry.frames != (frames is not None):
        found = "none" if frames is None else repr(frames)
        wanted = "a list of links or tool frames" if entry.frames else "none"
        raise ArgumentError(f"frames: {entry.name} expects {wanted}, found {found}")
    named = () if frames is None else _names("frames", frames)
    for name in named:
        _require("frames", name, [f.name for f in model.frames])
    return named


def _check_frame(model: Model, entry: Algorithm, frame: str | None) -> None:
    if entry.frame and frame is None:
        raise ArgumentError(f"frame: {entry.name} is about one frame: name a link or tool frame")
    if not entry.frame and frame is not None:
        raise ArgumentError(f"frame: {entry.name} is not about a single frame, found {frame!r}")
    if frame is not None and not isinstance(frame, str):
        raise ArgumentError(f"frame: expected the name of a link or tool frame, found {frame!r}")
    if frame is not None:
        _require("frame", frame, [f.name for f in model.frames])


def _names(argument: str, value: Sequence[str]) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{argument}: expected names, found {value!r}")
    return names


def _require(what: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise ArgumentError(f"{what}: unknown name {name!r}: {hint(str(name), names)}")
