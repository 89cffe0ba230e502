"""Sections about inverse kinematics."""
