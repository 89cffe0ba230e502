"""Files that a long command is to write: refused before the work, not after it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

# The FILE of an option --json that was given none.
STDOUT = "-"
HTML_HELP = "write a page with the scene, a time bar and plots, which opens without a network"


def check_outputs(json_file: str | None, plots: Path | None, html: str | None = None) -> None:
    """Whether all can be written: OSError, ArgumentError for a robot or a page's name, TargetError without
    matplotlib."""
    if html is not None:
        from robomorph.viewer.html_file import html_path

        _check_file(html_path(html))
    if json_file is not None and json_file != STDOUT:
        _refuse_robots(json_file)
        _check_file(Path(json_file))
    if plots is not None:
        _check_folder(plots)


def write_json(document: dict[str, Any], path: Path) -> None:
    """The document as a file, in a folder that is made if need be."""
    from robomorph.cli.terminal import json_text

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text(document), encoding="utf-8")


def _refuse_robots(name: str) -> None:
    """`bench --json iiwa14` means the robot, but the option takes what follows it."""
    from robomorph.errors import ArgumentError
    from robomorph.model.robots import builtin_urdf

    if name.endswith(".urdf") or builtin_urdf(name) is not None:
        raise ArgumentError(
            f"--json: expected a file to write, found the robot {name!r}. Name robots before --json"
        )


def _check_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("ab"):
        pass
    if new:
        path.unlink()  # an interrupted run shall not leave an empty document


def _check_folder(folder: Path) -> None:
    from robomorph.report.guard import matplotlib_figure

    matplotlib_figure()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass
