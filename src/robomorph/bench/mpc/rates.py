"""Peers' times of iterations over horizons, for `robomorph mpc rate`."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.mpc.problems import reach
from robomorph.bench.peers.control_peer import ControlPeer
from robomorph.bench.peers.crocoddyl import Crocoddyl, MimSolvers
from robomorph.mpc.studies.horizons import MEASURED, RatePoint

PEERS: tuple[type[ControlPeer], ...] = (Crocoddyl, MimSolvers)
_HORIZONS = 64  # longer ones would take peers too long, and their times grow with the horizon alone
_TIMED = 2  # iterations of a run: no reach is solved in fewer
_ROUNDS = 5


def peers_found() -> list[type[ControlPeer]]:
    """Those that can be run here; problems are written down by means of Pinocchio."""
    if find_spec("pinocchio") is None:
        return []
    return [peer for peer in PEERS if peer.absence() is None]


def peer_points(
    name: str,
    source: str,
    horizons: Sequence[int],
    iterations: int,
    tell: Callable[[str], None] = lambda _: None,
) -> list[RatePoint]:
    """What plans of so many iterations of a joint reach take the peers found, by their CPU time."""
    chosen, found = [n for n in horizons if n <= _HORIZONS], peers_found()
    if not chosen or not found:
        return []
    problems = ProblemSet("reaches", tuple(reach(source, 0, horizon) for horizon in chosen))
    made = []
    for peer in found:
        tell(f"{name}: {peer.title}")
        with peer.start(problems) as solver:
            for k, horizon in enumerate(chosen):
                _, cpu = solver.time([(k, _TIMED)] * _ROUNDS)
                seconds = statistics.median(cpu) / _TIMED * iterations
                made.append(RatePoint(name, peer.title, horizon, seconds, iterations, MEASURED))
    return made
