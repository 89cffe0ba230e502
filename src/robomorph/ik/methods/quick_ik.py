"""Quick-IK: the Jacobian transpose with many step lengths tried at once.

Lian et al., "Dadu: Accelerating Inverse Kinematics for High-DOF Robots", DAC 2017, Algorithm 1. Of the steps
(k / Max) alpha, k = 1..Max, with Buss's alpha, the one that ends closest to the target is taken.
Its equation (8) misses a J as printed; the form used is Buss's.
"""

from __future__ import annotations

from robomorph.ik.methods.base import Method
from robomorph.ik.methods.jacobian_transpose import buss_rule

QUICK_IK = Method("quick-ik", buss_rule, speculative=True)
