"""Certificates: what a finished motion keeps, proven for every instant.

`certify` takes a spline and obligations, and runs each one's program on Chebyshev models of all pieces of
time at once (`robomorph.ir.chebyshev`). docs/planning-certificate.md says what that proves and assumes.
"""

from robomorph.planning.certificate.obligations import (
    Function,
    Obligation,
    TaskBounds,
    joint_obligations,
    task_obligations,
    torque_obligations,
    window_of,
)
from robomorph.planning.certificate.proofs import Certificate, Enclosure, Proof
from robomorph.planning.certificate.prove import certify
from robomorph.planning.certificate.splines import Spline

__all__ = [
    "Certificate",
    "Enclosure",
    "Function",
    "Obligation",
    "Proof",
    "Spline",
    "TaskBounds",
    "certify",
    "joint_obligations",
    "task_obligations",
    "torque_obligations",
    "window_of",
]
