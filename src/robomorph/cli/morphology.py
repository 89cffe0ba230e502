"""What a robot's shape means for its programs: the sparsity of joint transforms, and operation counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.tree import Tree as View

from robomorph.algorithms.frames import plan_frames
from robomorph.algorithms.registry import ALGORITHMS, trace
from robomorph.algorithms.tree import Tree, TreeLink, build_tree
from robomorph.ir.trace import Tracer
from robomorph.model import WORLD, Model
from robomorph.passes.dce import dce
from robomorph.robot import Robot
from robomorph.spatial import Transform

Pattern = tuple[tuple[bool, ...], ...]

ENTRIES = 36


@dataclass(frozen=True)
class Sparsity:
    """Which of the 36 entries of a joint's 6x6 motion transform (angular rows first) can be nonzero."""

    pattern: Pattern

    @property
    def populated(self) -> int:
        return sum(map(sum, self.pattern))

    def lines(self, signs: tuple[str, str]) -> list[str]:
        """Six lines of six signs: the first for an entry that is there, the second for a zero."""
        return ["".join(signs[0] if entry else signs[1] for entry in row) for row in self.pattern]


def transform_sparsity(model: Model, *, fitted: bool) -> list[Sparsity]:
    """The sparsity of every joint's transform from its parent body, for any configuration.

    In frames whose z axis is the joint's axis: otherwise as in the file, or `fitted` to the children.
    """
    tree = build_tree(model, plan_frames(model, fit=fitted), regroup=False)
    return [_link_sparsity(link) for link in tree.links]


def _link_sparsity(link: TreeLink) -> Sparsity:
    tracer = Tracer()
    q = [tracer.input(k) for k in range(link.joint.nq)]
    matrix = Transform(link.placement).then(link.joint.transform(q, link.turn)).matrix()
    # What is not a plain zero is a symbol or a constant: it is there in some configuration.
    return Sparsity(tuple(tuple(not (isinstance(x, float) and x == 0.0) for x in row) for row in matrix))


def superposed(patterns: Sequence[Sparsity]) -> Sparsity:
    """Entries that are there in at least one of the transforms."""
    return Sparsity(tuple(tuple(any(s.pattern[i][j] for s in patterns) for j in range(6)) for i in range(6)))


def regrouping_savings(robot: Robot) -> dict[str, tuple[int, int]]:
    """Operations of programs as traced, without and with regrouped inertial parameters."""
    names = {"inverse_dynamics": "rnea", "mass_matrix": "crba"}
    return {
        name: (_cost(robot, name, way, False), _cost(robot, name, way, True)) for name, way in names.items()
    }


def _cost(robot: Robot, name: str, formulation: str, regroup: bool) -> int:
    algorithm = ALGORITHMS[name]
    tree: Tree = robot.specialiser.tree(regroup=regroup)
    return dce(trace(algorithm, tree, formulation, outputs=tuple(algorithm.outputs))).cost()


def tree_view(model: Model, sparsity: Sequence[Sparsity]) -> View:
    """The moving bodies as a tree: link, joint and its type, and the entries of its transform."""
    root = model.frames[0]
    view = View(f"[bold]{escape(root.name)}[/] [dim]{'root, fixed' if root.body == WORLD else ''}[/]")
    views: list[View] = []
    for body, entries in zip(model.bodies, sparsity, strict=True):
        above = view if body.parent == WORLD else views[body.parent]
        if body.name == root.name:  # the floating base is the root itself
            view.label = f"[bold]{escape(root.name)}[/] [dim]{escape(body.joint_name)}, floating[/]"
            views.append(view)
            continue
        follows = "" if body.mimic is None else f", mimics {escape(model.bodies[body.mimic[0]].joint_name)}"
        label = f"[bold]{escape(body.name)}[/] [dim]{escape(body.joint_name)}, {body.kind}{follows}[/]"
        views.append(above.add(f"{label} [cyan]{entries.populated}/{ENTRIES}[/]"))
    return view
