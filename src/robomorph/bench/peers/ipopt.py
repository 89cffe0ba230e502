"""IPOPT as a solver of our problems: the library in CasADi's wheel."""

from __future__ import annotations

from robomorph.bench.peers.peer import Peer


class Ipopt(Peer):
    """Called as `solver="ipopt"`: our functions and derivatives, its steps."""

    name = "ipopt"
    package = "casadi"
    modules = ("casadi",)
