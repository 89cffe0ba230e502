"""Robots as CasADi functions: see docs/casadi.md. Needs the extra 'casadi'."""

from robomorph.interop.packages import require

require("casadi")

from robomorph.interop.casadi.functions import Functions  # noqa: E402

__all__ = ["Functions"]
