"""Motions whose constraints hold at every instant."""
