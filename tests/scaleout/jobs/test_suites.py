"""Test suites as a job: outcomes of small suites that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from robomorph.errors import ArgumentError
from robomorph.scaleout import Suites
from robomorph.scaleout.jobs.suites import SuiteError
from tests.scaleout.jobs.running import contents, done_here

GOOD = "import pytest\n\ndef test_a(): pass\n\n@pytest.mark.skip\ndef test_b(): pass\n"
BAD = "def test_c(): assert False\n\ndef test_d(): pass\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "suite"
    (root / "deep").mkdir(parents=True)
    (root / "test_good.py").write_text(GOOD, encoding="utf-8")
    (root / "deep" / "test_bad.py").write_text(BAD, encoding="utf-8")
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return root


def test_outcomes_are_counted_and_failures_named(suite: Path, tmp_path: Path) -> None:
    job = Suites(["."], root=str(suite))
    assert job.tests == ("deep/test_bad.py", "test_good.py")
    facts = done_here(job, tmp_path / "a")
    assert {**facts, "failing": None} == {"files": 2, "passed": 2, "failed": 1, "skipped": 1, "failing": None}
    assert len(facts["failing"]) == 1 and facts["failing"][0].endswith("test_bad::test_c")
    done_here(job, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_an_edited_suite_is_another_one(suite: Path) -> None:
    before = Suites(["."], root=str(suite)).describe()
    (suite / "test_good.py").write_text(GOOD + "\n", encoding="utf-8")
    assert Suites(["."], root=str(suite)).describe() != before


def test_a_suite_that_cannot_be_read_is_no_result(suite: Path, tmp_path: Path) -> None:
    (suite / "test_good.py").write_text("def test_(:\n", encoding="utf-8")
    with pytest.raises(SuiteError, match=r"test_good\.py: expected pytest to end, found exit code 2"):
        done_here(Suites(["test_good.py"], root=str(suite)), tmp_path / "a")


def test_odd_input_is_refused(suite: Path) -> None:
    with pytest.raises(ArgumentError, match=r"no file or folder 'test_none\.py'"):
        Suites(["test_none.py"], root=str(suite))
    with pytest.raises(ArgumentError, match="no file or folder"):
        Suites(["../.."], root=str(suite))
    with pytest.raises(ArgumentError, match="expected files of tests, found none"):
        Suites([], root=str(suite))
