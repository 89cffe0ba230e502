"""The section about functions on a device, on a small motion."""

from __future__ import annotations

from pathlib import Path

import pytest

from robomorph.bench.sections.planning import device
from tests.bench.test_planning import REACH, run
from tests.targets.gpu.toolchains import needs_opencl


@needs_opencl
def test_precision_target_and_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "reach.toml"
    path.write_text(REACH)
    monkeypatch.setattr(device, "SCENARIOS", (str(path),))
    monkeypatch.setattr(device, "_ROBOT", "iiwa14")
    monkeypatch.setattr(device, "_QUICK_ROUNDS", 1)
    outcome = run("device")
    found = {r.how: r.figures for r in outcome.records}
    assert {"cpu, float64", "opencl, float64", "opencl, float32"} <= set(found)
    assert all(f["solved"] and f["violation"] <= 1e-6 for f in found.values()) and outcome.refused == 0
    assert "bytes_in" not in found["cpu, float64"]
    double, single = (found[f"opencl, {dtype}"] for dtype in ("float64", "float32"))
    assert 0.4 < (single["bytes_out"] / single["calls"]) / (double["bytes_out"] / double["calls"]) < 0.6
    for figures in (double, single):
        assert all(figures[f"{part}_s"] >= 0.0 for part in device._PARTS)
    table_3, table_4 = outcome.tables()
    assert len(table_3.rows) == len(table_4.rows) == len(outcome.records)
    assert any("cuda" in note for note in outcome.notes) or any("cuda" in how for how in found)
