"""Functions evaluated elsewhere: on a device, in single precision."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.planning import Motion
from robomorph.tasks import Position
from tests.planning.motions import FRAME, arm

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
Q1 = np.array([-0.5, 0.9, 0.3, -0.8, 0.2, 0.4, 0.5])


def motion() -> Motion:
    asked = Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits()
    return asked.keep(Position(FRAME), (-2, -2, 0.45), 2, during=(0.5, 1.5))


def test_opencl_gives_the_same_plan() -> None:
    pytest.importorskip("pyopencl")
    here, there = motion().solve(solver="ipopt"), motion().solve(target="opencl")
    assert here.success and there.success and there.solver == "ipopt"
    assert np.allclose(here.control, there.control, rtol=0, atol=1e-6)
    assert here.moved == 0 and there.moved > 1000


def test_single_precision_is_nearly_the_same() -> None:
    here = motion().solve(solver="ipopt")
    single = motion().solve(precision="float32", tol=1e-4, constr_viol_tol=1e-4, acceptable_tol=1e-3)
    assert np.isclose(single.cost, here.cost, rtol=1e-2)


def test_refusals() -> None:
    with pytest.raises(ArgumentError, match="precision: expected 'float32' or 'float64'"):
        motion().solve(precision="float16")
    with pytest.raises(ArgumentError, match=r"solver: functions on target 'opencl' .* expected 'ipopt'"):
        motion().solve(target="opencl", solver="native")
    with pytest.raises(ArgumentError, match="target"):
        motion().solve(target="abacus")
