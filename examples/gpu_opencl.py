"""The same kernel as an OpenCL program, on a GPU or, through PoCL, on this CPU.

Without OpenCL it says what is missing.
"""

import numpy as np

import robomorph

robot = robomorph.load("iiwa14")
q, qd = robot.random_state(rng=0, batch=512)
tau = np.zeros_like(q)
expected = robot.forward_dynamics_gradient(q, qd, tau)

errors = {}
try:
    for dtype in ("float64", "float32"):
        kernel = robot.compile("forward_dynamics_gradient", target="opencl", dtype=dtype)
        found = kernel(*(x.astype(dtype) for x in (q, qd, tau)))
        scale = np.abs(expected.dqdd_dq).max(axis=(1, 2))
        errors[dtype] = np.abs(found.dqdd_dq - expected.dqdd_dq).max(axis=(1, 2)) / scale
        print(f"{dtype}: {found.dqdd_dq.shape}, within {errors[dtype].max():.0e} of the CPU's")
        print("  begins with:", kernel.source.code.splitlines()[0][:80])
except robomorph.TargetError as missing:
    print("not run:", missing)
else:
    assert errors["float64"].max() < 1e-9 and errors["float32"].max() < 1e-4
