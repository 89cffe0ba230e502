"""Functions in other threads, processes and programs, and the libraries on disk behind them."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

import robomorph
from robomorph.casadi import Functions
from robomorph.interop.casadi import libraries
from robomorph.runtime.environment import cache_folder, environment
from robomorph.targets.casadi.linking import find_linker
from tests.export.tools import need, output_of
from tests.interop.cases import arguments, load

pytestmark = pytest.mark.skipif(find_linker() is None, reason="no C compiler to link with")


def dynamics(**options: Any) -> Any:
    return Functions(load("iiwa14"), derivatives=1, **options).forward_dynamics


@pytest.mark.parametrize("how", ["serial", "thread", "openmp"])
def test_maps(how: str) -> None:
    """Any number of threads may call: nothing is shared."""
    robot = load("iiwa14")
    q, qd, tau = arguments(robot, "forward_dynamics", 64)
    expected = robot.forward_dynamics(q, qd, tau)
    function = dynamics()
    many = function.map(64, how, 4) if how != "serial" else function.map(64)
    for _ in range(5):
        np.testing.assert_array_equal(np.array(many(q.T, qd.T, tau.T)).T, expected)


def test_threads_of_python() -> None:
    robot, function = load("iiwa14"), dynamics()
    q, qd, tau = arguments(robot, "forward_dynamics", 200)
    expected = robot.forward_dynamics(q, qd, tau)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: np.array(function(q[k], qd[k], tau[k])).ravel(), range(200)))
    np.testing.assert_array_equal(np.array(found), expected)


def test_functions_are_made_by_one_thread() -> None:
    made = Functions(load("planar"), derivatives=1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        names = {f.name() for f in pool.map(lambda _: made.energy, range(8))}
    assert len(names) == 1


@pytest.mark.parametrize("what", ["functions", "function", "problem"])
def test_other_processes(what: str, tmp_path: Path) -> None:
    """CasADi's own functions name the library on this computer's disk; Functions make it anew."""
    function = dynamics()
    x = casadi.MX.sym("x", 7)
    problem = casadi.Function("problem", [x], [casadi.jacobian(function(x, x, x), x)])
    given: Any = {
        "functions": Functions(load("iiwa14"), derivatives=1),
        "function": function,
        "problem": problem,
    }
    (tmp_path / "pickled").write_bytes(pickle.dumps(given[what]))
    code = (
        "import pickle, sys, numpy as np, casadi\n"
        f"f = pickle.loads(open({str(tmp_path / 'pickled')!r}, 'rb').read())\n"
        "f = getattr(f, 'forward_dynamics', f)\n"
        "x = np.linspace(-1.0, 1.0, 7)\n"
        "print(np.array(f(*[x] * f.n_in())).tobytes().hex())"
    )
    x0 = np.linspace(-1.0, 1.0, 7)
    expected = np.array((problem if what == "problem" else function)(*[x0] * (1 if what == "problem" else 3)))
    assert output_of(sys.executable, "-c", code).strip() == expected.tobytes().hex()


def test_code_that_casadi_generates(tmp_path: Path) -> None:
    """Two robots and a Jacobian in one C program, linked with both libraries."""
    folder = tmp_path / "libraries"
    robots = [load("iiwa14"), robomorph.load("iiwa14", gravity=(0.0, 0.0, -1.6))]
    fs = [Functions(robot, derivatives=1, folder=folder).inverse_dynamics for robot in robots]
    x = casadi.MX.sym("x", 7)
    y = fs[0](x, x, x) - 2.0 * fs[1](x, x, x)
    function = casadi.Function("both", [x], [y, casadi.jacobian(y, x)])
    generator = casadi.CodeGenerator("both.c", {"main": True})
    generator.add(function)
    generator.generate(f"{tmp_path}/")
    found = sorted(folder.glob("*.so"))
    assert len(found) == 2
    program = tmp_path / "both"
    output_of(need("gcc"), tmp_path / "both.c", *found, f"-Wl,-rpath,{folder}", "-lm", "-o", program)
    point = np.linspace(-0.5, 0.8, 7)
    done = subprocess.run(
        [program, "both"],
        input=" ".join(map(repr, point.tolist())),
        capture_output=True,
        text=True,
        check=True,
    )
    values, jacobian = function(point)
    sent = np.array([float(word) for word in done.stdout.split()])
    expected = np.concatenate([np.array(values).ravel(), np.array(jacobian.nonzeros())])
    np.testing.assert_allclose(sent, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())  # printed short


def test_code_that_casadi_compiles_by_itself(tmp_path: Path) -> None:
    """It calls functions by their names: one that was not found ended the process."""
    need("gcc")
    code = (
        "import os, casadi, numpy as np, robomorph\n"
        "from robomorph.casadi import Functions\n"
        f"os.chdir({str(tmp_path)!r})\n"
        "f = Functions(robomorph.load('iiwa14'), derivatives=1).forward_dynamics\n"
        "x = casadi.MX.sym('x', 7)\n"
        "y = f(x, x, x)\n"
        "how = {'jit': True, 'compiler': 'shell', 'jit_options': {'flags': '-O0'}}\n"
        "problems = [casadi.Function('p', [x], [y, casadi.jacobian(y, x)], o) for o in ({}, how)]\n"
        "a, b = ([np.array(v) for v in p(np.full(7, 0.3))] for p in problems)\n"
        "print(max(np.abs(p - q).max() for p, q in zip(a, b)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 1e-9


# --- libraries on disk -----------------------------------------------------------------------------------


def made_in(folder: Path) -> Path:
    with cache_folder(str(folder)):
        _ = Functions(load("planar"), derivatives=0).energy
    (library,) = (folder / "casadi").glob("*.so")
    return library


def test_libraries_are_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = made_in(tmp_path)
    when = library.stat().st_ino
    monkeypatch.setattr(libraries, "object_code", None)  # nothing is compiled again
    assert made_in(tmp_path).stat().st_ino == when


@pytest.mark.parametrize("harm", ["cut", "changed", "writable", "link", "undescribed", "misdescribed"])
def test_a_library_that_is_not_as_it_was_made_is_made_anew(tmp_path: Path, harm: str) -> None:
    library = made_in(tmp_path)
    content = library.read_bytes()
    if harm in ("cut", "changed"):  # another file: this process has loaded the one that is there
        library.unlink()
        library.write_bytes(content[:1000] if harm == "cut" else content[:-1] + b"x")
        library.chmod(0o700)
    elif harm == "writable":
        library.chmod(0o777)
    elif harm == "link":
        elsewhere = tmp_path / "elsewhere.so"
        library.rename(elsewhere)
        library.symlink_to(elsewhere)
    elif harm == "undescribed":
        library.with_suffix(".sha256").unlink()
    else:
        library.with_suffix(".sha256").write_bytes(b"\xff")  # no text at all
    again = made_in(tmp_path)
    assert not again.is_symlink() and again.stat().st_mode & 0o777 == 0o700
    assert len(again.read_bytes()) == len(content)


def test_joints_of_ones_own_are_made_in_every_process(tmp_path: Path) -> None:
    """Nothing tells whether such a joint's code has changed, so no library of another process is taken."""
    code = (
        "import sys, robomorph\n"
        "from robomorph.model.joints import JOINT_TYPES\n"
        "from robomorph.model.robots.chain import chain_urdf\n"
        "from robomorph.spatial import Motion, Translation\n"
        "class Stretched(type(JOINT_TYPES['prismatic'])):\n"
        "    share = float(sys.argv[1])\n"
        "    subspace = property(lambda self: (Motion(lin=(0.0, 0.0, self.share)),))\n"
        "    def transform(self, q, turn):\n"
        "        return (Translation((0.0, 0.0, self.share * q[0])),)\n"
        "JOINT_TYPES['stretched'] = Stretched()\n"
        "robot = robomorph.load(chain_urdf(1).replace('\"continuous\"', '\"stretched\"'))\n"
        "f = robomorph.casadi.Functions(robot, derivatives=1).mass_matrix\n"
        "print(f.name(), float(f(0.3)), float(robot.mass_matrix([0.3])[0, 0]))"
    )
    said = []
    with cache_folder(str(tmp_path)):
        for share in ("1.0", "3.0"):
            name, found, expected = output_of(sys.executable, "-c", code, share).split()
            assert float(found) == float(expected) == pytest.approx(float(share) ** 2)
            said.append(name)
    assert said[0] != said[1]
    assert not list(tmp_path.rglob("*.so")), "of no use to another process"


