"""The sections about the live viewer: tables and goals, and that a drag and a stream are measured."""

from __future__ import annotations

import numpy as np

import robomorph
from robomorph.bench.goals import judge
from robomorph.bench.records import OURS, REFUSED, Record, Timing
from robomorph.bench.sections import VIEWER
from robomorph.bench.sections.viewer import drag, stream


def dragging(case: str, milliseconds: float, refused: float = 0.0) -> Record:
    timing = Timing(milliseconds * 0.9e6, milliseconds * 1e6, 10, 0.0)
    figures = {"drags": 10.0, "followed": 0.5, "99%": 2e-3, REFUSED: refused}
    return Record("drag", "iiwa14", "drag", OURS, "socket", timing=timing, figures=figures, case=case)


def test_tables_and_goals_of_drags() -> None:
    records = [dragging("position", 0.5), dragging("pose", 1.25)]
    (table,) = drag.SECTION.tables(records)
    assert list(table.rows) == [
        ("iiwa14", "position", "10", "50.0%", "500 us", "2 ms"),
        ("iiwa14", "pose", "10", "50.0%", "1.25 ms", "2 ms"),
    ]
    (verdict,) = judge("drag", drag.GOALS, records, [])
    assert verdict.text == "goal at most 5 ms: 1.25 ms reached"
    (wrong,) = judge("drag", drag.GOALS, [dragging("pose", 1.0, refused=1.0)], [])
    assert wrong.reached is False


def test_tables_and_goals_of_streams() -> None:
    figures = {"cpu": 0.6, "arrived": 59.9, "seconds": 3.0}
    record = Record("stream", "atlas", "stream", OURS, "socket", figures=figures, case="shapes")
    (table,) = stream.SECTION.tables([record])
    assert list(table.rows) == [("atlas", "shapes", "0.600", "59.9")]
    (verdict,) = judge("stream", stream.GOALS, [record], [])
    assert verdict.text == "goal at most 0.5 cores: 0.6 cores missed"


def test_both_measure_over_a_socket() -> None:
    robot = robomorph.load("chain:3")
    q = np.array([[0.3, 0.4, 0.5], [0.31, 0.41, 0.51]])
    poses = robot.forward_kinematics(q, robot.link_names[-1])
    seconds, states = drag.dragged(robot, q[0], robot.link_names[-1], poses, turned=False)
    assert (seconds > 0.0).all() and [state["id"] for state in states] == [0, 1]
    share, arrived = stream.streamed(robot, "visual com", 0.5)
    assert share > 0.0 and arrived > 20.0


def test_the_group_knows_them() -> None:
    assert [section.name for section in VIEWER.choose(None)] == ["drag", "stream"]
