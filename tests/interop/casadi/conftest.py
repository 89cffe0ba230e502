"""Tests of the bridge need CasADi; those of programs do without."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("casadi") else ["test_functions.py", "test_solvers.py", "test_sharing.py"]
