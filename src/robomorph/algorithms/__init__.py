"""Rigid-body algorithms, each written once over a generic scalar."""
