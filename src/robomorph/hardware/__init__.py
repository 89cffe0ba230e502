"""Accelerators for a robot: which functions go on the chip, and the kernel that simulates it."""
