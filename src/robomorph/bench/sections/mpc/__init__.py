"""Sections about model predictive control."""
