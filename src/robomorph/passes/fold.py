"""Constant folding: an operation on constants is a constant."""

from __future__ import annotations

import math

import numpy as np

from robomorph.ir.program import Node, Program
from robomorph.passes.rewrite import Rebuild, rewrite


def fold(program: Program) -> Program:
    """Computes operations on constants."""
    return rewrite(program, _rule)


def _rule(build: Rebuild, node: Node) -> int:
    if node.args and node.op.evaluate is not None:
        values = [build.value(a) for a in node.args]
        if all(v is not None for v in values):
            with np.errstate(all="ignore"):
                result = float(node.op.evaluate(*(np.float64(v) for v in values if v is not None)))
            if math.isfinite(result):  # a division by zero is left for run time to show
                return build.constant(result)
    return build.emit(*node)
