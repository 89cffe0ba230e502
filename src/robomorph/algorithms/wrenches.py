"""What changes and derivatives of external wrenches have to do with the motions of the links."""

from __future__ import annotations

from robomorph.algorithms.inputs import wrenches_by_link
from robomorph.algorithms.sweep import State
from robomorph.spatial import Force, Motion, Scalar


def changed_wrenches(state: State) -> dict[int, Force]:
    """By link that moves, the change of the wrench on it, in its frame; from `df_ext`, if there is one."""
    if "df_ext" not in state.whole:
        return {}
    return wrenches_by_link(state.tree, state.whole["wrench_links"], state.whole["df_ext"])


def power_of_wrenches(state: State, motion: str) -> list[Scalar]:
    """Six per link with a wrench: what each entry of its wrench does along the link's motion (a field)."""
    out: list[Scalar] = []
    for name in state.whole["wrench_links"]:
        link, placement = state.tree.frames[name]
        moves: Motion = placement.motion(state.fields.get((motion, link), Motion()))
        out += [*moves.lin, *moves.ang]
    return out
