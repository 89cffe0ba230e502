"""Kernels with other packages' arrays and derivatives: the bridges, and what they share."""
