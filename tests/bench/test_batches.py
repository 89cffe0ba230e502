"""The section about batch sizes: what its table, goals and own check say about known records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robomorph.bench.goals import judge
from robomorph.bench.measuring import Contestant
from robomorph.bench.ours import NEW_ARRAYS
from robomorph.bench.records import OURS, REFUSED, Record
from robomorph.bench.sections.dynamics import batches
from robomorph.bench.sections.dynamics.batches import SECTION
from robomorph.cli.main import main
from robomorph.report.figures import Curve
from tests.bench.samples import record


def made(best_ns: float, batch: int, robot: str = "iiwa14", **fields: Any) -> Record:
    return record(**{"who": OURS, **fields}, best_ns=best_ns, section="batches", batch=batch, robot=robot)


def a_run(robot: str = "iiwa14", new: float = 120.0, ours: float = 200.0) -> list[Record]:
    return [
        made(100.0, 4096, robot, error=1e-15, figures={"memory_ns": 40.0}),
        made(new, 4096, robot, how=NEW_ARRAYS),
        made(60.0, 4096, robot, threads=2),
        made(9000.0, 4096, robot, who="pinocchio", how="calls"),
        made(ours, 65536, robot, error=2e-15),
        made(250.0, 65536, robot, how=NEW_ARRAYS),
        made(8800.0, 65536, robot, who="pinocchio", how="calls"),
    ]


def test_the_table_keeps_new_arrays_apart() -> None:
    (table,) = SECTION.tables(a_run())
    assert table.rows == [
        (
            "iiwa14",
            "4,096",
            "100 ns",
            "60 ns",
            "9 us",
            "90.0x",
            "150.0x",
            "120 ns",
            "1.20x",
            "40 ns",
            "1.0e-15",
        ),
        ("iiwa14", "65,536", "200 ns", "-", "8.8 us", "44.0x", "-", "250 ns", "1.25x", "-", "2.0e-15"),
    ]
    (figure,) = SECTION.figures(a_run())
    curves = [mark for mark in figure.panels[0].marks if isinstance(mark, Curve)]
    assert [list(curve.y) for curve in curves] == [[0.1, 0.2], [0.06], [9.0, 8.8]]


def test_goals_are_judged_at_their_batches() -> None:
    records = [*a_run(), *a_run("hyq", new=140.0, ours=250.0)]
    records += [made(160.0, 128), made(125.0, 128, "hyq"), made(80.0, 128, "hyq", threads=2)]
    verdicts = judge("batches", SECTION.goals, records, ["iiwa14", "hyq"])
    assert [v.found for v in verdicts] == [44.0, pytest.approx(35.2), 1.25, 2.0, pytest.approx(1.4)]
    assert [v.reached for v in verdicts] == [True, False, True, False, False]
    small = [made(100.0, 128), made(9000.0, 128, who="pinocchio")]
    assert [v.found for v in judge("batches", SECTION.goals, small, ["iiwa14"])] == [None, None, None]


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_rows_with_other_bits_than_the_first_of_the_same_states_are_counted(wrong: int) -> None:
    first = np.random.default_rng(2).normal(size=(1024, 2, 3))
    values = np.concatenate([first, first, first[:100]])
    values[[1024, 1500, 2147][:wrong], 1, 2] *= 1.0 + 1e-15
    contestant = Contestant(OURS, "out=", lambda count: None, len(values), lambda: {"dq": values})
    judged = batches._judged(made(1.0, len(values), error=0.0), contestant)
    assert judged.figures[REFUSED] == wrong
    run = [replace(r, figures=judged.figures) for r in a_run()]
    (verdict, *_) = judge("batches", SECTION.goals, run, ["iiwa14"])
    assert verdict.wrong == (wrong > 0)


def test_it_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_QUICK_SIZES", (1, 2048))
    assert main(["bench", "chain:2", "--quick", "--only", "batches"]) == 0
    printed = capsys.readouterr().out
    assert "2,048" in printed and "batch sizes" in printed
