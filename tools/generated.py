"""Texts that are made from the registries: Robot's methods, and tables of the docs; and drawings of a chip.

    python tools/generated.py      # writes them anew; so does pytest tests/golden --update-golden

tests/golden/test_generated.py sees to it that they are up to date. In a page, what is made stands between
`<!-- made by tools/generated.py -->` and `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from textwrap import indent, wrap

from robomorph.accelerators.ik.chain import make_chain
from robomorph.accelerators.ik.make import make_chip
from robomorph.algorithms.registry import ALGORITHMS, Algorithm
from robomorph.bench.sections import GROUPS
from robomorph.loading import load
from robomorph.model.joints import JOINT_TYPES
from robomorph.passes.pipeline import PASSES, SCHEDULE, SIMPLIFY
from robomorph.report.ik_chip_drawing import chip_blocks, chip_timeline
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.plan import Knobs, Widths
from robomorph.tasks import TASKS

ROOT = Path(__file__).parents[1]
LINE = 110
_GLUE = "~"  # a blank at which a line may not break, inside of a shape
METHODS = '''\
"""Every algorithm as a method of a robot, on arrays: what `Robot` is made of beside its model and kernels.

Made from the algorithms' entries by tools/generated.py: not to be edited.

Shapes are given for one state; all arguments may have leading batch dimensions, which broadcast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import numpy.typing as npt

Array = npt.NDArray[Any]
Wrenches = Mapping[str, npt.ArrayLike] | npt.ArrayLike | None


class RobotFunctions(ABC):
    """The methods; whoever derives from this answers `_call`."""

    @abstractmethod
    def _call(self, name: str, args: tuple[Any, ...], f_ext: Any = None, frame: str | None = None) -> Any:
        """The results of the algorithm `name`: an array, or a named tuple of several."""
