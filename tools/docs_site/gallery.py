"""Figures of the examples, drawn from what the programs left behind.

A figure is a file and its words. To add one, write a function that takes the names of an example (its
globals, and under "result" what its `main` returned) and list it in FIGURES. A file that ends in .svg is
shown as a picture; one that ends in .html, such as a scene to turn around in, in a frame of its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from robomorph.report.figures import Curve, Figure, Panel
from robomorph.report.guard import matplotlib_figure
from robomorph.report.loop_plots import loop_figures
from robomorph.report.png import draw
from robomorph.report.rtl_drawing import block_diagram, timeline
from tools.docs_site.examples import Example
from tools.docs_site.scene import Scene

Names = dict[str, Any]
_GREY = "#8a94a0"  # legible on white and on black
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "robomorph",  # the same file from the same numbers
    "font.family": "sans-serif",
    "savefig.transparent": True,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _GREY),
    "legend.framealpha": 0.0,
    "grid.color": _GREY,
}
_CURVE_POINTS = 250


@dataclass(frozen=True)
class Drawn:
    """A figure: the name of its file, its content, and what it shows; `wide` ones have a row of their own."""

    name: str
    content: str
    caption: str
    wide: bool = True

    def markdown(self, up: str) -> str:
        """HTML for a page; `up` leads from it to the top of the site."""
        place = f"{up}figures/{self.name}"
        if self.name.endswith(".html"):
            shown = f'<iframe src="{place}" title="{self.caption}" loading="lazy"></iframe>'
        else:
            shown = f'<img src="{place}" alt="{self.caption}" loading="lazy">'
        kind = ' class="wide"' if self.wide else ""
        return f"<figure{kind}>\n{shown}\n<figcaption>{self.caption}</figcaption>\n</figure>\n"


def _robots(names: Names) -> Iterator[Drawn]:
    for name, robot in names["robots"].items():
        bent = robot.neutral.copy()
        if name == "iiwa14":
            bent[:] = [-1.2, 0.6, 0.0, -1.4, 0.0, 0.8, 0.0]
        caption = f"{name}: {robot.nv} degrees of freedom, {len(robot.link_names)} links"
        yield Drawn(f"robot-{name}.svg", Scene().robot(robot, bent).svg(), caption, wide=False)


def _picker(names: Names) -> Iterator[Drawn]:
    robot = names["loaded"]
    q = names["q"]
    tip = robot.forward_kinematics(q, "fingertip")[:3, 3]
    scene = Scene(turn=-40.0, tilt=28.0).robot(robot, q).mark(tip, "#3a9d5d", "fingertip")
    yield Drawn(
        "picker.svg", scene.svg(), "A column and an arm from URDF text; green: the fingertip, a tool frame"
    )


def _gradient(names: Names) -> Iterator[Drawn]:
    robot, mean = names["robot"], np.abs(names["g"].dqdd_dq).mean(axis=0)
    shown = np.where(mean > 0.0, np.log10(np.where(mean > 0.0, mean, 1.0)), np.nan)
    with _style():
        figure = matplotlib_figure()(figsize=(5.2, 4.2))
        axes = figure.add_subplot()
        image = axes.imshow(shown, cmap="viridis", vmin=-3.0)
        axes.set(xlabel="dq", ylabel="qdd")
        axes.set_title("log10 of the mean |d(qdd)/dq|; empty: always zero", fontsize="medium")
        figure.colorbar(image, extend="min")
    caption = f"The gradient of HyQ's {robot.nv} accelerations, over {len(names['q'])} states in one call"
    yield Drawn("gradient.svg", _svg(figure), caption)


def _control(names: Names) -> Iterator[Drawn]:
    passed, goal = names["passed"], names["goal"]
    thin = slice(None, None, max(1, len(passed) // _CURVE_POINTS))
    times = names["dt"] * np.arange(len(passed))[thin]
    curves = [
        Curve(list(times), list(np.abs(column - wanted) + 1e-9), name, form="-")
        for name, column, wanted in zip(names["robot"].joint_names, passed[thin].T, goal, strict=True)
    ]
    panel = Panel(
        curves, "distance of the joints from the goal", "s", "rad", log="y", legend="beside", grid=True
    )
    yield Drawn(
        "control.svg",
        _plot(Figure("control", [panel], (6.4, 3.4))),
        "Computed torques bring the arm to its goal",
    )


def _solutions(names: Names) -> Iterator[Drawn]:
    robot, several, batch = names["robot"], names["several"], names["batch"]
    scene = Scene(turn=60.0)
    for k, q in enumerate(several.q[several.success]):
        scene.robot(robot, q, opacity=1.0 if k == 0 else 0.35)
    scene.mark(names["pose"][:3, 3], "#3a9d5d", "the pose")
    yield Drawn("ik-solutions.svg", scene.svg(), f"One pose in {several.success.sum()} ways", wide=False)
    scene = Scene(turn=60.0)
    for q, point, success in zip(batch.q, names["points"], batch.success, strict=True):
        scene.robot(robot, q, opacity=0.45 if success else 1.0)
        scene.mark(point, "#3a9d5d" if success else "#d0404a", "reached" if success else "not reached")
    caption = "A batch of positions; the red one is out of reach, and the arm comes as near as it can"
    yield Drawn("ik-batch.svg", scene.svg(), caption, wide=False)


def _plan(names: Names) -> Iterator[Drawn]:
    plan, tool = names["result"], names["TOOL"]
    scene = Scene(turn=20.0)
    for t in np.linspace(0.0, plan.seconds, 6):
        scene.robot(
            plan.robot, plan.q(t), opacity=1.0 if t == plan.seconds else 0.15 + 0.4 * t / plan.seconds
        )
    times = np.linspace(0.0, plan.seconds, 100)
    scene.path(plan.robot.forward_kinematics(plan.q(times), tool)[:, :3, 3])
    yield Drawn(
        "plan.svg", scene.svg(), f"The planned motion of {plan.seconds:g} s, and the path of its tool"
    )
    shares = plan.tau(times) / plan.robot.limits.effort
    curves = [
        Curve(list(times), list(share), name, form="-")
        for name, share in zip(plan.robot.joint_names, shares.T, strict=True)
    ]
    curves += [Curve([0.0, plan.seconds], [side, side], colour=_GREY, form="--") for side in (-0.5, 0.5)]
    panel = Panel(curves, "torques, share of the limit", "s", legend="beside", grid=True)
    yield Drawn(
        "plan-torques.svg",
        _plot(Figure("plan", [panel], (6.4, 3.4))),
        "Torques stay below half of the limits (dashed), as asked",
    )


def _loop(names: Names) -> Iterator[Drawn]:
    loop = names["result"]
    captions = {
        "error": f"Distance from the goal, with a push at 1 s that moves the arm by {loop.peak:.4f} rad",
        "speeds": "Speeds as shares of their limits: the payload that nobody told of pushes one across",
        "torques": "Torques as shares of their limits",
    }
    for figure in loop_figures(loop):
        if figure.name in captions:
            yield Drawn(f"mpc-{figure.name}.svg", _plot(_thinner(figure)), captions[figure.name])


def _errors(names: Names) -> Iterator[Drawn]:
    curves = [
        Curve(list(range(len(error))), sorted(np.maximum(error, 1e-17)), dtype, form="-")
        for dtype, error in names["errors"].items()
    ]
    if curves:
        title = "difference from the CPU's float64, relative, states sorted"
        panel = Panel(curves, title, "state", log="y", legend="inside", grid=True)
        yield Drawn(
            "opencl.svg",
            _plot(Figure("opencl", [panel], (6.0, 3.2))),
            "The gradient by OpenCL beside the CPU's",
        )


def _chip(names: Names) -> Iterator[Drawn]:
    design = names["chip"].accelerator.design
    yield Drawn(
        "chip-blocks.svg", block_diagram(design), "The chip: streams, control, and what is in its core"
    )
    yield Drawn("chip-timeline.svg", timeline(design), "What starts in each cycle of one state")


def _scene(names: Names) -> Iterator[Drawn]:
    yield Drawn("circle.html", names["result"], "A motion to turn around in, with its plots")


FIGURES: dict[str, Callable[[Names], Iterator[Drawn]]] = {
    "load_and_inspect": _robots,
    "custom_robot": _picker,
    "batch_gradients": _gradient,
    "look_at_a_robot": _scene,
    "control_loop": _control,
    "inverse_kinematics": _solutions,
    "plan_a_motion": _plan,
    "mpc_reach": _loop,
    "gpu_opencl": _errors,
    "chip": _chip,
}


def draw_figures(example: Example, folder: Path) -> list[Drawn]:
    """The figures of an example, written into the folder."""
    drawn = list(FIGURES[example.stem](example.names)) if example.stem in FIGURES else []
    folder.mkdir(parents=True, exist_ok=True)
    for figure in drawn:
        (folder / figure.name).write_text(figure.content, encoding="utf-8")
    return drawn


def gallery_text(shown: list[tuple[Example, list[Drawn]]]) -> str:
    """The gallery's figures by example, in Markdown."""
    parts = []
    for example, figures in shown:
        if figures:
            parts += [
                f"## {example.title}",
                "",
                f"{example.summary} [The program](examples/{example.stem}.md)",
                "",
            ]
            parts += ['<div class="figures">', *(figure.markdown("") for figure in figures), "</div>", ""]
    return "\n".join(parts)


def _thinner(figure: Figure) -> Figure:
    """The same with fewer points on its curves: a page need not show every millisecond."""
    panels = []
    for panel in figure.panels:
        marks = []
        for mark in panel.marks:
            if isinstance(mark, Curve):
                step = slice(None, None, max(1, len(mark.x) // _CURVE_POINTS))
                mark = Curve(mark.x[step], mark.y[step], mark.label, mark.colour, mark.form)
            marks.append(mark)
        panels.append(Panel(**{**vars(panel), "marks": marks}))
    return Figure(**{**vars(figure), "panels": panels})


def _plot(figure: Figure) -> str:
    with _style():
        return _svg(draw(figure))


def _svg(figure: Any) -> str:
    text = io.StringIO()
    with _style():
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    return text.getvalue()


def _style() -> AbstractContextManager[None]:
    from matplotlib import rc_context

    return cast(AbstractContextManager[None], rc_context(_STYLE))
