"""Sections about the bridges to other packages' arrays."""
