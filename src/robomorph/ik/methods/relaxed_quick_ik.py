"""Relaxed Quick-IK: Quick-IK with a step somewhat shorter than the best. Ours, not the paper's.

The best of many lengths is an exact line search along the gradient, whose steps zig-zag. Shortened by a
random share, each of them leaves the next a better direction: on long chains less than a sixth of the
iterations. What is random depends on the seed, the start and the iteration alone.
"""

from __future__ import annotations

from robomorph.ik.methods.base import Method
from robomorph.ik.methods.jacobian_transpose import buss_rule

# The step is the best one times a number between 0.7 and 1.
_RELAXATION = 0.3

RELAXED_QUICK_IK = Method("relaxed-quick-ik", buss_rule, speculative=True, relaxation=_RELAXATION)
