"""The product -M^-1 dtau as invocations of one step: a row of M^-1 times a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.tree import Tree
from robomorph.ir.program import Port
from robomorph.ir.record import Recorded, Recorder

# Columns with at least this share of entries that are not zero use the whole rows of M^-1, so that one unit
# serves them all; sparser ones (branched robots') only what they need.
_DENSE = 0.75


def link_depths(tree: Tree) -> list[int]:
    """For every link, the links between it and the world."""
    return [len(path) - 1 for path in tree.support]


def times_minv(
    recorder: Recorder, tree: Tree, step: int, ports: list[Port], results: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Port]]:
    """-M^-1 dtau, one invocation per entry; `ports` gets M^-1 as a further input. M^-1 is symmetric: without
    scales (step 0) only its lower triangle is read; with them all of it, as an entry is scaled against the
    torque that it meets."""
    start, nv = sum(port.size for port in ports), tree.nv
    ports.append(Port("minv", (nv, nv)))
    depths = link_depths(tree)
    far = {dof.user: step * depths[dof.link] for dof in reversed(tree.dofs)}
    minv = [[recorder.input(start + nv * i + k, -far[k]) for k in range(nv)] for i in range(nv)]
    if step == 0:
        minv = [[minv[max(i, k)][min(i, k)] for k in range(nv)] for i in range(nv)]
    zeros = [recorder.constant(0.0, far[k]) for k in range(nv)]
    product = _Product(recorder, minv, zeros)
    made = {
        name.replace("dtau", "dqdd"): [[product.entry(i, j, inner) for j in range(nv)] for i in range(nv)]
        for name, inner in results.items()
    }
    return made, {name: Port(name, (nv, nv)) for name in made}


@dataclass(frozen=True)
class _Product:
    recorder: Recorder
    minv: list[list[Recorded]]
    zeros: list[Recorded]

    def entry(self, i: int, j: int, inner: Any) -> Any:
        """Entry (i, j) of -M^-1 times `inner`."""
        column = [row[j] if _varies(row[j]) else self.zeros[k] for k, row in enumerate(inner)]
        live = [k for k, x in enumerate(column) if _varies(x)]
        if not live:
            return 0.0
        if len(live) >= _DENSE * len(column):
            live = list(range(len(column)))
        name = f"M^-1 product of {len(live)} terms"
        with self.recorder.invocation((name,), name, "product", f"row {i}, column {j}"):
            total: Any = self.minv[i][live[0]] * column[live[0]]
            for k in live[1:]:
                total = total + self.minv[i][k] * column[k]
            return -total


def _varies(x: Any) -> bool:
    return isinstance(x, Recorded) and x.known is None