'''


def methods(old: str) -> str:
    """The whole of robot_functions.py."""
    del old
    made = [method(entry) for entry in ALGORITHMS.values() if entry.takes_states_alone]
    return METHODS + "".join(f"\n{indent(text, ' ' * 4)}" for text in made)


def method(entry: Algorithm) -> str:
    """One method, typed and described."""
    given = [f"{name}: npt.ArrayLike" for name in entry.inputs]
    given += ["frame: str"] * entry.frame + ["f_ext: Wrenches = None"] * entry.wrenches
    several = len(entry.outputs) > 1
    head, arguments = f"def {entry.name}(", f"self, {', '.join(given)}"
    tail = f") -> {'Any' if several else 'Array'}:"
    if len(head + arguments + tail) > LINE - 4:
        head, arguments = f"{head}\n", f"    {arguments}\n"
    passed = f"({', '.join(entry.inputs)}{',' * (len(entry.inputs) == 1)})"
    more = ", f_ext" * entry.wrenches + ", frame=frame" * entry.frame
    call = f'self._call("{entry.name}", {passed}{more})'
    body = f"return {call if several else f'cast(Array, {call})'}"
    return "\n".join([head + arguments + tail, *(f"    {line}" for line in [*docstring(entry), body]), ""])


def docstring(entry: Algorithm) -> list[str]:
    """Lines that with their indentation fit."""
    text = re.sub(r"\(\.\.\.[^()]*\)", lambda m: m[0].replace(" ", _GLUE), " ".join(entry.doc.split()))
    if not text:
        raise SystemExit(f"algorithm {entry.name}: it needs a `doc`, which is its method's")
    return [line.replace(_GLUE, " ") for line in wrap(f'"""{text}"""', LINE - 8)]


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """A page's table, the first row its head."""
    head, *rest = rows
    return "\n".join(
        "| " + " | ".join(row) + " |" if row else "|" + "---|" * len(head) for row in (head, (), *rest)
    )


def algorithms() -> Iterable[tuple[str, ...]]:
    yield "algorithm", "arguments", "results", "formulations"
    for entry in ALGORITHMS.values():
        arguments = [*entry.inputs, *["(f_ext)"] * entry.wrenches, *entry.parameters]
        about = ", of one frame" * entry.frame + ", of several frames" * entry.frames
        about += ", of all links" * any("links" in shape for shape in entry.outputs.values())
        formulations = ", ".join(f"`{name}`" for name in entry.formulations)
        yield f"`{entry.name}`", ", ".join(arguments), ", ".join(entry.outputs) + about, formulations


def passes() -> Iterable[tuple[str, ...]]:
    yield "pass", "does", "keeps"
    for step in dict.fromkeys((*SIMPLIFY, *SCHEDULE)):
        text = (inspect.getdoc(step) or "").split("\n\n")[0]
        if not text:
            raise SystemExit(
                f"pass {step.__name__}: it needs a docstring, which is its row in docs/compiler.md"
            )
        yield f"`{step.__name__}`", _phrase(text), PASSES[step.__name__].name.lower()


def tasks() -> Iterable[tuple[str, ...]]:
    yield "task", "its reference", "residual", "bounds", "rows that hold them"
    for task in TASKS.values():
        if task.words is None:
            raise SystemExit(f"task {task.name}: it needs `words`, which are its row in docs/add-a-task.md")
        made, *words = task.words
        yield f"`{made}`", *words


def joints() -> Iterable[tuple[str, ...]]:
    yield "joint", "moves", "in `q`", "in `qd`"
    for joint in dict.fromkeys(JOINT_TYPES.values()):
        if not (joint.about and joint.rates):
            raise SystemExit(f"joint type {type(joint).__name__}: it needs `about` and `rates`, for the docs")
        names = ", ".join(f"`{name}`" for name in joint.urdf_types)
        yield names, joint.about, joint.coordinates, joint.rates


def sections(group: str) -> Iterable[tuple[str, ...]]:
    yield "`--only`", "what is measured"
    yield from ((f"`{name}`", about) for name, about in GROUPS[group].abouts().items())


def _phrase(text: str) -> str:
    """A sentence as the entry of a table."""
    return text[:1].lower() + " ".join(text.split()).removesuffix(".")[1:]


_BETWEEN = re.compile(r"(<!-- made by tools/generated.py -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)


Rows = Callable[[], Iterable[tuple[str, ...]]]


def page(*given: Rows | str) -> str:
    """A page with its tables made anew: what makes them, in their order, then the page."""
    *makers, old = given
    assert isinstance(old, str)
    tables = [table(rows()) for rows in makers if not isinstance(rows, str)]
    found = len(_BETWEEN.findall(old))
    if found != len(tables):
        raise SystemExit(
            f"expected {len(tables)} places for tables, found {found}: see the head of {Path(__file__).name}"
        )
    made = iter(tables)
    return _BETWEEN.sub(lambda match: match[1] + next(made) + match[2], old)


def ik_chip(draw: Callable[[IkDesign], str], old: str) -> str:
    """A drawing of the chip for a hundred joints, with sixteen search units."""
    del old
    robot = load("chain:100")
    chain = make_chain(robot.model, "tool", robot.limits.lower, robot.limits.upper)
    return draw(IkDesign(make_chip(chain, Widths(), Knobs(units=16)).plan))


# By file: from its text to the text as it should be.
GENERATED: dict[str, Callable[[str], str]] = {
    "src/robomorph/robot_functions.py": methods,
    "docs/algorithms.md": partial(page, algorithms),
    "docs/compiler.md": partial(page, passes),
    "docs/add-a-task.md": partial(page, tasks),
    "docs/conventions.md": partial(page, joints),
    "docs/ik-chip.svg": partial(ik_chip, chip_blocks),
    "docs/ik-chip-timeline.svg": partial(ik_chip, chip_timeline),
    "docs/benchmarks.md": partial(page, *(partial(sections, group) for group in GROUPS)),
}


def write(name: str) -> bool:
    """Make one file anew; tells whether it changed."""
    path = ROOT / name
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    new = GENERATED[name](old)
    if new != old:
        path.write_text(new, encoding="utf-8")
    return new != old


if __name__ == "__main__":
    for each in GENERATED:
        print(f"{each}: {'written' if write(each) else 'as it was'}")
