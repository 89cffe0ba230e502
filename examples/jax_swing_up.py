"""A trajectory of torques that swings an arm up, by gradients through its simulation in JAX."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import robomorph
import robomorph.jax

jax.config.update("jax_enable_x64", True)  # without it JAX computes in float32

robot = robomorph.load("chain:2")
functions = robomorph.jax.Functions(robot)
STEPS, DT = 60, 0.02
start = jnp.asarray(robot.neutral), jnp.zeros(robot.nv)
tip = robot.link_names[-1]
target = jnp.asarray(robot.forward_kinematics(np.array([2.0, 1.0]), tip))[:3, 3]


def rollout(torques: Any) -> Any:
    """The configurations (STEPS, nq) under torques (STEPS, nv), and the state at the end."""

    def step(state: Any, tau: Any) -> Any:
        q, qd = state
        after = functions.step(q, qd, tau, DT)
        return tuple(after), after.q_next

    return jax.lax.scan(step, start, torques)


def cost(torques: Any) -> Any:
    """How far the tip is from its target at the end, and still moving; and what the torques cost."""
    (q, qd), _ = rollout(torques)
    miss = functions.forward_kinematics(q, tip)[:3, 3] - target
    return 10 * miss @ miss + 0.1 * qd @ qd + 1e-4 * jnp.sum(torques**2)


def improve(torques: Any, memory: Any) -> Any:
    """One step of Adam along the gradient through all steps of the simulation."""
    value, slope = jax.value_and_grad(cost)(torques)
    count, mean, square = memory[0] + 1, 0.9 * memory[1] + 0.1 * slope, 0.99 * memory[2] + 0.01 * slope**2
    move = mean / (1 - 0.9**count) / (jnp.sqrt(square / (1 - 0.99**count)) + 1e-8)
    return torques - 0.2 * move, (count, mean, square), value


torques = jnp.zeros((STEPS, robot.nv))
compiled = jax.jit(improve)
memory: Any = (0, jnp.zeros_like(torques), jnp.zeros_like(torques))
for k in range(200):
    torques, memory, value = compiled(torques, memory)
    if k % 50 == 0:
        print(f"after {k:3d} steps: cost {value:.4f}")
(q, qd), path = rollout(torques)
miss = jnp.linalg.norm(functions.forward_kinematics(q, tip)[:3, 3] - target)
print(
    f"at the end the tip is {1e3 * float(miss):.0f} mm from its target, of {np.ptp(path[:, 0]):.1f} rad swung"
)

# Many starts at once, each with the gradient of its own cost, in one compiled call.
many = jax.jit(jax.vmap(jax.grad(cost)))(jnp.stack([torques, 0 * torques]))
print("gradients of two trajectories:", many.shape)

# Curvature along a direction, for Newton's method: forward mode over reverse mode.
_, bent = jax.jvp(jax.grad(cost), (torques,), (jnp.ones_like(torques),))
print("the cost's second derivative along ones:", f"{float(jnp.sum(bent)):.2f}")
