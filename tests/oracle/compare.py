"""How close is close: the one place where tolerances are applied."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

EXACT = 1e-9  # float64 against another engine, relative to the largest entry
ROUNDING = 1e-12  # what is left of terms that cancel to a zero

SINGLE = 2e-4  # float32 against float64, relative L2


def assert_close(
    ours: npt.ArrayLike, theirs: npt.ArrayLike, what: str, tolerance: float = EXACT, *, scale: float = 0.0
) -> None:
    """Equal shapes, and every entry within `tolerance` of the largest entry of `theirs`, or of `scale` if
    that is larger: of the terms where they cancel."""
    a, b = np.asarray(ours), np.asarray(theirs)
    assert a.shape == b.shape, f"{what}: shape {a.shape} instead of {b.shape}"
    assert np.all(np.isfinite(b)), f"{what}: the reference is not finite"
    scale = float(np.abs(b).max(initial=scale))
    worst = float(np.abs(a - b).max(initial=0.0))
    assert worst <= tolerance * scale + ROUNDING, f"{what}: {worst:.3g} off, the largest entry is {scale:.3g}"


def assert_same_bits(ours: npt.ArrayLike, theirs: npt.ArrayLike, what: str) -> None:
    """Equal shapes, dtypes and bits (NaN equals itself, -0.0 is not 0.0)."""
    a, b = np.asarray(ours), np.asarray(theirs)
    assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{what}: {a.shape} {a.dtype}, not {b.shape} {b.dtype}"
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes(), f"{what}: bits differ"


def relative_l2(ours: Any, theirs: Any) -> float:
    """||ours - theirs|| / ||theirs||, over all entries."""
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    size = float(np.linalg.norm(b))
    return float(np.linalg.norm(a - b)) / size if size else float(np.linalg.norm(a))
