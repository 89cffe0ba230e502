"""A second opinion on plans: `robomorph check FILE`.

Nothing here is shared with what makes plans and certificates: another reader of URDF, another way to write
the robot down, textbook mechanics instead of ours, ball arithmetic (python-flint) instead of floating point
with error bounds, and Taylor polynomials in time instead of Chebyshev models. It imports nothing of the rest
of robomorph but its errors.
"""

from robomorph.checker.check import Report, check_plan
from robomorph.checker.document import Refused

__all__ = ["Refused", "Report", "check_plan"]
