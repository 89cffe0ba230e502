"""The report: what it says about barriers, spills and bytes, and how it is shown."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from robomorph.cli.main import main
from robomorph.compiler.partition import PARTITIONINGS
from robomorph.targets.gpu import group_source
from robomorph.targets.gpu.cuda.architectures import ARCHITECTURES, GPUS, LIMITS, occupancy
from robomorph.targets.gpu.cuda.nvrtc import nvrtc
from robomorph.targets.gpu.kernel import MAPPINGS
from tests.targets.gpu.toolchains import needs_nvrtc


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The report of iiwa14 for two architectures, as JSON, and its picture."""
    plot = tmp_path_factory.mktemp("report") / "iiwa14.svg"
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("sys.stdout.write", lines.append, raising=False)
        assert main(["gpu-report", "iiwa14", "--arch", "80,120", "--json", "--plot", str(plot)]) == 0
    return json.loads("".join(lines)), plot


@needs_nvrtc
def test_every_kernel_is_reported(reported: tuple[dict[str, Any], Path]) -> None:
    kernels = reported[0]["kernels"]
    assert reported[0]["missing"] == []
    assert [(k["partitioning"], k["mapping"]) for k in kernels] == [
        (p, m) for p in PARTITIONINGS for m in MAPPINGS
    ]
    for kernel in kernels:
        assert [c["architecture"] for c in kernel["compiled"]] == ["sm_80", "sm_120"]
        assert all(c["registers"] > 0 and 0 < c["occupancy"] <= 1 for c in kernel["compiled"])
        assert all(c["warnings"] == [] for c in kernel["compiled"])
        assert [e["gpu"] for e in kernel["roofline_estimates"]] == ["A100 40GB PCIe", "RTX 5090"]


@needs_nvrtc
def test_what_the_report_must_show(reported: tuple[dict[str, Any], Path]) -> None:
    kernels = {(k["partitioning"], k["mapping"]): k for k in reported[0]["kernels"]}
    best, split = kernels["completely_fused", "group"], kernels["split", "group"]
    assert best["barriers"] <= best["barrier_limit"] == 3 * 7 + 10
    assert all(c["spill_store_bytes"] == c["spill_load_bytes"] == 0 for c in best["compiled"])
    assert best["host_synchronisations"] < split["host_synchronisations"]
    assert best["bytes_in"] + best["bytes_out"] < split["bytes_in"] + split["bytes_out"]
    assert best["host_flops"] == 0 < kernels["fused", "group"]["host_flops"] < split["host_flops"]


@needs_nvrtc
def test_the_picture_has_a_bar_per_kernel_and_calls_estimates_so(
    reported: tuple[dict[str, Any], Path],
) -> None:
    text = reported[1].read_text()
    root = ElementTree.fromstring(text)
    bars = [e for e in root.iter() if e.tag.endswith("rect")]
    assert len(bars) == 1 + 5 * 6
    assert re.search(r"evaluations/s .*\(ESTIMATE, not measured\)", text)


@needs_nvrtc
def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpu-report", "iiwa14", "--arch", "80"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "completely fused",
        "spill",
        "loads",
        "sm_80 (A100 40GB PCIe)",
        "ESTIMATE, not measured",
        "limited by",
    ):
        assert words in shown


@needs_nvrtc
def test_a_mapping_that_does_not_exist_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With less shared memory per block than one evaluation of the completely fused kernel needs."""
    monkeypatch.setattr(group_source, "OPT_IN_SHARED", 1500)
    assert main(["gpu-report", "iiwa14", "--arch", "80", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    gone = [(m["partitioning"], m["mapping"]) for m in report["missing"]]
    assert ("completely_fused", "group") in gone
    assert len(report["kernels"]) + len(gone) == 6
    assert main(["gpu-report", "iiwa14", "--arch", "80"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "completely fused, group: there is no such kernel: forward_dynamics_gradient: one" in shown
    assert "a block has 1500" in shown


def test_wrong_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["gpu-report", "iiwa14", "--arch", "42"])
    assert "expected some of 75,80" in capsys.readouterr().err


@needs_nvrtc
def test_nvrtc_knows_every_architecture() -> None:
    assert set(ARCHITECTURES) <= set(nvrtc().architectures())
    assert set(ARCHITECTURES) == set(LIMITS) == {gpu.architecture for gpu in GPUS}


@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "shared", "blocks", "limit"),
    [
        (80, 128, 32, 0, 16, "threads"),  # figures worked out by hand from the limits
        (80, 128, 255, 0, 2, "registers"),
        (80, 32, 16, 0, 32, "blocks"),
        (80, 128, 32, 48 * 1024, 3, "shared memory"),
        (86, 256, 64, 0, 4, "registers"),
        (75, 256, 32, 0, 4, "threads"),
    ],
)
def test_occupancy(
    architecture: int, threads: int, registers: int, shared: int, blocks: int, limit: str
) -> None:
    found = occupancy(architecture, threads, registers, shared)
    assert (found.blocks, found.limit) == (blocks, limit)
    assert found.fraction == pytest.approx(blocks * threads / LIMITS[architecture].threads)
