"""What a search found."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class IKResult:
    """The answer to an inverse-kinematics problem, or to a batch (...) of them.

    q: (..., nq), inside the limits; the best found where the search failed.
    success: (...) bool: every target met within its tolerance.
    position_error (m) and rotation_error (rad): (...), the largest over the targets, at q.
    iterations: (...) in all starts that the answer took. starts: (...) how many those were.

    With `solutions=k`, q is (..., k, nq) and the others (..., k): distinct solutions, nearest to the start
    first; places that are left over repeat the first with success False.
    """

    def __init__(
        self,
        fields: tuple[Array, Array, Array, Array, Array, Array],
        limits: tuple[Array, Array],
        explain: Callable[[IKResult], Array],
    ) -> None:
        self.q, self.success, self.position_error, self.rotation_error, self.iterations, self.starts = fields
        self._limits, self._explain = limits, explain

    @cached_property
    def active_limits(self) -> Array:
        """(..., nq) int8: -1 where q is at its lower limit, 1 at its upper, 0 elsewhere."""
        lower, upper = self._limits
        near = 1e-9
        at_lower, at_upper = self.q <= lower + near, self.q >= upper - near
        return at_upper.astype(np.int8) - (at_lower & ~at_upper).astype(np.int8)

    @cached_property
    def reason(self) -> Any:
        """Why each problem failed, in words ("converged" where it did not); a string for a single problem.
        Worked out when first asked for: it may take a second search, without limits."""
        texts = self._explain(self)
        return str(texts[()]) if texts.ndim == 0 else texts

    def __bool__(self) -> bool:
        """Did every problem succeed?"""
        return bool(np.all(self.success))

    def __repr__(self) -> str:
        done, count = int(np.sum(self.success)), int(np.size(self.success))
        metres, radians = (np.max(e, initial=0.0) for e in (self.position_error, self.rotation_error))
        return f"<IKResult {done} of {count} solved, errors at most {metres:.2g} m, {radians:.2g} rad>"
