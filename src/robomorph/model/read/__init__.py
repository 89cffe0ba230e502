"""Readers: a file, a text or an object into a Description."""
