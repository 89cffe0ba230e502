"""Several pipelines behind one pair of streams: the same results in order, more of them in the same time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.errors import ArgumentError
from robomorph.export.rtl import export_accelerator
from robomorph.report.rtl_drawing import block_diagram
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.hierarchy import count
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.options import Options
from robomorph.targets.rtl.simulate import Simulation, lint
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.test_export import make
from tests.targets.rtl.toolchains import needs_verilator, needs_yosys

SMALL: dict[str, Any] = {"interval": 8, "bits": 20, "trig": "host"}


def small(**options: Any) -> Accelerator:
    return accelerator("chain:3", "inverse_dynamics", **{**SMALL, **options})


def check(a: Accelerator, states: int, **pauses: Any) -> None:
    """Lint, bits and flags under pauses, and the cycles of the model."""
    assert lint(a.design) == ""
    found, stats = measure(a, a.sample(states, seed=6), **pauses), a.design.stats
    assert found.exact, found
    assert (found.latency, found.last_word) == (stats.latency, stats.last_word)
    assert found.interval == pytest.approx(stats.interval, abs=0.1)


@needs_verilator
@pytest.mark.parametrize("pipelines", [1, 2, 3])
def test_small_chain(pipelines: int) -> None:
    a = small(pipelines=pipelines)
    check(a, 150)
    check(a, 150, pause_in=70, pause_out=10)
    check(a, 150, pause_in=10, pause_out=70)
    assert a.design.stats.interval == pytest.approx(8 / pipelines)


@needs_verilator
@pytest.mark.parametrize("pipelines", [1, 2, 3])
def test_iiwa_inverse_dynamics(pipelines: int) -> None:
    a = accelerator("iiwa14", "inverse_dynamics", interval=24, format="Q16.16", pipelines=pipelines)
    check(a, 100)
    assert a.design.stats.interval == 24 / pipelines


VARIANTS: dict[str, dict[str, Any]] = {
    "queues": {"queue": 16, "pipelines": 3},
    "float32": {"boundary": "float32", "pipelines": 2},
    "a state every cycle": {"interval": 1, "pipelines": 2},
    "more than the streams carry": {"interval": 2, "pipelines": 3},
    "link units": {"structure": "units", "interval": 12, "pipelines": 2},
}


@needs_verilator
@pytest.mark.parametrize("name", VARIANTS)
def test_with_everything_else(name: str) -> None:
    check(small(**VARIANTS[name]), 120)


@needs_verilator
def test_flags_belong_to_their_states() -> None:
    """Some states saturate, in one pipeline or another."""
    a = accelerator(
        "chain:2", "forward_dynamics", interval=6, bits=18, speed=0.5, acceleration=0.5, pipelines=3
    )
    wild = a.sample(300, seed=1)
    wild["qd"] = 8.0 * wild["qd"]
    found = measure(a, wild)
    assert found.exact and 0 < found.overflows < 300
    assert Simulation(a.design).run(a.words(wild)[0]).sticky_overflow


@needs_verilator
def test_more_states_in_the_same_time() -> None:
    """Results are those of one pipeline, in its order, in a third of the cycles."""
    words, _ = small().words(small().sample(300, seed=8))
    one, three = (Simulation(small(pipelines=n).design).run(words) for n in (1, 3))
    np.testing.assert_array_equal(one.words, three.words)
    assert np.all(np.diff(three.finished) > 0)
    assert three.cycles < 0.36 * one.cycles


def test_one_pipeline_is_the_design_without_the_option() -> None:
    assert small(pipelines=1).design.files == small().design.files
    assert small().design.stats.pipelines == 1
    assert not {"rm_dispatch.sv", "rm_collect.sv"} & small().design.files.keys()


@pytest.mark.parametrize("pipelines", [2, 3, 5])
def test_resources_are_those_of_all_copies(pipelines: int) -> None:
    one, several = small().design, small(pipelines=pipelines).design
    for name in ("multipliers", "constant_multipliers", "constant_adders", "adders", "selector_inputs"):
        assert getattr(several.stats, name) == pipelines * getattr(one.stats, name)
    assert several.stats.multiplications == one.stats.multiplications  # of a state
    assert several.stats.latency == one.stats.latency
    assert several.stats.flip_flops >= pipelines * (one.stats.flip_flops - 1000)
    assert count(several.netlist, f"{several.name}_core") == pipelines
    # The core's file is the same: only the streams differ.
    core = f"{several.name}_core.sv"
    assert several.files[core] == one.files[core]


def test_what_bounds_the_rate() -> None:
    """Streams are made as wide as the pipelines need; a beat a state is the least that they take."""
    for pipelines in range(1, 9):
        stats = small(pipelines=pipelines).design.stats
        assert stats.bound_by == "schedule" and stats.interval == pytest.approx(8 / pipelines)
    for pipelines in (9, 12):
        stats = small(pipelines=pipelines).design.stats
        assert stats.bound_by == "input stream" and stats.interval == 1
    wide = accelerator("chain:3", "mass_matrix_inverse", interval=3, bits=20, pipelines=4).design.stats
    assert wide.interval == 1 and "stream" in wide.bound_by


def test_wider_streams_for_more_pipelines() -> None:
    one, four = small().design.streams, small(pipelines=4).design.streams
    assert [s.words for s in one] == [s.words for s in four]
    assert all(4 * s.beats <= 8 for s in four)


@pytest.mark.parametrize("pipelines", [0, -1, 65, 1.5, True, "2", None])
def test_odd_numbers_are_refused(pipelines: Any) -> None:
    with pytest.raises(ArgumentError, match="pipelines: expected"):
        Options(pipelines=pipelines)


@needs_yosys
def test_yosys_reads_it() -> None:
    assert check_by_yosys(small(pipelines=3, queue=4).design) > 3 * check_by_yosys(small().design) - 1000


@needs_verilator
def test_kernel() -> None:
    robot = robomorph.load("chain:2")
    kernel: Any = robot.compile("inverse_dynamics", target="rtl", interval=8, pipelines=2)
    q, qd = robot.random_state(0, (2, 7))
    qdd = np.ones((2, 7, 2))
    np.testing.assert_allclose(kernel(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), atol=1e-5)
    assert kernel.stats.design.pipelines == 2 and kernel.stats.design.interval == 4


@needs_verilator
def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--algorithm", "inverse_dynamics", "--interval", "8", "--pipelines", "2", "--states", "60"]
    assert main(["rtl", "chain:3", *options, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["pipelines"] == report["estimates"]["pipelines"] == 2
    assert report["simulated"]["exact"] and report["estimates"]["interval"] == 4
    assert main(["rtl", "chain:3", *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "250,000" in said and "what bounds the rate" in said and "pipelines" in said
    assert main(["rtl", "chain:3", "--pipelines", "0"]) == 2
    assert "pipelines: expected a whole number, at least 1" in capsys.readouterr().err


def test_export(tmp_path: Path) -> None:
    options = ["--functions", "inverse_dynamics", "--pipelines", "3", "--interval", "6"]
    assert main(["export", "chain:2", "--target", "rtl", "-o", str(tmp_path), *options]) == 0
    about = json.loads((tmp_path / "design.json").read_text())
    assert about["estimates"]["pipelines"] == 3
    assert (tmp_path / "rtl" / "rm_dispatch.sv").exists() and (tmp_path / "rtl" / "rm_collect.sv").exists()
    assert "one of 3 pipelines in turn" in (tmp_path / "README.md").read_text()
    drawing = block_diagram(small(pipelines=3).design)
    assert all(part in drawing for part in ("rm_dispatch", "rm_collect", "3 x chain_3_inverse_dynamics_core"))


@needs_verilator
@needs_yosys
@pytest.mark.slow
def test_exported_testbench(tmp_path: Path) -> None:
    export_accelerator(small(pipelines=3), tmp_path)
    for goal, said in (("lint", ""), ("simulate", "PASSED"), ("synthesise", "DSP48E2")):
        made = make(goal, tmp_path)
        assert made.returncode == 0 and said in made.stdout, made.stdout[-2000:] + made.stderr
