"""Inverse kinematics on a chip: from a robot and a frame to the words of an accelerator."""
