"""Joint kinds as URDF names them: what the registry of joint types knows, and "fixed"."""

from __future__ import annotations

from .joints import JOINT_TYPES

FIXED = "fixed"


def joint_kinds() -> tuple[str, ...]:
    """Every kind a description may name."""
    return (*JOINT_TYPES, FIXED)


def is_scalar(kind: str) -> bool:
    """Has the kind one coordinate? Only such joints can mimic or be mimicked, and have position limits."""
    return kind in JOINT_TYPES and JOINT_TYPES[kind].nq == 1


def is_bounded(kind: str) -> bool:
    """Are position limits expected?"""
    return is_scalar(kind) and kind not in JOINT_TYPES[kind].unbounded_types
