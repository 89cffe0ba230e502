"""Every other library the benchmark knows, by group of sections. A new peer is one file with a class and one
entry here."""

from __future__ import annotations

from robomorph.bench.peers.adam import Adam
from robomorph.bench.peers.crocoddyl import Crocoddyl, CrocoddylBox, MimSolvers
from robomorph.bench.peers.drake import Drake
from robomorph.bench.peers.drake_trajectory import DrakeTrajectory
from robomorph.bench.peers.fatrop import Fatrop
from robomorph.bench.peers.ipopt import Ipopt
from robomorph.bench.peers.kdl import Kdl
from robomorph.bench.peers.mujoco import MuJoCo
from robomorph.bench.peers.peer import Peer
from robomorph.bench.peers.pink import Pink
from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.peers.toppra import Toppra
from robomorph.bench.peers.trac_ik import TracIk

PEERS: dict[str, tuple[type[Peer], ...]] = {
    "dynamics": (Pinocchio, MuJoCo, Drake, Adam),  # the first that is there is the reference
    "ik": (Kdl, TracIk, Pink),
    "planning": (Ipopt, Toppra, DrakeTrajectory),
    "mpc": (Crocoddyl, CrocoddylBox, MimSolvers, Fatrop),
    "viewer": (),
    "interop": (Pinocchio, MuJoCo, Adam, Ipopt),
}
