"""Figures as data, and those who draw them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from robomorph.errors import TargetError
from robomorph.report import png
from robomorph.report.bars_svg import bars_svg
from robomorph.report.figures import Bars, Curve, Figure, Panel, Points
from robomorph.report.papers import PAPERS_CHIP
from robomorph.report.rtl_resources import resource_figures

_NAN = float("nan")
_BARS = Panel([Bars([1.0, 3.0], "a", texts=["one", "three"]), Bars([2.0, _NAN], "b")], categories=["x", "y"])
_CURVES = Panel([Curve([1, 10], [1, 100], "c"), Curve([1, 10], [2, 3], form="--")], log="xy", legend="beside")
_POINTS = Panel([Points([1, 9], [4, 5], [2, 20], "p", rim=True)], log="xy", legend="inside")


def axes_of(panel: Panel) -> Any:
    """What matplotlib was told to draw for one panel."""
    pytest.importorskip("matplotlib")
    return png.draw(Figure("one", [panel], (4, 3))).axes[0]


@pytest.mark.parametrize("panel", [_BARS, _CURVES, _POINTS], ids=["bars", "curves", "points"])
def test_every_kind_of_panel_is_drawn_into_a_file_of_its_name(panel: Panel, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (path,) = png.write_figures([Figure("shown", [panel, panel], (6, 3), "title")], tmp_path / "made")
    assert path == tmp_path / "made" / "shown.png"
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("lying", [False, True])
def test_bars_side_by_side(lying: bool) -> None:
    axes = axes_of(replace(_BARS, lying=lying))
    if lying:
        found = [(bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in axes.patches]
    else:
        found = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in axes.patches]
    wanted = [(-0.2, 1.0), (0.8, 3.0), (0.2, 2.0), (1.2, 0.0)]
    assert found == [pytest.approx(one) for one in wanted]
    assert [text.get_text() for text in axes.texts] == ["one", "three"]


def test_stacked_bars_begin_where_the_last_ended() -> None:
    axes = axes_of(replace(_BARS, stacked=True))
    assert [bar.get_y() for bar in axes.patches] == [0.0, 0.0, 1.0, 3.0]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TargetError, match=r"pip install 'robomorph\[bench\]'"):
        png.write_figures([Figure("none", [_BARS], (4, 3))], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_matplotlib_that_breaks_is_named_with_its_trouble(tmp_path: Path) -> None:
    """An unknown MPLBACKEND makes importing it a ValueError."""
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-m", "robomorph", "bench", "--plots", str(tmp_path)]
    environment = {**os.environ, "MPLBACKEND": "no-such-backend"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and "measuring" not in done.stderr
    assert "--plots needs matplotlib" in done.stderr and "no-such-backend" in done.stderr


def test_drawing_leaves_no_mark_on_the_callers_matplotlib() -> None:
    """Neither a backend nor open figures, as pyplot would."""
    pytest.importorskip("matplotlib")
    code = (
        "import sys; from robomorph.report import figures as f, png; "
        "png.draw(f.Figure('x', [f.Panel([f.Curve([1], [2])])], (3, 3))); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_points_of_one_shade_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    panel = Panel([Points([1, 2], [3, 4], [5, 5])], log="xy")
    assert png.write_figures([Figure("one_shade", [panel], (4, 3))], tmp_path)


def test_bars_as_svg_keep_their_proportions_and_escape_words() -> None:
    bars = Bars([5.0, 10.0], colours=("#111111", "#222222"), texts=["5 %", "10 < 11"])
    text = bars_svg(Figure("f", [Panel([bars], "a & b", categories=["x", "y"])], (1, 1), "all <of> it"))
    drawn = [e for e in ElementTree.fromstring(text).iter() if e.tag.endswith("rect") and "x" in e.attrib]
    widths = [float(e.attrib["width"]) for e in drawn]
    assert widths[1] == pytest.approx(2 * widths[0], rel=1e-3)
    assert [e.attrib["fill"] for e in drawn] == ["#111111", "#222222"]
    words = [e.text for e in ElementTree.fromstring(text).iter() if e.tag.endswith("text")]
    assert words == ["all <of> it", "a & b", "x", "5 %", "y", "10 < 11"]


def test_what_synthesis_did_not_measure_is_said_so_beside_the_papers_range() -> None:
    made = {"synthesis": {"target": "standard cells", "figures": {"area_mm2": 0.5}}}
    estimates = dict.fromkeys(
        ("latency", "interval", "multipliers", "constant_multipliers", "adders", "flip_flops"), 1
    )
    about = {"robot": "arm", "function": "inverse_dynamics", "estimates": estimates}
    *_, figure = resource_figures({**about, "results": [{**about, **made}]})
    area, _, power = figure.panels
    ours, published = area.marks
    assert isinstance(ours, Bars) and isinstance(published, Bars)
    low, high = PAPERS_CHIP.area_mm2
    assert list(ours.values) == [0.5, low] and list(published.values) == [0.0, pytest.approx(high - low)]
    _, ends = power.marks
    assert isinstance(ends, Bars) and ends.texts[0] == "not measured"
