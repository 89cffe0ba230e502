"""The Hessian of multipliers . channels, closed form where robots move and by machine where tasks bend.

Joint j turns all it carries about its axis w_j through o_j. With the gradient of the tasks as forces f on
points p and g on axes a (leaves.py), the derivative by q_j of what it carries is w_j . (sum of a x g +
(p - o_j) x f), and moving joint k, further out or the same, changes that by
    w_j . U_k,   U_k = sum over what k carries of (w_k x a) x g + (w_k x (p - o_k)) x f
which is a matrix of what k carries times w_k, as (w x r) x f = r (f . w) - w (r . f). Where the forces
themselves change with the pose, their change along every joint is added (forward mode).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.algorithms.inputs import set_inputs, user_matrix
from robomorph.algorithms.kinematics import POSES, total_mass
from robomorph.algorithms.sweep import WORLD, State, run
from robomorph.algorithms.tree import Dof, Tree
from robomorph.algorithms.world_pose import WorldPose
from robomorph.ir.derivatives import Run
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.kernels.channels import channel_count, channel_inputs
from robomorph.planning.kernels.leaves import Leaves, trace_leaves
from robomorph.spatial import ZERO3, Vec3, add3, cross3, dot3, scale3, sub3
from robomorph.tasks import AnyTask, Scene

_Forces = Sequence[Any]  # per leaf
_Entries = dict[tuple[int, int], Any]


def hessian_inputs(nv: int, tasks: Sequence[AnyTask]) -> tuple[Port, ...]:
    """Configuration (nv,), references, and a multiplier for every channel (C,)."""
    return (*channel_inputs(nv, tasks), Port("multipliers", (channel_count(tasks),)))


def hessian_output(nv: int) -> Port:
    return Port("hessian", (nv, nv))


def trace_channel_hessian(tree: Tree, tasks: Sequence[AnyTask]) -> Program:
    """(q, references, multipliers) -> hessian (nv, nv) of multipliers . values."""
    tracer = Tracer()
    ports = hessian_inputs(tree.nv, tasks)
    inputs = tracer.inputs(ports)
    state = State(tree)
    set_inputs(state, {"q": inputs["q"]}, ())
    run(state, POSES)
    body = _Kinematics(tracer, state, trace_leaves(tree, tasks))
    hessian = body.hessian(inputs["q"], inputs["references"], inputs["multipliers"])
    shapes = {"hessian": hessian_output(tree.nv).shape}
    return run_passes(tracer.program("channel_hessian", ports, {"hessian": hessian}, shapes), SIMPLIFY)


class _Kinematics:
    """How leaves move with the joints, at one configuration."""

    def __init__(self, tracer: Tracer, state: State, leaves: Leaves) -> None:
        self.tracer = tracer
        self.state, self.tree, self.leaves = state, state.tree, leaves
        self.poses: dict[str, WorldPose] = {}
        for frame in leaves.frames:
            link, placement = self.tree.frames[frame]
            self.poses[frame] = state.fields["pose", link].then(placement)
        self.moments = self._carried_moments() if leaves.mass_point is not None else []

    def hessian(self, q: _Forces, references: _Forces, multipliers: _Forces) -> list[list[Any]]:
        gradient = Run(self.tracer, self.leaves.gradient, [*q, *references, *self._values(q), *multipliers])
        forces = gradient.results[len(q) :]
        entries = self._geometric(forces)
        if not self.leaves.bent:
            return user_matrix(self.tree, entries)
        changes = gradient.push(self._seeds(len(q), len(q) + len(references)))
        self._add_bending(entries, changes[len(q) :])
        out = user_matrix(self.tree, entries)
        self._add_direct(out, changes[: len(q)])
        return out

    # --- leaves and their derivatives ------------------------------------------------------------------

    def _values(self, q: _Forces) -> list[Any]:
        values: list[Any] = [0.0] * self.leaves.gradient.inputs[2].size
        for frame, start in self.leaves.frames.items():
            pose = self.poses[frame]
            values[start : start + 12] = [*(x for axis in pose.axes for x in axis), *pose.origin]
        if self.leaves.mass_point is not None:
            place = slice(self.leaves.mass_point, self.leaves.mass_point + 3)
            values[place] = Scene(self.tree, q).center_of_mass
        return values

    def _axis(self, dof: Dof) -> tuple[Vec3, Vec3, Vec3]:
        """Direction of turning, direction of sliding and origin of a joint, in the world."""
        pose: WorldPose = self.state.fields["pose", dof.link]
        unit = self.tree.links[dof.link].joint.subspace[dof.k]
        return pose.vector(unit.ang), pose.vector(unit.lin), pose.origin

    def _velocity(self, dof: Dof, point: Vec3) -> Vec3:
        """Of a point that the joint carries."""
        turn, slide, origin = self._axis(dof)
        return add3(slide, cross3(turn, sub3(point, origin)))

    def _carried_moments(self) -> list[tuple[float, Vec3]]:
        """Per link, share of the whole mass that it carries and the moment of that, in the world."""
        share = 1.0 / total_mass(self.state)
        out: list[tuple[float, Vec3]] = []
        for link in self.tree.links:
            pose, inertia = self.state.fields["pose", link.index], link.inertia
            moment = add3(pose.vector(inertia.first), scale3(inertia.mass, pose.origin))
            out.append((share * inertia.mass, scale3(share, moment)))
        for link in reversed(self.tree.links):
            if link.parent != WORLD:
                (m, h), (mass, moment) = out[link.parent], out[link.index]
                out[link.parent] = (m + mass, add3(h, moment))
        return out

    def _mass_velocity(self, dof: Dof) -> Vec3:
        """Of the centre of mass."""
        turn, slide, origin = self._axis(dof)
        mass, moment = self.moments[dof.link]
        return add3(scale3(mass, slide), cross3(turn, sub3(moment, scale3(mass, origin))))

    def _carries(self, dof: Dof, frame: str) -> bool:
        link, _ = self.tree.frames[frame]
        return link != WORLD and dof.link in self.tree.support[link]

    def _seeds(self, q_size: int, first: int) -> dict[int, dict[Any, Any]]:
        """By slot of the gradient's inputs: its change along every internal degree of freedom (an index), and
        of q itself along ("q", its index)."""
        seeds: dict[int, dict[Any, Any]] = {u: {("q", u): 1.0} for u in range(q_size)}

        def seed(start: int, dof: Dof, change: Vec3) -> None:
            for k, x in enumerate(change):
                seeds.setdefault(first + start + k, {})[dof.index] = x

        for dof in self.tree.dofs:
            for frame, start in self.leaves.frames.items():
                if self._carries(dof, frame):
                    for k, axis in enumerate(self.poses[frame].axes):
                        seed(start + 3 * k, dof, cross3(self._axis(dof)[0], axis))
                    seed(start + 9, dof, self._velocity(dof, self.poses[frame].origin))
            if self.leaves.mass_point is not None:
                seed(self.leaves.mass_point, dof, self._mass_velocity(dof))
        return seeds

    # --- the parts of the Hessian ----------------------------------------------------------------------

    def _geometric(self, forces: _Forces) -> _Entries:
        """With forces held constant: w_j . U_k for every joint k and all joints j on its way to the root."""
        entries: _Entries = {}
        stiffness = self._stiffness(forces)
        for dof in self.tree.dofs:
            change = self._change(dof, stiffness, forces)
            for other in self.tree.support_dofs(dof.link):
                if other.index <= dof.index:
                    value = dot3(self._axis(other)[0], change)
                    entries[other.index, dof.index] = entries[dof.index, other.index] = value
        return entries

    def _stiffness(self, forces: _Forces) -> list[_Loads]:
        """Per link, the loads of all frames that it carries."""
        out = [_Loads() for _ in self.tree.links]
        for frame, start in self.leaves.frames.items():
            link, _ = self.tree.frames[frame]
            if link == WORLD:
                continue
            pose = self.poses[frame]
            for k, arm in enumerate((*pose.axes, pose.origin)):
                force = forces[start + 3 * k : start + 3 * k + 3]
                out[link].add(arm, (force[0], force[1], force[2]), at_point=k == 3)
        for here in reversed(self.tree.links):
            if here.parent != WORLD:
                out[here.parent].merge(out[here.index])
        return out

    def _change(self, dof: Dof, stiffness: list[_Loads], forces: _Forces) -> Vec3:
        """U_k."""
        turn, slide, origin = self._axis(dof)
        change = stiffness[dof.link].turned(turn, slide, origin)
        if self.leaves.mass_point is None:
            return change
        pull = forces[self.leaves.mass_point : self.leaves.mass_point + 3]
        return add3(change, cross3(self._mass_velocity(dof), (pull[0], pull[1], pull[2])))

    def _add_bending(self, entries: _Entries, changes: Sequence[dict[Any, Any]]) -> None:
        """What the change of the forces along k adds, for all pairs j, k with k not nearer the root."""
        for j in self.tree.dofs:
            for k in self.tree.dofs[j.index :]:
                value = self._bending(j, [change.get(k.index, 0.0) for change in changes])
                if not isinstance(value, float) or value != 0.0:
                    have = entries.get((j.index, k.index), 0.0)
                    entries[j.index, k.index] = entries[k.index, j.index] = have + value

    def _bending(self, j: Dof, changes: _Forces) -> Any:
        """The work of changed forces along joint j."""
        total: Any = 0.0
        for frame, start in self.leaves.frames.items():
            if not self._carries(j, frame):
                continue
            pose = self.poses[frame]
            moves = [cross3(self._axis(j)[0], axis) for axis in pose.axes]
            for k, move in enumerate((*moves, self._velocity(j, pose.origin))):
                total = total + _dot(move, changes[start + 3 * k : start + 3 * k + 3])
        if self.leaves.mass_point is not None:
            start = self.leaves.mass_point
            total = total + _dot(self._mass_velocity(j), changes[start : start + 3])
        return total

    def _add_direct(self, out: list[list[Any]], changes: Sequence[dict[Any, Any]]) -> None:
        """Tasks that read q by itself: along q, and along joints (both ways round)."""
        for u, change in enumerate(changes):
            for direction, value in change.items():
                if isinstance(direction, tuple):
                    out[u][direction[1]] = out[u][direction[1]] + value
                    continue
                dof = self.tree.dofs[direction]
                out[u][dof.user] = out[u][dof.user] + dof.scale * value
                out[dof.user][u] = out[dof.user][u] + dof.scale * value


class _Loads:
    """Sums over forces f at arms r: the matrix r f^T, and f where the arm is a point."""

    def __init__(self) -> None:
        self.matrix: list[Vec3] = [ZERO3, ZERO3, ZERO3]
        self.force: Vec3 = ZERO3

    def add(self, arm: Vec3, force: Vec3, *, at_point: bool) -> None:
        self.matrix = [add3(row, scale3(x, force)) for row, x in zip(self.matrix, arm, strict=True)]
        if at_point:
            self.force = add3(self.force, force)

    def merge(self, other: _Loads) -> None:
        self.matrix = [add3(a, b) for a, b in zip(self.matrix, other.matrix, strict=True)]
        self.force = add3(self.force, other.force)

    def turned(self, turn: Vec3, slide: Vec3, origin: Vec3) -> Vec3:
        """Sum of (turn x r) x f, with points' arms from `origin`, and of slide x f."""
        rows = [sub3(row, scale3(x, self.force)) for row, x in zip(self.matrix, origin, strict=True)]
        trace = rows[0][0] + rows[1][1] + rows[2][2]
        along: Vec3 = (dot3(rows[0], turn), dot3(rows[1], turn), dot3(rows[2], turn))
        return add3(sub3(along, scale3(trace, turn)), cross3(slide, self.force))


def _dot(a: Vec3, b: Sequence[Any]) -> Any:
    return dot3(a, (b[0], b[1], b[2]))
