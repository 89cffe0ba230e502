"""One manifest for every export, and one way to fill templates."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.export import export, make_package
from robomorph.export.folders import write_folder
from robomorph.targets.cpp.project import project_files
from robomorph.targets.templates import fill

FUNCTION = "inverse_dynamics"


def written(folder: Path, target: str) -> tuple[dict[str, Any], str]:
    """The manifest of an export for `target`, and its name."""
    main(["export", "chain:2", "--target", target, "--functions", FUNCTION, "-o", str(folder)])
    name = "design.json" if target == "rtl" else "robomorph.json"
    return json.loads((folder / name).read_text()), name


@pytest.mark.parametrize("target", ["cpp", "cuda", "opencl", "casadi", "rtl"])
def test_every_export_has_the_same_manifest(tmp_path: Path, target: str) -> None:
    found, name = written(tmp_path, target)
    assert found["made_by"] == f"robomorph {robomorph.__version__}"
    assert (found["target"], found["robot"]) == (target, "chain_2")
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert found["files"] == sorted(files) and name in files


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_sources_in_every_language_say_the_same(tmp_path: Path, target: str) -> None:
    known, _ = written(tmp_path / "cpp", "cpp")
    found, _ = written(tmp_path / target, target)
    different = {key for key in known if known[key] != found[key]}
    assert set(known) == set(found) and different == {"target", "files"}


def test_designs_of_earlier_versions_are_ours(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text('{"generator": "robomorph", "files": ["old.v", "design.json"]}')
    (tmp_path / "old.v").write_text("")
    write_folder(tmp_path, {"new.v": ""}, {"made_by": "robomorph 0"}, manifest="design.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["design.json", "new.v"]


@pytest.mark.parametrize("target", ["cpp", "opencl", "casadi"])
def test_names_that_look_like_words_of_a_template_stay(tmp_path: Path, target: str) -> None:
    """A value is never searched for names itself."""
    robot = robomorph.load("chain:2")
    odd = robomorph.Robot(replace(robot.model, name="@nv@"))
    export(odd, tmp_path, target=target, functions=[FUNCTION], name="odd")
    assert "@nv@" in (tmp_path / "README.md").read_text()


def test_a_template_without_a_value_is_a_defect() -> None:
    with pytest.raises(KeyError, match="sources"):
        fill("rtl", "Makefile.in", {"top": "t"})
    files = project_files(make_package(robomorph.load("chain:2"), [FUNCTION]))
    assert "robomorph.json" not in files, "the manifest is written with the folder"