def test_without_a_cache_libraries_are_temporary(tmp_path: Path) -> None:
    with environment(ROBOMORPH_CACHE="off"):
        function = Functions(load("planar"), derivatives=0).energy
    assert float(function(load("planar").neutral, np.zeros(5))[0]) == 0.0
    readonly = tmp_path / "file"
    readonly.write_text("")  # a cache that no folder can be made in
    with environment(ROBOMORPH_CACHE_DIR=str(readonly), ROBOMORPH_CACHE=None):
        assert Functions(load("planar"), derivatives=0).energy.n_out() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_temporary_libraries_outlive_processes_that_were_forked_off() -> None:
    code = (
        "import os, sys, robomorph\n"
        "_ = robomorph.casadi.Functions(robomorph.load('chain:1'), derivatives=0).energy\n"
        "child = os.fork()\n"
        "if child == 0:\n    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "from robomorph.interop.casadi.libraries import _temporary\n"
        "print(len(list(_temporary().glob('*.so'))), _temporary())"
    )
    with environment(ROBOMORPH_CACHE="off"):
        count, folder = output_of(sys.executable, "-c", code).split()
    assert count == "1" and not Path(folder).exists()


def test_old_libraries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_LIMIT_BYTES", 0)
    first = made_in(tmp_path)
    with cache_folder(str(tmp_path)):
        _ = Functions(load("planar"), derivatives=0).center_of_mass
    left = list((tmp_path / "casadi").glob("*"))
    assert not first.exists() and len(left) == 2, "the newest and its digest"


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    _ = Functions(load("planar"), derivatives=0, folder=tmp_path / "mine").energy
    assert len(list((tmp_path / "mine").glob("*.so"))) == 1


def test_without_casadi_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['casadi'] = None\n"
        "import robomorph\n"
        "try:\n    robomorph.casadi\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    said = output_of(sys.executable, "-c", code)
    assert said.startswith("MissingPackageError") and "pip install 'robomorph[casadi]'" in said
