"""Targets: from a scheduled program to something that runs. No target knows what a joint is."""
