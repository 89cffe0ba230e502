"""Interrupted, terminated, or left by the reader, at any moment: one line, an exit code, nothing else."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import robomorph

# Starts the program as its script does; a signal arrives as the module named first is about to be imported.
DRIVER = """
import os, signal, sys
where, signum = sys.argv[1], int(sys.argv[2])
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == where:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signum)
sys.meta_path.insert(0, Finder())
sys.argv[1:] = sys.argv[3:]
from robomorph.cli.main import main
sys.exit(main())
"""
LINES = {signal.SIGINT: "error: interrupted\n", signal.SIGTERM: "error: terminated\n"}


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Tests started by a shell in the background ignore interrupts: the programs must not inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run_until(module: str, signum: int, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, module, str(int(signum)), *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("signum", list(LINES))
@pytest.mark.parametrize(
    "module",
    [
        "robomorph.cli.running",
        "argparse",
        "robomorph.cli.parser",
        "robomorph.cli.rtl",
        "numpy",
        "numpy.linalg",
        "llvmlite.binding",
        "robomorph.runtime.kernel",
        "robomorph.model.load",
        "robomorph.runtime._native",
        "rich.console",
        "robomorph.cli.morphology",
    ],
)
def test_while_importing(module: str, signum: signal.Signals) -> None:
    done = run_until(module, signum, "info", "iiwa14")
    assert (done.returncode, done.stderr, done.stdout) == (128 + signum, LINES[signum], "")


def test_as_a_module() -> None:
    """`python -m robomorph` is ready as soon as its script."""
    program = DRIVER.replace("from robomorph.cli.main import main\nsys.exit(main())", "import runpy\n") + (
        "runpy.run_module('robomorph', run_name='__main__', alter_sys=True)\n"
    )
    command = [sys.executable, "-c", program, "numpy", str(int(signal.SIGINT)), "info", "iiwa14"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, LINES[signal.SIGINT])


@pytest.mark.parametrize("signum", list(LINES))
@pytest.mark.parametrize(
    "argv",
    [["compile", "atlas"], ["bench", "--quick", "iiwa14"], ["bench", "ik", "--quick"], ["rtl", "iiwa14"]],
)
def test_at_work(argv: list[str], signum: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "ROBOMORPH_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "robomorph", *argv]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    assert process.stderr.readline()  # the first step has begun
    time.sleep(0.3)
    process.send_signal(signum)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + signum
    assert err.endswith(LINES[signum]) and "Traceback" not in err and "ignored" not in err


def test_an_interrupt_that_code_below_hides_still_ends_the_command() -> None:
    """As where a library catches everything, or turns it into a failure of its own."""
    for reaction in ("pass", "raise ImportError('cannot import the other thing')"):
        program = (
            "import os, signal, sys\n"
            "from robomorph.cli import robots\n"
            "def run(args):\n"
            "    try:\n"
            "        os.kill(os.getpid(), signal.SIGINT)\n"
            "    except BaseException:\n"
            f"        {reaction}\n"
            "    return 0\n"
            "robots.run = run\n"
            "from robomorph.cli.main import main\n"
            "sys.exit(main(['robots']))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (130, LINES[signal.SIGINT]), reaction


def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    """The interpreter itself passes over exceptions there, with a traceback."""
    program = (
        "import os, signal, sys, time\n"
        "from robomorph.cli import robots\n"
        "class Thing:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "def run(args):\n"
        "    Thing()\n"
        "    time.sleep(20)\n"
        "    return 0\n"
        "robots.run = run\n"
        "from robomorph.cli.main import main\n"
        "sys.exit(main(['robots']))\n"
    )
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, LINES[signal.SIGINT])
    assert time.monotonic() - start < 15


def test_handlers_of_the_caller_come_back_and_ignored_signals_stay_ignored() -> None:
    from robomorph.cli.main import main

    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    hook = sys.unraisablehook
    assert main(["robots"]) == 0
    assert {s: signal.getsignal(s) for s in before} == before and sys.unraisablehook is hook
    script = f"trap '' INT; {shlex.quote(sys.executable)} -c {shlex.quote(DRIVER)} numpy 2 robots"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "iiwa14" in done.stdout and not done.stderr


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("info atlas | head -1", 1),
        ("info atlas --json | head -1", 1),
        ("compile chain:2 --algorithms energy 2>&1 | head -1", 1),  # the reader of errors goes too
        ("compile --help | head -1", 1),
        ("nonsense 2>&1 | head -1", 1),
        ("info nowhere.urdf 2>&1 | true", 0),
        ("robots | true", 0),
    ],
)
def test_a_reader_that_leaves(words: str, kept: int, tmp_path: Path) -> None:
    errors, codes = tmp_path / "errors", tmp_path / "code"
    program = f"{shlex.quote(sys.executable)} -m robomorph"
    head, _, tail = words.rpartition(" | ")
    script = f"{{ {program} {head}; echo $? >{codes}; }} | {tail}"
    if "2>&1" in head:
        head = head.replace(" 2>&1", "")
        script = f"{{ {program} {head} 2>&1; echo $? >{codes}; }} | {tail}"
    with errors.open("w") as file:
        done = subprocess.run(
            ["sh", "-c", script], stdout=subprocess.PIPE, stderr=file, text=True, timeout=120
        )
    assert len(done.stdout.splitlines()) == kept
    assert errors.read_text() == ""
    assert int(codes.read_text()) in ((2,) if head.split()[-1] in ("nonsense", "nowhere.urdf") else (0,))


def test_nothing_is_imported_before_interrupts_are_caught() -> None:
    """What is imported until then is time in which an interrupt is a traceback."""
    look = (
        "import sys; seen = {*sys.modules}; import robomorph.cli.main; print(*sorted({*sys.modules} - seen))"
    )
    place = {
        **os.environ,
        "PYTHONPATH": str(Path(robomorph.__file__).parents[1]),
    }  # -S: no packages' own hooks
    command = [sys.executable, "-S", "-c", look]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=place)
    assert found.stdout.split() == ["__future__", "robomorph", "robomorph.cli", "robomorph.cli.main"]
