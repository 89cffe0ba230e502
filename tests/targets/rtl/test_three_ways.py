"""The same words three ways: interpreter, machine code for the CPU, and a simulated chip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.program import compile_fixed
from robomorph.compiler.specialise import make_request
from robomorph.ir.ops import SIN
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.options import Options
from robomorph.targets.rtl.simulate import Simulation
from tests.model.samples import SOUND_INERTIAL, joint, link
from tests.model.samples import robot as robot_text
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.toolchains import needs_verilator

pytestmark = needs_verilator
# Reciprocals, sines and M^-1 on the chip; float32 on its streams; link units; lanes of 32 bits on the CPU.
DESIGNS: dict[str, dict[str, Any]] = {
    "18 bits": {"interval": 10, "bits": 18, "speed": 0.5, "acceleration": 0.5},
    "Q8.8": {"interval": 10, "format": "Q8.8"},
    "float32 outside": {"interval": 10, "boundary": "float32", "speed": 0.5, "acceleration": 0.5},
    "M^-1 given, link units": {
        **{"interval": 12, "structure": "units", "minv": "given", "bits": 20},
        **{"speed": 0.5, "acceleration": 0.5},
    },
}


def check(a: Accelerator, arguments: dict[str, Any]) -> int:
    """All three on the same stream words; how many states saturate."""
    words, _ = a.words(arguments)
    defined = a.boundary.run(words)
    compiled = a.boundary.run(words, compile_fixed(a.fixed).run)
    simulated = Simulation(a.design).run(words, pause_in=30, pause_out=30)
    for found in (compiled, simulated):
        np.testing.assert_array_equal(found.words, defined.words)
        np.testing.assert_array_equal(found.overflow, defined.overflow)
    return int(np.count_nonzero(defined.overflow))


@pytest.mark.parametrize("name", DESIGNS)
def test_all_are_equal(name: str) -> None:
    a = accelerator("chain:2", "forward_dynamics_gradient", **DESIGNS[name])
    wild = a.sample(200, seed=3)
    wild["qd"] = wild["qd"] * np.where(np.arange(200) % 2, 20.0, 1.0)[:, None]
    assert 0 < check(a, wild) < 200


@pytest.mark.parametrize("bits", [8, 12])
def test_joints_that_hardly_move(bits: int) -> None:
    """A sine so small that its format wants more bits than a chip computes it to."""
    limit = '<limit lower="-0.0005" upper="0.0005" velocity="1" effort="1"/>'
    arm = link("arm", SOUND_INERTIAL.replace('xyz="0.1 0 0"', 'xyz="0 0 0.1"'))
    hinge = joint("hinge", "base", "arm", axis="0 1 0", limit=limit)
    robot = robomorph.load(robot_text(link("base"), arm, hinge))
    request = make_request(robot.model, "inverse_dynamics")
    a = make_accelerator(robot.specialiser, request, Options(bits=bits, interval=4))
    assert any(node.op is SIN for node in a.fixed.program.nodes)
    check(a, a.sample(50, seed=1))
