"""What a search found."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
AT_LIMIT = 1e-9  # a coordinate this close to a limit (rad, m) is at it; beyond it by less is rounding


class IKResult:
    """The answer to an inverse-kinematics problem, or to a batch (...) of them.

    q: (..., nq), inside the limits; the best found where the search failed.
    success: (...) bool: every target met within its tolerance.
    position_error (m) and rotation_error (rad): (...), the largest over the targets, at q.
    iterations: (...) in all starts that the answer took. starts: (...) how many those were.

    With `solutions=k`, q is (..., k, nq) and the others (..., k): distinct solutions, nearest to the start
    first; places that are left over repeat the first with success False.

    Results can be pickled, copied and compared; `reason` is worked out before they are pickled or copied.
    """

    def __init__(
        self,
        fields: tuple[Array, Array, Array, Array, Array, Array],
        limits: tuple[Array, Array],
        explain: Callable[[IKResult], Array] | None,
    ) -> None:
        self.q, self.success, self.position_error, self.rotation_error, self.iterations, self.starts = fields
        self._limits, self._explain = limits, explain

    @cached_property
    def active_limits(self) -> Array:
        """(..., nq) int8: -1 where q is at its lower limit, 1 at its upper, 0 elsewhere."""
        lower, upper = self._limits
        at_lower, at_upper = self.q <= lower + AT_LIMIT, self.q >= upper - AT_LIMIT
        return at_upper.astype(np.int8) - (at_lower & ~at_upper).astype(np.int8)

    @cached_property
    def reason(self) -> Any:
        """Why each problem failed, in words ("converged" where it did not); a string for a single problem.
        Worked out when first asked for: it may take a second search, without limits."""
        assert self._explain is not None
        texts = self._explain(self)
        return str(texts[()]) if texts.ndim == 0 else texts

    def __getstate__(self) -> dict[str, Any]:
        # The solver behind the reason holds machine code: the words go in its place.
        return {**vars(self), "reason": self.reason, "_explain": None}

    def __eq__(self, other: object) -> bool:
        """Are all numbers the same?"""
        if not isinstance(other, IKResult):
            return NotImplemented
        pairs = zip(self._numbers(), other._numbers(), strict=True)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def _numbers(self) -> tuple[Array, ...]:
        errors = (self.position_error, self.rotation_error)
        return (self.q, self.success, *errors, self.iterations, self.starts, *self._limits)

    def __bool__(self) -> bool:
        """Did every problem succeed?"""
        return bool(np.all(self.success))

    def __repr__(self) -> str:
        done, count = int(np.sum(self.success)), int(np.size(self.success))
        metres, radians = (np.max(e, initial=0.0) for e in (self.position_error, self.rotation_error))
        return f"<IKResult {done} of {count} solved, errors at most {metres:.2g} m, {radians:.2g} rad>"
