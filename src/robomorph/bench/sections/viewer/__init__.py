"""Sections about the live viewer."""
