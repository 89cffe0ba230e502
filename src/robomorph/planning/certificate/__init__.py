"""Certificates: what a finished motion keeps, proven for every instant.

`certify` takes a spline and obligations, and runs each one's program on Chebyshev models of all pieces of
time at once (`robomorph.ir.chebyshev`). docs/planning-certificate.md says what that proves and assumes.
"""

from robomorph.planning.certificate.document import End, load_motion, plan_data, problem_data, save_document
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
from robomorph.planning.certificate.statements import Limits, Row, Statement, TaskStatement, rows_of

__all__ = [
    "Certificate",
    "Enclosure",
    "End",
    "Function",
    "Limits",
    "Obligation",
    "Proof",
    "Row",
    "Spline",
    "Statement",
    "TaskBounds",
    "TaskStatement",
    "certify",
    "joint_obligations",
    "load_motion",
    "plan_data",
    "problem_data",
    "rows_of",
    "save_document",
    "task_obligations",
    "torque_obligations",
    "window_of",
]
