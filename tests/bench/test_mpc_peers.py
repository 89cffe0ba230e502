"""Peers of control: the pipe to their interpreter, and whether they solve the problems that we give them."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.bench.mpc import problems
from robomorph.bench.mpc.ours import OurSolver
from robomorph.bench.mpc.problem import Limits, ProblemSet
from robomorph.bench.mpc.referee import Referee
from robomorph.bench.peers import PEERS, control_peer
from robomorph.bench.peers.control.process import Worker
from robomorph.bench.peers.control_peer import INTERPRETER, ControlPeer, versions_in
from robomorph.bench.peers.crocoddyl import Crocoddyl, CrocoddylBox, MimSolvers
from robomorph.bench.peers.fatrop import Fatrop, as_data, inverse_dynamics
from robomorph.bench.peers.peer import PeerError
from tests.bench.mpc_samples import small_problem, write_arm

pytest.importorskip("pinocchio")

WORKER = """
import os, subprocess
print("a banner, before anything")

class Peer:
    def __init__(self, task):
        print("reading")
        self.task, self.runs = task, []

    @staticmethod
    def versions():
        return {"made-up": "1"}

    def run(self, index, iterations):
        os.system("echo noise from below")
        if iterations == 13:
            raise ValueError("unlucky")
        if iterations == 99:
            os._exit(3)
        if iterations == 77:
            subprocess.run(["sleep", "60"])
        self.runs.append((index, iterations))
        return 0.5 * iterations, 0.25 * iterations

    def answer(self, index):
        return {"cost": 2.0, "iterations": len(self.runs), "q": [[0.1]], "v": [[0.0]], "tau": []}
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "made_up_worker.py"
    path.write_text(WORKER)
    return str(path)


def test_a_worker_answers_and_its_noise_does_no_harm(script: str) -> None:
    with Worker(sys.executable, script) as worker:
        loaded = worker.ask(do="load", task={"urdf": "<robot/>"})
        assert loaded["versions"] == {"made-up": "1"} and loaded["seconds"] >= 0.0
        found = worker.ask(do="solve", problem=0, iterations=4)
        assert found == {
            "cost": 2.0, "iterations": 1, "q": [[0.1]], "v": [[0.0]], "tau": [], "wall": 2.0, "cpu": 1.0,
        }  # fmt: skip
        times = worker.ask(do="time", runs=[[0, 2], [1, 6]])
        assert times == {"wall": [1.0, 3.0], "cpu": [0.5, 1.5]}
        assert worker.ask(do="solve", problem=0, iterations=1)["iterations"] == 6  # each was warmed up


def test_a_worker_tells_of_errors_and_goes_on(script: str) -> None:
    with Worker(sys.executable, script) as worker:
        with pytest.raises(PeerError, match="ValueError: unlucky"):
            worker.ask(do="load", task={})
            worker.ask(do="solve", problem=0, iterations=13)
        assert worker.ask(do="solve", problem=0, iterations=1)["cost"] == 2.0
        with pytest.raises(PeerError, match="KeyError"):
            worker.ask(do="dance")


def test_a_worker_that_dies_or_hangs_is_an_error(script: str, tmp_path: Path) -> None:
    with Worker(sys.executable, script) as worker:
        worker.ask(do="load", task={})
        with pytest.raises(PeerError, match="ended before it answered"):
            worker.ask(do="solve", problem=0, iterations=99)
    with Worker(sys.executable, script, patience_s=0.5) as worker:
        worker.ask(do="load", task={})
        with pytest.raises(PeerError, match="ended before it answered"):
            worker.ask(do="solve", problem=0, iterations=77)
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_module_of_robomorph\n")
    with (
        Worker(sys.executable, str(broken)) as worker,
        pytest.raises(PeerError, match="no_such_module_of_robomorph"),
    ):
        worker.ask(do="load", task={})
    with pytest.raises(PeerError, match="no-such-python"):
        Worker("/no-such-python", script)


def test_every_peer_says_whether_it_is_here() -> None:
    assert [peer.name for peer in PEERS["mpc"]] == ["crocoddyl", "crocoddyl", "mim-solvers", "fatrop"]
    for peer in PEERS["mpc"]:
        absence = peer.absence()
        assert absence is None or INTERPRETER in absence or "gcc" in absence


def test_versions_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """crocoddyl 3.2.1 with Pinocchio 4.1.0 runs, and converges to wrong costs."""
    found = {"crocoddyl": "3.2.1", "pin": "4.1.0", "libpinocchio": "4.0.0"}
    monkeypatch.setattr(control_peer, "versions_in", lambda *_: found)
    absence = Crocoddyl.absence()
    assert absence is not None and "found pin 4.1.0" in absence and "pin==4.0.0" in absence
    monkeypatch.setattr(control_peer, "versions_in", lambda *_: {**found, "pin": "4.0.0"})
    assert Crocoddyl.absence() is None and Crocoddyl.version() == "3.2.1"


