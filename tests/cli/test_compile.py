"""`robomorph compile` and derivatives, and options of several words that it brought about."""

from __future__ import annotations

import json

import pytest

from robomorph.cli.main import main
from robomorph.cli.options import load_options
from robomorph.cli.running import make_parser
from tests.verify.mutants import broken


def test_derivatives_are_checked_and_timed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--algorithms", "step", "inverse_dynamics.hvp", "--derivatives", "vjp,second"]
    assert main(["compile", "chain:2", *words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    wanted = ["step", "step.vjp", "step.second", "inverse_dynamics.hvp"]
    assert data["ok"] and list(data["algorithms"]) == wanted
    for name, row in data["algorithms"].items():
        assert row["passed"] and row["error_vs_finite_differences"] < 1e-7, name
        assert row["flops"] > 0 and 0 < row["seconds_single"] < 1
    assert main(["compile", "chain:1", "--algorithms", "energy", "--derivatives"]) == 0
    out = capsys.readouterr().out
    assert all(f" {name} " in out for name in ("energy", "energy.vjp", "energy.jvp", "energy.hvp"))
    assert "all 4 kernels agree" in out


def test_a_wrong_derivative_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, "energy", "vjp", 0.5)
    assert main(["compile", "chain:2", "--algorithms", "energy", "--derivatives", "--no-cache"]) == 1
    out = capsys.readouterr().out
    assert "2 of 4 checks failed: energy.vjp, energy.hvp" in out
    assert "energy.hvp: differences are not trusted: energy.vjp itself" in " ".join(out.split())


def test_derivatives_may_be_named_or_not() -> None:
    """The word after the option may be the robot."""
    for words in (["iiwa14", "--derivatives"], ["--derivatives", "iiwa14"], ["--derivatives"]):
        found = make_parser().parse_args(["compile", *words])
        assert found.derivatives == ["vjp", "jvp", "hvp"] and found.robot == "iiwa14"
    assert make_parser().parse_args(["compile", "--derivatives", "hvp", "hyq"]).robot == "hyq"
    assert make_parser().parse_args(["compile", "hyq"]).derivatives is None


def test_ignored_names_are_gathered() -> None:
    words = ["--ignore", "a name,tendon", "--ignore", "sensor", "equality", "x.xml"]
    found = make_parser().parse_args(["info", *words])
    assert found.robot == "x.xml"
    assert load_options(found)["ignore"] == ["a name", "tendon", "sensor", "equality"]
