"""Sections about dynamics: kernels against other libraries."""
