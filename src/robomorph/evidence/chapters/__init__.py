"""All chapters of the report, in order.

A new chapter is a file here with `run(context) -> data` (plain, JSON has all of it) and `draw(data) -> parts`
(from the data alone), and one line below: the name, which is the file's too, and its title. Nothing is
imported before it is to run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.evidence.context import Context
from robomorph.evidence.parts import Part
from robomorph.evidence.view import View
from robomorph.naming import hint


@dataclass(frozen=True)
class Chapter:
    """`run` finds out, `draw` shows. `source` is the file of both."""

    name: str
    title: str
    run: Callable[[Context], dict[str, Any]]
    draw: Callable[[View], list[Part]]
    source: Path


TITLES = {
    "sparsity": "Sparsity of the joints' transforms",
    "features": "Features of the computation",
    "operations": "Operations by function and formulation",
    "steps": "One computation in its three steps",
    "batches": "Batches end to end, and threads",
    "gpu": "GPU kernels in three partitionings",
    "chip": "Chips: cycles and resources",
    "formats": "Errors by word width",
    "area": "Area and power",
    "space": "The design space",
    "coprocessor": "A chip behind a link to its host",
    "rates": "Control rate against horizon",
    "mpc-formats": "Number formats inside the controller",
    "ik": "Inverse kinematics: Quick-IK and its chip",
    "planning": "Motions that hold at every instant",
}


def load_chapter(name: str) -> Chapter:
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return Chapter(name, TITLES[name], module.run, module.draw, Path(module.__file__ or ""))


def choose(only: Sequence[str] | None) -> list[str]:
    """Names of chapters, checked, in order; None for all."""
    for name in only or ():
        if name not in TITLES:
            raise ArgumentError(f"--only: unknown chapter {name!r}: {hint(name, list(TITLES))}")
    return [name for name in TITLES if not only or name in only]
