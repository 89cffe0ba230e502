"""`integrate` and `difference` of a robot: calls for every joint, by its manifold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robomorph.ir.program import Port
from robomorph.targets.cpp.package import Array, JointPlace, Routine

# The structure in support/manifold.hpp that moves a joint, by its manifold in `robomorph.model.manifolds`. A
# new manifold is one structure there and one entry here.
MOVES = {"Flat": "Line", "SE2": "Plane", "SE3": "Free", "SO3": "Ball"}
_NOTES = {
    "q": "coordinates, rad or m",
    "q0": "coordinates to start from",
    "q1": "coordinates to reach",
    "dq": "step in the tangent space: a velocity, kept for one second",
    "result": "coordinates reached",
}


def unknown_kinds(places: Sequence[JointPlace]) -> str:
    """Why there can be no `integrate` and `difference`; empty if there can."""
    unknown = [f"{place.name!r} ({place.kind})" for place in places if place.manifold not in MOVES]
    return f"no C++ code moves the joints {', '.join(unknown)}" if unknown else ""


def manifold_routines(nq: int, nv: int, reference: Mapping[str, Array]) -> tuple[Routine, ...]:
    """Both; `reference` has states q, dq with the result of `integrate`, and q0, q1 with their difference
    under "difference"."""
    q, dq, result = Port("q", (nq,)), Port("dq", (nv,)), Port("result", (nq,))
    q0, q1 = Port("q0", (nq,)), Port("q1", (nq,))
    return (
        Routine(
            "integrate",
            "The coordinates reached from q by a step in the tangent space.",
            (q, dq),
            (result,),
            _NOTES,
            {name: reference[name] for name in ("q", "dq", "result")},
        ),
        Routine(
            "difference",
            "The step that leads from q0 to q1; turns take the shorter way.",
            (q0, q1),
            (dq,),
            _NOTES,
            {"q0": reference["q0"], "q1": reference["q1"], "dq": reference["difference"]},
        ),
    )


def cpp_calls(places: Sequence[JointPlace]) -> tuple[str, str]:
    """The bodies of both functions."""
    calls = [call for place in places for call in _moves(place)]
    into = [f"{kind}::integrate(q + {q}, dq + {v}, result + {q});" for kind, q, v in calls]
    back = [f"{kind}::difference(q0 + {q}, q1 + {q}, dq + {v});" for kind, q, v in calls]
    return "\n".join(into), "\n".join(back)


def _moves(place: JointPlace) -> list[tuple[str, int, int]]:
    """Structure and places in q and qd: one call, or one for each coordinate that simply adds."""
    calls = place.size if place.manifold == "Flat" else 1
    return [(f"  robomorph::{MOVES[place.manifold]}", place.q + k, place.v + k) for k in range(calls)]
