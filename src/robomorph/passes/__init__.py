"""Passes: Program -> Program, one a file; pipeline.py lists them in order."""
