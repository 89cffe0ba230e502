"""The programs of examples/: run, with what they print and what they leave for figures."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import runpy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.docs_site.links import ROOT

# What a reader would look at first, in that order; titles of their pages.
TITLES = {
    "load_and_inspect": "Load and inspect",
    "custom_robot": "A robot of your own",
    "batch_gradients": "Gradients in batches",
    "torch_identify": "Identification in Torch",
    "look_at_a_robot": "Look at a robot",
    "control_loop": "A control loop",
    "inverse_kinematics": "Inverse kinematics",
    "plan_a_motion": "Plan a motion",
    "mpc_reach": "Predictive control",
    "jax_swing_up": "Gradients in JAX",
    "casadi_reach": "Optimal control in CasADi",
    "gpu_opencl": "On a GPU",
    "chip": "A chip, simulated",
    "export_cpp": "Export to C++",
    "dataset": "A data set",
    "mujoco_step": "Derivatives of MuJoCo's step",
}


@dataclass(frozen=True)
class Example:
    """A program that was run. `names` are its globals, and under "result" what its `main` returned."""

    stem: str
    source: str
    printed: str
    names: dict[str, Any]

    @property
    def title(self) -> str:
        return TITLES[self.stem]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (ast.get_docstring(ast.parse(self.source)) or "").splitlines()[0]


def run_example(stem: str) -> Example:
    """The program, run in this process and in a folder of its own; it must not fail. One whose package is not
    installed says so instead."""
    path = ROOT / "examples" / f"{stem}.py"
    output, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
        os.chdir(folder)
        try:
            names = runpy.run_path(str(path), run_name=stem)
            if "main" in names:
                names["result"] = names["main"]()
        except ModuleNotFoundError as missing:
            names = {}
            print(f"not run: {missing.name} is not installed")
        finally:
            os.chdir(before)
    return Example(stem, path.read_text(encoding="utf-8"), output.getvalue(), names)


def example_page(example: Example, figures: str) -> str:
    """Markdown: its figures, its source, and what it printed."""
    return "\n".join(
        [
            f"# {example.title}",
            "",
            example.summary,
            "",
            figures,
            f"`examples/{example.stem}.py`",
            "",
            "```python",
            example.source.rstrip(),
            "```",
            "",
            "It printed, when this site was built:",
            "",
            "```text",
            example.printed.rstrip(),
            "```",
            "",
        ]
    )
