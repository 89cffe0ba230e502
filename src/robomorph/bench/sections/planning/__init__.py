"""Sections about planning motions."""
