"""One step in time, and its derivatives: what a discrete model of the robot is made of.

Semi-implicit Euler on the manifold: v' = v + h a, q' = q moved by h v'. Where joints have drag of their own
(damping, friction of `passive=True`), the accelerations are those of the drag at the speed after the step,
(M + h D) a = tau - bias with force = D v for the drag, as MuJoCo's Euler integrator has it: stable however
stiff. `semi_implicit_step` takes drag at the speed before the step like all other forces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from robomorph.algorithms.algorithm import BY_STATE, CONFIGURATION, Algorithm, Parts, Shape
from robomorph.algorithms.articulated import ARTICULATED
from robomorph.algorithms.forward_dynamics import FORWARD
from robomorph.algorithms.gradients import FORWARD_DYNAMICS_GRADIENT
from robomorph.algorithms.joint_forces import ImplicitDrag
from robomorph.algorithms.sweep import Stage, State
from robomorph.algorithms.tree import TreeLink
from robomorph.errors import ArgumentError
from robomorph.model.manifolds.advance import Rows, Step, identity, plus, times
from robomorph.spatial import Scalar

SECONDS = "dt"
_DOUBLE: Shape = ("2nv", "2nv")
_TALL: Shape = ("2nv", "nv")


def _soften(state: State) -> None:
    """Joints with drag get what it adds over the step as one more force of their own."""
    (seconds,) = state.whole[SECONDS]
    links = []
    for link in state.tree.links:
        more = [
            ImplicitDrag(force, seconds)
            for force in link.forces
            if force.drag(link.joint, state.fields["qd", link.index]) is not None
        ]
        links.append(replace(link, forces=(*link.forces, *more)) if more else link)
    state.tree = replace(state.tree, links=tuple(links))


def _steps(state: State) -> Iterator[tuple[TreeLink, Step]]:
    """Every joint with coordinates of its own, in the user's order, and its state before the step."""
    whole, done = state.whole, set()
    (seconds,) = whole[SECONDS]
    for link in sorted(state.tree.links, key=lambda link: link.v_start):
        if link.v_start not in done:  # what follows a joint has its coordinates
            done.add(link.v_start)
            place = slice(link.q_start, link.q_start + link.joint.nq)
            rates = slice(link.v_start, link.v_start + link.joint.nv)
            yield (
                link,
                Step(whole["q_in"][place], whole["qd_in"][rates], whole["qdd"][rates], seconds),
            )


def _advance(state: State) -> None:
    places: list[Scalar] = []
    rates: list[Scalar] = []
    for link, step in _steps(state):
        place, rate = link.joint.advance(step)
        places += place
        rates += rate
    state.whole["q_next"], state.whole["qd_next"] = places, rates


def _advance_slopes(state: State) -> None:
    """Accelerations depend on everything; what else a step does stays within each joint."""
    n, whole = state.tree.nv, state.whole
    upper: dict[str, Rows] = {"A": [], "B": []}
    lower: dict[str, Rows] = {"A": [], "B": []}
    for link, step in _steps(state):
        slopes = link.joint.advance_slopes(step)
        here = slice(link.v_start, link.v_start + link.joint.nv)
        by_all: Any = [[*q, *v] for q, v in zip(whole["dqdd_dq"][here], whole["dqdd_dqd"][here], strict=True)]
        by_tau = whole["minv"][here]
        own = _placed(slopes.place_by_place, slopes.place_by_rate, link, n)
        upper["A"] += plus(own, times(slopes.place_by_acceleration, by_all))
        upper["B"] += times(slopes.place_by_acceleration, by_tau)
        still = identity(link.joint.nv, 0.0)
        lower["A"] += plus(
            _placed(still, slopes.rate_by_rate, link, n), times(slopes.rate_by_acceleration, by_all)
        )
        lower["B"] += times(slopes.rate_by_acceleration, by_tau)
    whole["A"], whole["B"] = upper["A"] + lower["A"], upper["B"] + lower["B"]


def _placed(by_place: Rows, by_rate: Rows, link: TreeLink, nv: int) -> Rows:
    """Rows (its nv, 2 nv) of a joint's own derivatives, among those by everything."""
    before, after = [0.0] * link.v_start, [0.0] * (nv - link.v_start - link.joint.nv)
    return [[*before, *p, *after, *before, *r, *after] for p, r in zip(by_place, by_rate, strict=True)]


_SOFTEN = Stage("implicit drag", _soften)
_ADVANCE = Stage("advance", _advance)
_SLOPES = Stage("slopes of the step", _advance_slopes)
_FORWARD: dict[str, Parts] = {"crba+ltl": FORWARD, "aba": ARTICULATED}
_RULE = "Semi-implicit Euler: the rates after the step move the coordinates."


def _step(name: str, first: Parts, how: str, *, implicit: bool) -> Algorithm:
    return Algorithm(
        name,
        inputs=("q", "qd", "tau"),
        outputs={"q_next": CONFIGURATION, "qd_next": ("nv",)},
        formulations={key: (*first, *parts, _ADVANCE) for key, parts in _FORWARD.items()},
        wrenches=True,
        inverts=True,
        needs_free_joints=frozenset({"aba"}),
        parameters={SECONDS: ()},
        title=f"One step in time. {_RULE} {how}",
        notes={
            SECONDS: "length of the step, s",
            "q_next": "coordinates after the step, rad or m",
            "qd_next": "velocities after it, rad/s or m/s",
        },
        doc="Named tuple (q_next, qd_next) after a step.",
        textbook=lambda known: known.step(implicit=implicit),
    )


def _step_gradient(name: str, of: Algorithm, first: Parts, how: str) -> Algorithm:
    return Algorithm(
        name,
        inputs=("q", "qd", "tau"),
        outputs={"A": _DOUBLE, "B": _TALL},
        formulations={
            key: (*first, *parts, _SLOPES) for key, parts in FORWARD_DYNAMICS_GRADIENT.formulations.items()
        },
        wrenches=True,
        inverts=True,
        parameters={SECONDS: ()},
        title=f"Derivatives of one step in time. {_RULE} {how}",
        notes={
            SECONDS: "length of the step, s",
            "A": "[i][j] = d (place, rates) after the step / d (place, rates) before it, in tangent spaces",
            "B": "[i][j] = d (place, rates) after the step / d tau_j",
        },
        doc="Named tuple (A, B): derivatives of a step by the state and by tau.",
        derivatives={"A": (of.name, BY_STATE), "B": (of.name, "tau")},
    )


_IMPLICIT = "Damping and friction of joints, where they count, are taken at the speed after it."
_EXPLICIT = "Damping and friction of joints, where they count, are taken at the speed before it."
STEP = _step("step", (_SOFTEN,), _IMPLICIT, implicit=True)
STEP_GRADIENT = _step_gradient("step_gradient", STEP, (_SOFTEN,), _IMPLICIT)
SEMI_IMPLICIT_STEP = _step("semi_implicit_step", (), _EXPLICIT, implicit=False)
SEMI_IMPLICIT_STEP_GRADIENT = _step_gradient("semi_implicit_step_gradient", SEMI_IMPLICIT_STEP, (), _EXPLICIT)

INTEGRATORS = {"implicit": "", "semi-implicit": "semi_implicit_"}


def step_named(name: str, integrator: str) -> str:
    """The algorithm "step" or "step_gradient" by an integrator of `INTEGRATORS`."""
    if not isinstance(integrator, str) or integrator not in INTEGRATORS:
        raise ArgumentError(f"integrator: expected one of {', '.join(INTEGRATORS)}, found {integrator!r}")
    return INTEGRATORS[integrator] + name
