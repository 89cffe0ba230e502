"""The machine's speed in a figure that every run of the benchmark knows: iiwa14's gradient."""

from __future__ import annotations

from robomorph.bench.sections.planning.reference import SECTION

__all__ = ["SECTION"]
