"""Every method by name."""

from robomorph.ik.methods.base import Method
from robomorph.ik.methods.jacobian_transpose import JACOBIAN_TRANSPOSE, JACOBIAN_TRANSPOSE_FIXED
from robomorph.ik.methods.lm import LM
from robomorph.ik.methods.pseudoinverse import PSEUDOINVERSE
from robomorph.ik.methods.quick_ik import QUICK_IK
from robomorph.ik.methods.relaxed_quick_ik import RELAXED_QUICK_IK
from robomorph.ik.methods.speculative_newton import SPECULATIVE_NEWTON

# A new method is one file and one entry here.
METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        LM,
        QUICK_IK,
        RELAXED_QUICK_IK,
        SPECULATIVE_NEWTON,
        JACOBIAN_TRANSPOSE,
        JACOBIAN_TRANSPOSE_FIXED,
        PSEUDOINVERSE,
    )
}

__all__ = ["METHODS", "Method"]
