"""Every library that is installed: the same states give the same results in our order."""

from __future__ import annotations

import pytest

from robomorph.bench.functions import FAMILY, Function
from robomorph.bench.measuring import relative_error
from robomorph.bench.ours import our_contestant
from robomorph.bench.peers import PEERS
from robomorph.bench.peers.dynamics_peer import DynamicsPeer
from robomorph.bench.subject import Subject

# hyq: its joints come in another order; chain:7: continuous joints, which Pinocchio holds as two numbers
_ROBOTS = ("hyq", "chain:7")


@pytest.fixture(scope="module", params=_ROBOTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return Subject(request.param)


_THEIRS = [peer for peer in PEERS["dynamics"] if issubclass(peer, DynamicsPeer)]


@pytest.mark.parametrize("peer_class", _THEIRS, ids=lambda peer: peer.name)
def test_peers_agree_with_us(peer_class: type[DynamicsPeer], subject: Subject) -> None:
    absent = peer_class.absence()
    if absent is not None:
        pytest.skip(absent)
    peer = peer_class(subject, quick=True)
    compared = [_compare(peer, subject, function) for function in FAMILY]
    assert sum(compared) >= 3, "a peer that computes almost nothing is no peer"


def _compare(peer: DynamicsPeer, subject: Subject, function: Function) -> int:
    ours = our_contestant(subject, function, 3)
    ours.loop(1)
    assert ours.results is not None
    for theirs in peer.contestants(function, 3):
        theirs.loop(1)
        assert theirs.results is not None
        error = relative_error(ours.results(), theirs.results())
        limit = 1e-5 if theirs.how == "finite differences" else 1e-9
        assert error is not None and error < limit, f"{theirs.who} {theirs.how} {function.name}: {error}"
    return len(peer.contestants(function, 3))
