"""Every other library the benchmark knows. A new peer is one file with a class and one entry here."""

from __future__ import annotations

from robomorph.bench.peers.adam import Adam
from robomorph.bench.peers.drake import Drake
from robomorph.bench.peers.mujoco import MuJoCo
from robomorph.bench.peers.peer import Peer
from robomorph.bench.peers.pinocchio import Pinocchio

PEERS: tuple[type[Peer], ...] = (Pinocchio, MuJoCo, Drake, Adam)  # the first that is there is the reference
