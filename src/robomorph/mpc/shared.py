"""Several costs on the same joint's number: one cost on it, from the mean of their references.

Sum of w_i (x - r_i)^2 = W (x - r)^2 + sum of w_i r_i^2 - W r^2  with W = sum of w_i, r = sum of w_i r_i / W.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robomorph.mpc.layout import SYMBOLS, Layout
from robomorph.mpc.terms import Cost

Array = npt.NDArray[np.float64]


class SharedJoints:
    """Joints of one quantity that several costs are about, at the nodes but the last or at the last."""

    def __init__(
        self, symbol: str, terminal: bool, joints: list[int], costs: list[Cost], layout: Layout
    ) -> None:
        self.symbol, self.terminal, self.joints = symbol, terminal, joints
        self.columns: dict[str, list[tuple[int, int]]] = {
            cost.name: [(joints.index(j), k) for k, j in enumerate(cost.subject.joints) if j in joints]
            for cost in costs
        }
        self.last = layout.horizon

    def bind(self, weight: Array, reference: Array) -> SharedJoints:
        """Keep the arrays that `settle` writes, and room for what it is made of."""
        nodes, problems = slice(self.last, None) if self.terminal else slice(0, self.last), len(weight)
        self.reference = reference[:, nodes]
        self.weight = weight[:, int(self.terminal)]
        shape = (problems, self.reference.shape[1], len(self.joints))
        self._references = {name: np.zeros(shape) for name in self.columns}
        self._weights = {name: np.zeros((problems, len(self.joints))) for name in self.columns}
        self.left: Array = np.zeros(problems)
        return self

    def set_reference(self, cost: Cost, numbers: Array) -> None:
        """Numbers (problems or 1, nodes or 1, n)."""
        if cost.name in self.columns and cost.subject.symbol == self.symbol:
            per_node = numbers.shape[1] > 1
            nodes = slice(self.last, None) if self.terminal else slice(0, self.last)
            own = numbers[:, nodes] if per_node else numbers
            for shared, k in self.columns[cost.name]:
                self._references[cost.name][:, :, shared] = own[:, :, k]

    def set_weight(self, cost: Cost, weight: Array, *, terminal: bool) -> None:
        """Weights (n,) or (problems, n)."""
        if cost.name in self.columns and cost.subject.symbol == self.symbol and terminal == self.terminal:
            for shared, k in self.columns[cost.name]:
                self._weights[cost.name][:, shared] = weight[..., k]

    def settle(self) -> None:
        """Write the sums, and in `left` (problems,) what no motion changes."""
        total = np.add.reduce(list(self._weights.values()))
        pull = np.add.reduce([w[:, None] * self._references[name] for name, w in self._weights.items()])
        mean = np.divide(pull, total[:, None], out=np.zeros_like(pull), where=total[:, None] > 0.0)
        self.weight[:, self.joints] = total
        self.reference[:, :, self.joints] = mean
        left = [
            (w[:, None] * np.square(self._references[name] - mean)).sum(axis=(1, 2))
            for name, w in self._weights.items()
        ]
        self.left = np.asarray(0.5 * np.add.reduce(left))


def shared_joints(
    layout: Layout, arrays: dict[str, Array], references: dict[str, Array]
) -> list[SharedJoints]:
    """All of a problem, whose weights are in `arrays`."""
    out: list[SharedJoints] = []
    for symbol in SYMBOLS:
        for terminal in (False, True):
            costs = [
                c for c in layout.costs_of(symbol) if (c.terminal if terminal else c.running) is not None
            ]
            count = np.zeros(layout.nv, int)
            for cost in costs:
                count[list(cost.subject.joints)] += 1
            joints = [int(j) for j in np.flatnonzero(count > 1)]
            if joints:
                made = SharedJoints(symbol, terminal, joints, costs, layout)
                out.append(made.bind(arrays[f"{symbol}_weight"], references[symbol]))
    return out
