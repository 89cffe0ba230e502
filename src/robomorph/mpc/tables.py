"""References and weights of the moment, written into the arrays that a solver reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.arrays import input_arrays
from robomorph.mpc.gravity import GravityReference
from robomorph.mpc.layout import ROWS, SYMBOLS, Index, Layout
from robomorph.mpc.shared import SharedJoints, shared_joints
from robomorph.mpc.terms import Bound, Cost

Array = npt.NDArray[np.float64]
_NOWHERE: Array = np.zeros(1)
_GRAVITY = "gravity"


class Tables:
    """The inputs of a solver for so many problems. Whatever is set stays until it is set again; `settle` must
    be called after setting and before solving.

    offset (problems,): what has to be added to a solver's cost: the part of costs on the same joint that no
    motion changes. beyond (problems, nv): torques that the drives give beyond the model's; limits, bounds and
    costs of efforts are about the sum."""

    def __init__(self, layout: Layout, problems: int) -> None:
        self.layout, self.problems = layout, problems
        self.arrays = input_arrays(layout, problems)
        self.offset: Array = np.zeros(problems)
        self.beyond: Array = np.zeros((problems, layout.nv))
        # Where references go; of torques those of the sum.
        self._references = {
            symbol: self.arrays[f"{symbol}_reference"]
            for symbol in SYMBOLS
            if f"{symbol}_reference" in self.arrays
        }
        if "torque" in self._references:
            self._references["torque"] = np.zeros_like(self._references["torque"])
        self._index: dict[str, Index] = {
            term.name: layout.index(term.subject.joints)
            for term in layout.terms
            if term.subject.symbol != ROWS
        }
        self._shared: list[SharedJoints] = shared_joints(layout, self.arrays, self._references)
        self._fixed: dict[str, tuple[Array, Array]] = {}  # bounds of torques that move with `beyond` alone
        self._moving: dict[str, Array] = {}  # references (problems, nodes, n) of bounds that move
        self._stale = {*SYMBOLS, _GRAVITY}  # quantities whose references or weights changed
        self._stale_bounds = {symbol for symbol in SYMBOLS if f"{symbol}_lower" in self.arrays}
        self._follows = bool(layout.gravity) and not layout.posture  # gravity follows the state
        self._gravity = GravityReference(layout, self.arrays, self.beyond) if layout.gravity else None
        for cost in layout.costs.values():
            self.set_weight(cost, cost.running, terminal=False)
            self.set_weight(cost, cost.terminal, terminal=True)
        for bound in layout.bounds.values():
            if bound.moves:
                shape = (problems, layout.nodes_of(bound.subject.symbol), bound.subject.rows)
                self._moving[bound.name] = np.zeros(shape)

    # --- references ----------------------------------------------------------------------------------

    def set_reference(self, term: Cost | Bound, numbers: Array) -> None:
        """Numbers (problems or 1, nodes or 1, n) of a cost or bound."""
        layout, symbol = self.layout, term.subject.symbol
        if symbol == ROWS:
            self.arrays["row_reference"][:, :, layout.places[term.name].references] = numbers
        elif isinstance(term, Bound):
            if term.moves:
                self._moving[term.name][...] = numbers[:, : layout.nodes_of(symbol)]
                self._stale_bounds.add(symbol)
        elif symbol != "jerk":
            if self._gravity is not None:
                self._gravity.leave(term)
            self._set_joints(term, numbers)
            self._touch(symbol)

    def restore_gravity(self, cost: Cost) -> None:
        """A cost of efforts is measured from what holds the robot still again."""
        assert self._gravity is not None
        self._gravity.take(cost)
        self._stale.add("torque")

    def set_beyond(self, torque: Array | None) -> None:
        """Torques (problems or 1, nv) beyond the model's; None: none."""
        if torque is not None or self.beyond.any():
            self.beyond[...] = 0.0 if torque is None else torque
            self._stale.add("torque")
            if "torque_lower" in self.arrays:
                self._stale_bounds.add("torque")

    def _touch(self, symbol: str) -> None:
        """References or weights of a quantity changed: gravity is that of the posture that is wanted."""
        self._stale.add(symbol)
        if symbol == "q":
            self._stale.add(_GRAVITY)

    def _set_joints(self, cost: Cost, numbers: Array) -> None:
        """Nodes at which the cost counts; those that others share are put together by `settle`."""
        symbol, last = cost.subject.symbol, self.layout.horizon
        target = self._references[symbol]
        index, constant = self._index[cost.name], numbers.shape[1] == 1
        if cost.running is not None:
            target[:, :last, index] = numbers if constant else numbers[:, :last]
        if cost.terminal is not None:
            target[:, last:, index] = numbers if constant else numbers[:, last:]
        for shared in self._shared:
            shared.set_reference(cost, numbers)

    # --- weights -------------------------------------------------------------------------------------

    def set_weight(self, cost: Cost, weight: Array | None, *, terminal: bool) -> None:
        """Weights (n,) or (problems, n) of a cost, without dt; None: it has none at these nodes."""
        if weight is None:
            return
        symbol, dt = cost.subject.symbol, self.layout.dt
        self._touch(symbol)
        if symbol == "jerk":
            # 1/2 dt w (change / dt)^2
            if weight.ndim > 1:
                raise ArgumentError("weight of jerk: expected the same for all problems, found a batch")
            self.arrays["jerk_weight"][self._index[cost.name]] = weight / dt
            return
        place: Index = self.layout.places[cost.name].rows if symbol == ROWS else self._index[cost.name]
        table = self.arrays["row_weight" if symbol == ROWS else f"{symbol}_weight"]
        table[:, int(terminal), place] = weight if terminal else weight * dt
        for shared in self._shared:
            shared.set_weight(cost, weight if terminal else weight * dt, terminal=terminal)

    # --- what follows from both ----------------------------------------------------------------------

    def settle(self) -> None:
        """Work out what depends on several terms: shared joints, gravity, bounds that move."""
        stale = self._stale
        if self._follows:
            stale.add(_GRAVITY)
        for shared in self._shared:
            if shared.symbol != "torque" and shared.symbol in stale:
                shared.settle()
        if _GRAVITY in stale or "torque" in stale:
            self._settle_torques(_GRAVITY in stale)
        if stale and self._shared:
            self.offset[...] = 0.0
            for shared in self._shared:
                self.offset += shared.left
        stale.clear()
        for symbol in self._stale_bounds:
            self._set_bounds(symbol)
        self._stale_bounds.clear()

    def _settle_torques(self, moved: bool) -> None:
        """moved: gravity's torques are others now."""
        if "torque" not in self._references:
            return
        if self._gravity is not None:
            if moved:
                self._gravity.compute()
            self._gravity.set(self._set_joints)
        for shared in self._shared:
            if shared.symbol == "torque":
                shared.settle()
        np.subtract(self._references["torque"], self.beyond[:, None], out=self.arrays["torque_reference"])

    def _set_bounds(self, symbol: str) -> None:
        low, high = self.arrays[f"{symbol}_lower"], self.arrays[f"{symbol}_upper"]
        if symbol in self._fixed:  # only what drives give beyond the model's has changed
            for table, fixed in zip((low, high), self._fixed[symbol], strict=True):
                np.subtract(fixed, self.beyond[:, None], out=table)
            return
        low[...], high[...] = -np.inf, np.inf
        for bound in self.layout.bounds_of(symbol):
            index = self._index[bound.name]
            shift = self._moving[bound.name] if bound.moves else _NOWHERE
            low[..., index] = np.maximum(low[..., index], bound.lower + shift)
            high[..., index] = np.minimum(high[..., index], bound.upper + shift)
        if symbol == "torque":
            if not self.layout.moves(symbol):
                self._fixed[symbol] = (low.copy(), high.copy())
            low -= self.beyond[:, None]
            high -= self.beyond[:, None]
        if not (low < high).all():
            b, k, j = (int(x) for x in np.argwhere(~(low < high))[0])
            joint = self.layout.robot.velocity_names[j]
            raise ArgumentError(
                f"bounds: with these references those on {symbol!r} of joint {joint!r} leave nothing between "
                f"them at node {k} (problem {b}): at least {low[b, k, j]:g} and at most {high[b, k, j]:g}"
            )