def test_an_interpreter_without_them_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no_such_module" in str(versions_in(sys.executable, "no_such_module"))
    monkeypatch.setenv(INTERPRETER, "/no/such/python")
    for peer in (Crocoddyl, MimSolvers, Fatrop):
        absence = peer.absence()
        assert absence is not None and ("/no/such/python" in absence or "gcc" in absence)
    assert Crocoddyl.version() == "unknown"


# --- the solvers, where they are installed --------------------------------------------------------------


def need(peer: type[ControlPeer]) -> None:
    absence = peer.absence()
    if absence is not None:
        pytest.skip(absence)


def compare(peer: type[ControlPeer], problem: Any, iterations: int, tolerance: float) -> None:
    """The referee finds the cost that they claim, and ours is the same."""
    made = ProblemSet("one", (problem,))
    referee = Referee(problem)
    with peer.start(made) as solver:
        plan, cost, _ = solver.solve(0, iterations)
        (wall,), (cpu,) = solver.time([(0, 2)])
    theirs = referee.judge(plan)
    assert theirs.cost == pytest.approx(cost, rel=1e-9) and theirs.driven == pytest.approx(cost, rel=1e-5)
    assert theirs.violation <= 1e-6 and wall > 0.0 and cpu > 0.0
    ours = referee.judge(OurSolver(made).solve(0, 100)[0])
    assert ours.cost == pytest.approx(cost, rel=tolerance)


@pytest.mark.parametrize("peer", [Crocoddyl, MimSolvers], ids=lambda peer: peer.title)
@pytest.mark.parametrize("kind", ["small", "hyq", "pose"])
def test_free_problems_have_the_same_optimum(peer: type[ControlPeer], kind: str, tmp_path: Path) -> None:
    need(peer)
    made = {
        "small": lambda: small_problem(write_arm(tmp_path), 20),
        "hyq": lambda: problems.reach("hyq", 3, 10),
        "pose": lambda: problems.pose("iiwa14", 0, 30),
    }
    compare(peer, made[kind](), 60, 3e-6)


def test_torque_limits_have_the_same_optimum() -> None:
    need(CrocoddylBox)
    compare(CrocoddylBox, problems.limited("iiwa14", 0, 40, states=False), 100, 1e-4)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc compiles fatrop's code")
def test_all_limits_have_the_same_optimum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(Fatrop)
    monkeypatch.setattr("robomorph.bench.peers.fatrop.library_folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(Fatrop, "flags", ("-O0",))
    free = small_problem(write_arm(tmp_path), 12)
    torque, speed = np.array([9.0, 2.5, 1.0]), np.array([2.0, 3.0, 1.5])
    reach = (np.full(3, -1.4), np.array([2.0, 0.1, 1.4]))
    problem = replace(free, limits=Limits((-torque, torque), (-speed, speed), reach))
    compare(Fatrop, problem, 200, 1e-4)
    (library,) = (tmp_path / "kept").glob("*.so")
    before = library.stat().st_mtime_ns
    with Fatrop.start(ProblemSet("again", (problem,))) as solver:  # found again, not made again
        plan, _, _ = solver.solve(0, 200)
    assert library.stat().st_mtime_ns == before
    assert max(Referee(problem).judge(plan).active) > 0


def test_fatrop_refuses_what_it_is_not_written_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(Fatrop)
    monkeypatch.setattr("robomorph.bench.peers.fatrop.library_folder", lambda: tmp_path / "kept")
    with pytest.raises(PeerError, match="targets of frames"):
        Fatrop.start(ProblemSet("pose", (problems.pose("iiwa14", 0, 4),)))
    source = write_arm(tmp_path)
    with pytest.raises(PeerError, match="must share horizon"):
        Fatrop.start(ProblemSet("two", (small_problem(source, 3), small_problem(source, 4))))


def test_operations_are_inverse_dynamics(tmp_path: Path) -> None:
    """What the worker is told, computed in plain Python."""
    problem = small_problem(write_arm(tmp_path))
    program = as_data(inverse_dynamics(problem.robot))
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 3))
    table: dict[str, Any] = {
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "neg": lambda x: -x,
        "recip": lambda x: 1 / x, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt,
    }  # fmt: skip
    values: list[float] = []
    given = np.concatenate([q, v, a])
    for name, arguments, value in zip(program["ops"], program["args"], program["values"], strict=True):
        if name in ("const", "input"):
            values.append(value if name == "const" else float(given[int(value)]))
        else:
            values.append(float(table[name](*(values[k] for k in arguments))))
    found = [values[k] for k in program["results"]]
    np.testing.assert_allclose(found, problem.arm.torques(q[None], v[None], a[None])[0], atol=1e-10)
