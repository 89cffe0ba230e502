"""Gradient of inverse dynamics by columns: RNEA differentiated for one degree of freedom at a time."""

from __future__ import annotations

from robomorph.algorithms.inputs import user_matrix
from robomorph.algorithms.joint_forces import Rows
from robomorph.algorithms.own_forces import position_slopes, rate_slopes
from robomorph.algorithms.sweep import Site, Stage, State, Sweep, related_columns, support_columns
from robomorph.spatial import Force, Motion, Scalar

_AT_REST = Motion()


def _motion_step(site: Site, name: str, dv_own: Motion, da_own: Motion) -> None:
    """Derivatives of velocity, acceleration and force; `*_own` is what the link's own joint adds."""
    x = site["X"]
    dv = x.motion(site.column_parent(f"dv_{name}", _AT_REST))
    da = x.motion(site.column_parent(f"da_{name}", _AT_REST))
    if site.own_column:
        dv, da = dv + dv_own, da + da_own
    da = da + dv.cross(site["v_joint"])
    inertia = site.link.inertia
    df = inertia.apply(da) + dv.cross_force(site["momentum"]) + site["v"].cross_force(inertia.apply(dv))
    site.column_set(f"dv_{name}", dv)
    site.column_set(f"da_{name}", da)
    site.column_set(f"df_{name}", df)


def position_step(site: Site) -> None:
    axis = site.column_motion
    _motion_step(site, "q", site["v_carried"].cross(axis), site["a_carried"].cross(axis))


def rate_step(site: Site) -> None:
    axis = site.column_motion
    _motion_step(site, "qd", axis, site["v"].cross(axis))


def position_force_step(site: Site) -> None:
    """Inward: project on the joint, then on to the parent; turning the joint turns the force too."""
    df: Force = site.column_get("df_q", Force())
    tau = [df.dot(unit) for unit in site.link.joint.subspace]
    if site.own_column:
        tau = _with_column(site, tau, position_slopes(site.link))
        df = df + site.column_motion.cross_force(site["f"])
    site.column_set("dtau_q", tau)
    site.column_send("df_q", site["X"].force_back(df))


def rate_force_step(site: Site) -> None:
    df: Force = site.column_get("df_qd", Force())
    tau = [df.dot(unit) for unit in site.link.joint.subspace]
    if site.own_column:
        tau = _with_column(site, tau, rate_slopes(site.state, site.link))
    site.column_set("dtau_qd", tau)
    site.column_send("df_qd", site["X"].force_back(df))


def _with_column(site: Site, tau: list[Scalar], own: Rows | None) -> list[Scalar]:
    """What the joint asks for by itself changes with its own columns alone."""
    if own is None:
        return tau
    assert site.column is not None
    return [t + row[site.column.k] for t, row in zip(tau, own, strict=True)]


def _gather(state: State) -> None:
    for name in ("q", "qd"):
        entries = {}
        for (field, link, column), values in state.columns.items():
            if field == f"dtau_{name}":
                for dof, value in zip(state.tree.link_dofs[link], values, strict=True):
                    entries[dof.index, column] = value
        state.whole[f"dtau_d{name}"] = user_matrix(state.tree, entries)


COLUMNS: tuple[Sweep | Stage, ...] = (
    Sweep("position derivatives", position_step, columns=support_columns),
    Sweep("rate derivatives", rate_step, columns=support_columns),
    Sweep("position force derivatives", position_force_step, inward=True, columns=related_columns),
    Sweep("rate force derivatives", rate_force_step, inward=True, columns=related_columns),
    Stage("gather gradients", _gather),
)
