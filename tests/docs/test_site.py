"""The site's sources: nothing that users see is left out. `.ci/run` builds the site itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph import errors, mpc, planning, public
from tools.docs_site.examples import TITLES
from tools.docs_site.gallery import FIGURES, Drawn
from tools.docs_site.links import ROOT, pages
from tools.docs_site.pages import site_name
from tools.docs_site.scene import Scene


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"^ +- .*?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    kept = [site_name(page.relative_to(ROOT).as_posix()) for page in pages()]
    assert sorted(listed) == sorted(map(str, kept))


def test_every_example_has_a_page() -> None:
    assert set(TITLES) == {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert set(FIGURES) <= set(TITLES)


def test_reference_has_every_public_name() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    shown = {name.rsplit(".", 1)[-1] for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)}
    assert "errors" in shown
    shown |= set(vars(errors))
    assert {*public.__all__, *planning.__all__, *mpc.__all__} <= shown


def test_names_of_the_reference_exist() -> None:
    from pydoc import ErrorDuringImport, locate

    for path in (ROOT / "docs" / "api").glob("*.md"):
        for name in re.findall(r"^::: (\S+)$", path.read_text("utf-8"), re.MULTILINE):
            try:
                assert locate(name) is not None, f"{path.name}: {name} does not exist"
            except ErrorDuringImport as error:  # of what only a package that is not installed can import
                assert isinstance(error.value, ModuleNotFoundError) and error.value.name in ("jax", "torch")


def test_docstrings_become_lists() -> None:
    pytest.importorskip("griffe", reason="the extra docs is not installed")
    from tools.docs_site.docstrings import as_markdown

    text = "Does it (docs/ik.md).\n\nq: (nq,) where.\nof it. a (m) and b: two; x: no item. "
    text += 'out: "y"\nNot: an item.'
    assert as_markdown(text) == (
        "Does it ([docs/ik.md](../ik.html)).\n\n"
        '- **q**: (nq,) where. of it.\n- **a (m) and b**: two; x: no item.\n- **out**: "y" Not: an item.'
    )
    assert as_markdown("see docs/gone.md") == "see docs/gone.md"


def test_scene_draws_every_joint_and_stays_inside() -> None:
    robot = robomorph.load("iiwa14", tool_frames={"tip": ("lbr_iiwa_link_7", [0.0, 0.0, 0.3])})
    svg = Scene().robot(robot, robot.neutral).mark([0.5, 0.5, 0.2], "red", "<here>").svg()
    assert all(f"<title>{name}</title>" in svg for name in robot.joint_names)
    assert "<title>&lt;here&gt;</title>" in svg
    width, height = map(float, re.findall(r"viewBox='0 0 (\d+) (\d+)'", svg)[0])
    places = np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", svg), dtype=float)
    assert (places >= 0.0).all() and (places <= [width, height]).all()


def test_a_figure_is_a_picture_or_a_frame() -> None:
    assert '<img src="../figures/a.svg"' in Drawn("a.svg", "", "words").markdown("../")
    assert '<iframe src="figures/a.html"' in Drawn("a.html", "", "words").markdown("")


def test_the_builder_refuses_a_folder_with_other_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tools.docs_site import __main__ as command

    (tmp_path / "thesis.txt").write_text("mine")
    monkeypatch.setattr(command, "_found", lambda name: True)
    monkeypatch.setattr("sys.argv", ["docs_site", "-o", str(tmp_path)])
    assert command.main() == 1
    assert "something else than a site" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").exists()
    monkeypatch.setattr(command, "_found", lambda name: name != "zensical")
    assert command.main() == 1
    assert "zensical" in capsys.readouterr().err
