"""The section about closed loops reads its records rightly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robomorph.bench.goals import judge
from robomorph.bench.sections.mpc.loop import CASES, SECTION, record_of
from tests.mpc.test_simulate import made


def test_tables_and_goals_show_what_records_say() -> None:
    loop = made(np.array([1.0, 0.5, 1e-4, 1e-4]), solve_times=np.full(4, 2e-4))
    slow = made(np.array([1.0, 0.5, 0.3, 0.2]), solve_times=np.full(4, 4e-4))
    names = [case.name for case in CASES]
    records = [record_of(loop, names[0], "robot"), record_of(slow, names[2], "mujoco")]
    (table,) = SECTION.tables(records)
    assert table.rows[0][:4] == ("push", "robot", "200 us", "200 us") and table.rows[0][8] == "1.0e-04"
    assert table.rows[1][9] == "no" and table.rows[0][9] == "0.20 s"
    verdicts = {v.what: v for v in judge("loop", SECTION.goals, records, ["iiwa14"])}
    assert verdicts["99% of steps, our plant"].reached is True
    assert verdicts["left after push, 10 ms delay, mujoco"].reached is False
    assert verdicts["left after push, 10 ms delay, robot"].reached is None


def test_a_short_or_diverged_loop_is_no_success() -> None:
    loop = made(np.array([1.0, 1e-4]))
    short = record_of(loop, "push, 10 ms delay", "robot", judged=False)
    lost = record_of(replace(loop, success=False), "push", "robot")
    (table,) = SECTION.tables([short, lost])
    assert [row[9] for row in table.rows] == ["no", "diverged"]
    assert all(v.reached is not True for v in judge("loop", SECTION.goals, [short], ["iiwa14"]))
