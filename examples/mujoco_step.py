"""Derivatives of MuJoCo's step without differences: `mjd_transitionFD` replaced for a model without contact.

A legged body in free flight, with dampers, springs and motors. A and B of 64 states come from one call and
are compared with MuJoCo's centred differences, state by state.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np

import robomorph
from robomorph.mujoco import state_from_mujoco, transition_to_mujoco

FLYER = """
<mujoco model="flyer">
  <option timestep="0.004"><flag constraint="disable"/></option>
  <default><joint armature="0.01" damping="0.2" stiffness="3"/><motor gear="20"/></default>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="thigh" pos="0.2 0 0">
        <joint name="hip" axis="0 1 0" springref="0.4"/>
        <geom type="capsule" fromto="0 0 0 0.05 0.02 -0.25" size="0.03"/>
        <body name="shank" pos="0.05 0.02 -0.25">
          <joint name="knee" axis="0 0.8 0.6"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02"/>
        </body>
      </body>
      <body name="tail" pos="-0.2 0 0">
        <joint name="tail" type="ball" stiffness="0"/>
        <geom type="capsule" fromto="0 0 0 -0.3 0 0" size="0.02"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hip"/><motor joint="knee"/></actuator>
</mujoco>
"""
STATES = 64


def transmission(model: mujoco.MjModel) -> np.ndarray:
    """(nv, nu) generalised forces per unit of control, for motors on hinges."""
    out = np.zeros((model.nv, model.nu))
    for actuator, (joint, _) in enumerate(model.actuator_trnid):
        out[model.jnt_dofadr[joint], actuator] = model.actuator_gear[actuator, 0]
    return out


def by_differences(
    model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A (STATES, 2nv, 2nv) and B (STATES, 2nv, nu) as MuJoCo gives them."""
    data, n = mujoco.MjData(model), 2 * model.nv
    a, b = np.zeros((STATES, n, n)), np.zeros((STATES, n, model.nu))
    for k in range(STATES):
        data.qpos, data.qvel, data.ctrl = qpos[k], qvel[k], ctrl[k]
        mujoco.mjd_transitionFD(model, data, 1e-6, True, a[k], b[k], None, None)
    return a, b


def main() -> dict[str, float]:
    model = mujoco.MjModel.from_xml_string(FLYER)
    robot = robomorph.load(model, passive=True)  # dampers and springs count, as they do in MuJoCo
    motors, rng = transmission(model), np.random.default_rng(0)

    q, qd = robot.random_state(rng, STATES)
    qpos, qvel = robomorph.mujoco.state_to_mujoco(robot, q, qd)
    ctrl = rng.uniform(-1.0, 1.0, (STATES, model.nu))
    # Motors act on hinges, whose forces are the same here and there; others need forces_from_mujoco.
    tau = ctrl @ motors.T

    def ours() -> tuple[np.ndarray, np.ndarray]:
        after = robot.step(q, qd, tau, model.opt.timestep)
        gradient = robot.step_gradient(q, qd, tau, model.opt.timestep)
        found = transition_to_mujoco(robot, gradient, (q, qd, tau), after)
        return found.A, found.B @ motors

    (a, b), (a_mujoco, b_mujoco) = ours(), by_differences(model, qpos, qvel, ctrl)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.ctrl = qpos[0], qvel[0], ctrl[0]
    mujoco.mj_step(model, data)
    after = state_from_mujoco(robot, data.qpos, data.qvel)
    step = robot.step(q[0], qd[0], tau[0], model.opt.timestep)

    places, rates = robot.difference(step.q_next, after.q), step.qd_next - after.qd
    errors = {
        "step": float(max(np.abs(places).max(), np.abs(rates).max())),
        "A": float(np.abs(a - a_mujoco).max()),
        "B": float(np.abs(b - b_mujoco).max()),
    }
    start = time.perf_counter()
    ours()
    middle = time.perf_counter()
    by_differences(model, qpos, qvel, ctrl)
    ratio = (time.perf_counter() - middle) / (middle - start)
    print(f"{robot.name}: {STATES} states, A {a.shape[1:]}, B {b.shape[1:]}")
    found = ", ".join(f"{name} {value:.1e}" for name, value in errors.items())
    print(f"largest differences from MuJoCo: {found}")
    print(f"mjd_transitionFD takes {ratio:.0f} times as long, conversions included")
    assert errors["step"] < 1e-10 and max(errors.values()) < 1e-6
    return errors


if __name__ == "__main__":
    main()
