"""Closed loops as figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph.mpc import Simulation, simulate
from robomorph.report.figures import Bars, Curve
from robomorph.report.loop_plots import draw_loop, loop_figures
from tests.mpc.arms import PENDULUM
from tests.mpc.stand_in import StandIn


def loop(**options: object) -> Simulation:
    controller = StandIn(robomorph.load(PENDULUM), stiffness=100.0, damping=20.0)
    return simulate(controller, seconds=0.2, start=[0.5], observer=False, **options)  # type: ignore[arg-type]


def test_figures_show_what_happened() -> None:
    found = loop(reference=[0.0])
    figures = {figure.name: figure.panels[0].marks for figure in loop_figures(found, "reach-")}
    assert list(figures) == [f"reach-{name}" for name in ("joints", "speeds", "torques", "error", "times")]
    joint, wanted = figures["reach-joints"]
    assert isinstance(joint, Curve) and isinstance(wanted, Curve)
    np.testing.assert_array_equal(joint.y, found.q[:, 0])
    assert joint.label == "swing" and set(wanted.y) == {0.0}
    torque, *limits = figures["reach-torques"]
    assert isinstance(torque, Curve)
    np.testing.assert_allclose(np.array(torque.y) * 50.0, found.tau[:, 0])
    assert [curve.y[0] for curve in limits if isinstance(curve, Curve)] == [-1.0, 1.0]
    (bars,) = figures["reach-times"]
    assert isinstance(bars, Bars) and sum(bars.values) == len(found.times)


def test_without_a_reference_there_is_no_error() -> None:
    assert [figure.name for figure in loop_figures(loop())] == ["joints", "speeds", "torques", "times"]


def test_they_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = draw_loop(loop(reference=[0.0]), tmp_path / "made")
    assert len(paths) == 5 and all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
