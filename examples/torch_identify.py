"""Identify a robot's damping in Torch: gradients flow through every step of simulated motions."""

import numpy as np
import torch

import robomorph
from robomorph.torch import Functions

torch.manual_seed(0)
robot = robomorph.load("iiwa14")
functions = Functions(robot)
dt, steps = 0.002, 40

# Where eight motions start, and the accelerations that a controller asks for along them.
q0, qd0 = map(torch.from_numpy, robot.random_state(rng=0, batch=8))
wanted = 5.0 * torch.randn(steps, 8, robot.nv, dtype=torch.float64)


def motions(damping: torch.Tensor) -> torch.Tensor:
    """Joint angles (steps, 8, nq) of all motions; the controller knows of no damping."""
    q, qd, path = q0, qd0, []
    for qdd in wanted:
        tau = functions.inverse_dynamics(q, qd, qdd)
        qd = qd + dt * functions.forward_dynamics(q, qd, tau - damping * qd)
        q = q + dt * qd
        path.append(q)
    return torch.stack(path)


true = torch.tensor([0.9, 0.7, 0.5, 0.4, 0.08, 0.05, 0.01], dtype=torch.float64)
measured = motions(true) + 1e-6 * torch.randn(steps, 8, robot.nq, dtype=torch.float64)

logarithms = torch.full((robot.nv,), -2.0, dtype=torch.float64, requires_grad=True)  # so none is negative
optimizer = torch.optim.Adam([logarithms], lr=0.3)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.96)


def loss() -> torch.Tensor:
    """The mean square of the angles' error, in (mrad)^2."""
    return (1e3 * (motions(logarithms.exp()) - measured)).square().mean()


for k in range(81):
    optimizer.zero_grad()
    error = loss()
    error.backward()
    if k % 20 == 0:
        print(f"step {k:3}: angles off by {float(error.detach().sqrt()):.1e} mrad")
    optimizer.step()
    schedule.step()
found = logarithms.exp().detach()
print("damping found:", np.array2string(found.numpy(), precision=3), "N m s/rad")
print(f"off by at most {float(((found - true) / true).abs().max()):.1%}")
assert torch.allclose(found, true, rtol=0.2)
