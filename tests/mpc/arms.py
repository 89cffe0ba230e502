"""Small robots whose motion is known by formula, and Pinocchio's view of the built-in arm."""

from __future__ import annotations

from functools import cache

import robomorph
from robomorph import Robot
from robomorph.model.robots import builtin_urdf
from tests.oracle.reference import Reference, build

PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <joint name="swing" type="revolute">
    <parent link="base"/> <child link="rod"/> <axis xyz="0 1 0"/>
    <limit lower="-10" upper="10" velocity="20" effort="50"/>
  </joint>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/> <mass value="2"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
</robot>
"""
# What resists a turn of the pendulum (kg m^2), and what gravity makes of a tilt (N m).
PENDULUM_INERTIA = 0.03 + 2.0 * 0.5**2
PENDULUM_MOMENT = 2.0 * 9.81 * 0.5

SLIDE = """
<robot name="slide">
  <link name="base"/>
  <joint name="rail" type="prismatic">
    <parent link="base"/> <child link="car"/> <axis xyz="1 0 0"/>
    <limit lower="-5" upper="5" velocity="5" effort="30"/>
  </joint>
  <link name="car">
    <inertial> <mass value="4"/> <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/> </inertial>
  </link>
</robot>
"""


@cache
def iiwa() -> Robot:
    return robomorph.load("iiwa14")


@cache
def iiwa_reference() -> Reference:
    text = builtin_urdf("iiwa14")
    assert text is not None
    return Reference(iiwa(), build(text.decode()))
