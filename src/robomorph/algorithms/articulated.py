"""Forward dynamics by articulated bodies (ABA): linear in the number of joints, for long chains.

An articulated inertia maps a motion (w, u) to a force (A w + H u, H^T w + M u): two symmetric 3x3 blocks
and a general one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.algorithms.inputs import user_vector
from robomorph.algorithms.inverse_dynamics import MOMENTA, VELOCITIES, joint_motion
from robomorph.algorithms.mass_matrix import Factors, factor, solve
from robomorph.algorithms.own_forces import at_rest, inertia
from robomorph.algorithms.sweep import Site, Stage, State, Sweep
from robomorph.spatial import Force, Motion, Scalar, Symmetric, Transform, Translation, Vec3, cross3
from robomorph.spatial.inertia import BodyInertia

Rows = tuple[Vec3, Vec3, Vec3]


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The apparent inertia of a body with everything jointed to it; `h` is given by rows."""

    a: Symmetric
    h: Rows
    m: Symmetric

    @classmethod
    def rigid(cls, body: BodyInertia) -> ArticulatedInertia:
        x, y, z = body.first
        mass = body.mass
        return cls(body.second, ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)), Symmetric(mass, mass, mass))

    def __add__(self, o: ArticulatedInertia) -> ArticulatedInertia:
        h = tuple(_add_rows(p, q) for p, q in zip(self.h, o.h, strict=True))
        return ArticulatedInertia(self.a + o.a, (h[0], h[1], h[2]), self.m + o.m)

    def rows(self) -> list[list[Scalar]]:
        """The full 6x6, angular first."""
        a, m = self.a.rows(), self.m.rows()
        top = [[*a[i], *self.h[i]] for i in range(3)]
        return top + [[*(self.h[j][i] for j in range(3)), *m[i]] for i in range(3)]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Scalar]]) -> ArticulatedInertia:
        h = tuple((row[3], row[4], row[5]) for row in rows[:3])
        lower = Symmetric.from_rows([row[3:] for row in rows[3:]])
        return cls(Symmetric.from_rows([row[:3] for row in rows[:3]]), (h[0], h[1], h[2]), lower)

    def apply(self, v: Motion) -> Force:
        return Force.of([_dot(row, v.scalars()) for row in self.rows()])

    def back(self, x: Transform) -> ArticulatedInertia:
        """Given in the child's frame, in the parent's."""
        a, h, m = self.a, self.h, self.m
        for move in reversed(x.moves):
            if isinstance(move, Translation):
                a, h = _shift(a, h, m, move.offset)
            else:
                columns = [move.back((h[0][j], h[1][j], h[2][j])) for j in range(3)]
                r = [move.back((columns[0][i], columns[1][i], columns[2][i])) for i in range(3)]
                a, h, m = move.tensor_back(a), (r[0], r[1], r[2]), move.tensor_back(m)
        return ArticulatedInertia(a, h, m)


def _shift(a: Symmetric, h: Rows, m: Symmetric, r: Vec3) -> tuple[Symmetric, Rows]:
    """The origin moves by -r: H' = H + r x M, A' = A - H' r x - (H r x)^T."""
    rm = [cross3(r, row) for row in m.rows()]  # column j of r x M, because M is symmetric
    new = tuple(_add_rows(h[i], (rm[0][i], rm[1][i], rm[2][i])) for i in range(3))
    # (K r x) has rows K_i x r, for any K given by rows.
    after, before = [cross3(row, r) for row in new], [cross3(row, r) for row in h]
    rows = a.rows()
    full = [[rows[i][j] - after[i][j] - before[j][i] for j in range(3)] for i in range(3)]
    return Symmetric.from_rows(full), (new[0], new[1], new[2])


def _add_rows(p: Vec3, q: Vec3) -> Vec3:
    return (p[0] + q[0], p[1] + q[1], p[2] + q[2])


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def start_articulated_step(site: Site) -> None:
    site["articulated"] = ArticulatedInertia.rigid(site.link.inertia)
    external = site.state.fields.get(("f_ext", site.link.index))
    site["bias_force"] = site["gyroscopic"] if external is None else site["gyroscopic"] - external
    site["bias_motion"] = site["v"].cross(site["v_joint"])


def articulated_step(site: Site) -> None:
    """Inward: eliminate the joint, and hand what is left to the parent."""
    articulated: ArticulatedInertia = site["articulated"]
    link, units = site.link, site.link.joint.subspace
    reach = [articulated.apply(unit) for unit in units]  # U = I S
    resistance = [[force.dot(unit) for unit in units] for force in reach]
    bias = [site["bias_force"].dot(unit) for unit in units]
    if link.forces:
        bias = at_rest(site.state, link, bias)
        for k, own in enumerate(inertia(site.state, link)):
            resistance[k][k] = resistance[k][k] + own
    factors = factor(resistance)
    left = [t - b for t, b in zip(site["tau_own"], bias, strict=True)]
    site["reach"], site["joint_factors"], site["left"] = reach, factors, left
    if site.link.parent < 0:
        return
    # Armature resists on its own: then something is left along the joint.
    rest = _without(articulated, () if link.forces else units, reach, factors)
    push = solve(factors, left)
    force = site["bias_force"] + rest.apply(site["bias_motion"])
    for unit_force, share in zip(reach, push, strict=True):
        force = force + unit_force.scaled(share)
    site.send("articulated", rest.back(site["X"]))
    site.send("bias_force", site["X"].force_back(force))


def _without(
    inertia: ArticulatedInertia,
    gone: Sequence[Motion],
    reach: Sequence[Force],
    factors: Factors,
) -> ArticulatedInertia:
    """I - U D^-1 U^T; along the units that are `gone` no resistance is left, so that rows and columns there
    are exactly zero."""
    free = {unit.scalars().index(1.0) for unit in gone if sorted(unit.scalars()) == [0.0] * 5 + [1.0]}
    forces = [force.scalars() for force in reach]
    scaled = [solve(factors, [force[j] for force in forces]) for j in range(6)]
    rows = inertia.rows()
    for i in range(6):
        for j in range(i, 6):
            value = (
                0.0
                if i in free or j in free
                else rows[i][j] - _dot([force[i] for force in forces], scaled[j])
            )
            rows[i][j] = rows[j][i] = value
    return ArticulatedInertia.from_rows(rows)


def joint_acceleration_step(site: Site) -> None:
    carried = site["X"].motion(site.parent("a")) + site["bias_motion"]
    rest = [x - force.dot(carried) for x, force in zip(site["left"], site["reach"], strict=True)]
    site["qdd"] = solve(site["joint_factors"], rest)
    site["a"] = carried + joint_motion(site, site["qdd"])


def _give_torques(state: State) -> None:
    for link in state.tree.links:
        state.fields["tau_own", link.index] = state.whole["tau_in"][
            link.v_start : link.v_start + link.joint.nv
        ]


def _gather(state: State) -> None:
    tree = state.tree
    state.whole["qdd"] = user_vector(
        tree, [x for link in tree.links for x in state.fields["qdd", link.index]]
    )


# For trees in which every joint has degrees of freedom of its own (no mimic joints).
ARTICULATED: tuple[Sweep | Stage, ...] = (
    VELOCITIES,
    MOMENTA,
    Stage("torques", _give_torques),
    Sweep("start articulated bodies", start_articulated_step),
    Sweep("articulated bodies", articulated_step, inward=True),
    Sweep("joint accelerations", joint_acceleration_step),
    Stage("gather accelerations", _gather),
)
