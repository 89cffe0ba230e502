"""Kernels in a process whose free memory lies in pieces, as among the libraries of Torch, JAX and CasADi."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Reserves the room above, then gives back holes of one and two pages, 8 GiB from the rest: small sections
# of an object would go into a hole, and its code would not.
SCATTER = r"""
import ctypes
import numpy as np
import robomorph

robot = robomorph.load("iiwa14")
robot.gravity_torque(robot.neutral)  # LLVM and the native module are loaded before memory is in pieces

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE, NONE, PRIVATE_ANONYMOUS_NORESERVE, FIXED_NOREPLACE, ROOM = 4096, 0, 0x4022, 0x100000, 8 << 30

base = libc.mmap(None, ROOM, NONE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
with open("/proc/self/maps") as lines:
    spans = [[int(end, 16) for end in line.split()[0].split("-")] for line in lines]
for (_, low), (high, _) in zip(spans, spans[1:]):
    if base <= low < high < low + (1 << 40):
        libc.mmap(low, high - low, NONE, PRIVATE_ANONYMOUS_NORESERVE | FIXED_NOREPLACE, -1, 0)
for k in range(200):
    libc.munmap(base + ROOM - (3 * k + 4) * PAGE, (1 + k % 2) * PAGE)

q = robot.random_state(rng=0).q
gradient = robot.forward_dynamics_gradient(q, 0.0 * q, 0.0 * q)
assert np.abs(gradient.minv @ robot.mass_matrix(q) - np.eye(7)).max() < 1e-9
print("fine")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="lays out memory by Linux's calls")
def test_code_and_constants_of_a_kernel_lie_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    done = subprocess.run([sys.executable, "-c", SCATTER], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
