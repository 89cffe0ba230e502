"""A robot from URDF text, with a payload, a tool frame and a locked joint."""

import numpy as np

import robomorph

URDF = """
<robot name="picker">
  <link name="base"/>
  <joint name="column" type="prismatic">
    <parent link="base"/> <child link="carriage"/>
    <axis xyz="0 0 1"/> <limit lower="0" upper="0.5" velocity="1" effort="400"/>
  </joint>
  <link name="carriage">
    <inertial> <mass value="8"/> <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/> </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="carriage"/> <child link="arm"/>
    <origin xyz="0.1 0 0"/> <axis xyz="0 0 1"/> <limit lower="-2" upper="2" velocity="3" effort="60"/>
  </joint>
  <link name="arm">
    <inertial>
      <origin xyz="0.2 0 0"/> <mass value="3"/>
      <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="wrist" type="continuous">
    <parent link="arm"/> <child link="gripper"/>
    <origin xyz="0.4 0 0"/> <axis xyz="1 0 0"/> <limit velocity="6" effort="10"/>
  </joint>
  <link name="gripper">
    <inertial>
      <mass value="0.5"/> <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
</robot>
"""

empty = robomorph.load(URDF)
loaded = robomorph.load(
    URDF,
    payloads={"gripper": (1.5, [0.05, 0.0, 0.0])},  # 1.5 kg, 5 cm in front of the gripper's origin
    tool_frames={"fingertip": ("gripper", [0.1, 0.0, 0.0])},
    locked={"wrist": np.pi / 2},
)
print("joints, empty :", empty.joint_names)
print("joints, loaded:", loaded.joint_names)

q, rest = [0.25, 0.5], np.zeros(2)
print("holding force, empty :", f"{empty.inverse_dynamics([*q, 0.0], np.zeros(3), np.zeros(3))[0]:.2f} N")
print("holding force, loaded:", f"{loaded.inverse_dynamics(q, rest, rest)[0]:.2f} N")
print("fingertip at", np.round(loaded.forward_kinematics(q, "fingertip")[:3, 3], 4))
