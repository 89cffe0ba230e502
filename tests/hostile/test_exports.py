"""Exports that fail, robots with odd names, and what a controller's author finds beside the kernels."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.errors import ArgumentError, ModelError, ModelWarning
from robomorph.export import FunctionSpec, default_functions, export, make_package
from tests.export.tools import COMPILERS, STRICT, compile_program, need, output_of

TARGETS = ("cpp", "cuda", "opencl", "rtl")
C99 = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def command(folder: Path, target: str) -> list[str]:
    function = "inverse_dynamics" if target == "rtl" else "energy"
    return ["export", "chain:2", "--target", target, "--functions", function, "-o", str(folder)]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def full_disk(monkeypatch: pytest.MonkeyPatch, after: int) -> Callable[[], None]:
    """Writing fails after so many files; what is handed out makes room again."""
    real, written = Path.write_text, [0]

    def write(path: Path, *args: Any, **more: Any) -> int:
        written[0] += 1
        if written[0] > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, *args, **more)

    monkeypatch.setattr(Path, "write_text", write)
    return lambda: monkeypatch.setattr(Path, "write_text", real)


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_a_full_disk_leaves_nothing_and_the_next_run_works(
    target: str,
    after: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "a" / "out"
    make_room = full_disk(monkeypatch, after)
    assert main(command(folder, target)) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert error.startswith("error: ") and str(folder) in error.replace(" ", "") and "Traceback" not in error
    assert "No space left on device" in error and "the disk at /" in error and "MB left" in error
    assert not list(tmp_path.iterdir())
    make_room()
    assert main(command(folder, target)) == 0


@pytest.mark.parametrize("target", TARGETS)
def test_a_full_disk_leaves_an_earlier_export_as_it_was(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(command(tmp_path / "out", target)) == 0
    (tmp_path / "out" / "notes.txt").write_text("mine")
    before = contents(tmp_path / "out")
    make_room = full_disk(monkeypatch, 2)
    assert main(command(tmp_path / "out", target)) == 2
    assert contents(tmp_path / "out") == before
    make_room()
    assert main(command(tmp_path / "out", target)) == 0
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("target", ["cpp", "rtl"])
def test_files_that_may_not_grow(target: str, tmp_path: Path) -> None:
    """As under `ulimit -f`: the system itself refuses, in another process."""
    program = (
        "import resource, sys\n"
        "from robomorph.cli.main import main\n"
        "import robomorph.export, robomorph.export.rtl\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    environment = {**os.environ, "ROBOMORPH_CACHE": "off"}
    words = [sys.executable, "-c", program, *command(tmp_path / "out", target)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 2 and "File too large" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
    assert main(command(tmp_path / "out", target)) == 0


@pytest.mark.parametrize("call", ["write_text", "replace"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_killed_export_can_be_repeated(call: str, count: int, tmp_path: Path) -> None:
    """Killed while writing, and while moving what was written: files of the user stay, ours do not matter."""
    folder = tmp_path / "out"
    owner = "pathlib.Path" if call == "write_text" else "os"
    program = (
        "import os, pathlib, signal, sys\n"
        "from robomorph.cli.main import main\n"
        f"real, count = {owner}.{call}, [0]\n"
        "def last(*args, **more):\n"
        "    count[0] += 1\n"
        f"    if count[0] == {count}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(*args, **more)\n"
        "import robomorph.export\n"
        f"{owner}.{call} = last\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    environment = {**os.environ, "ROBOMORPH_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", program, *command(folder, "cpp")], env=environment)
    assert done.returncode == -signal.SIGKILL and folder.exists()
    assert main(command(folder, "cpp")) == 0
    assert main(command(tmp_path / "other", "cpp")) == 0
    assert contents(folder) == contents(tmp_path / "other")


def test_what_a_killed_export_left_does_not_open_a_folder_of_others(tmp_path: Path) -> None:
    (tmp_path / ".robomorph-unfinished").mkdir()
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ArgumentError, match="not empty"):
        export(robomorph.load("chain:2"), tmp_path, functions=["energy"])
    assert contents(tmp_path) == {"thesis.tex": b"precious"}


def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", stop)
    assert main(command(tmp_path / "out", "cpp")) == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", TARGETS)
def test_places_that_cannot_be_written(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        assert main(command(place, target)) == 2
        assert str(tmp_path / "file") in "".join(capsys.readouterr().err.split())
    assert contents(tmp_path) == {"file": b"mine"}
    read_only = tmp_path / "read-only"
    read_only.mkdir()
    real = Path.mkdir

    def refuse(path: Path, *args: Any, **more: Any) -> None:  # the tests may run as root, whom nothing stops
        if path.is_relative_to(read_only) and path != read_only:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        real(path, *args, **more)

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert main(command(read_only, target)) == 2
    error = "".join(capsys.readouterr().err.split())
    assert error == f"error:{read_only}:Permissiondenied"


# --- names and limits ------------------------------------------------------------------------------------

NAMES = ['j"1\\', "tri??/graph??=", "né中\u202e", "a b", "a_b", "line\n7", "%s%n", "x*/ //"]


def chain(names: list[str], kinds: list[str], limit: str = "") -> str:
    """A serial chain with a joint of each kind."""
    from xml.sax.saxutils import quoteattr

    parts = ["<robot name='what??/ */'><link name='base'/>"]
    inertial = (
        "<inertial><origin xyz='.1 .2 .1'/><mass value='1'/>"
        "<inertia ixx='.1' iyy='.2' izz='.15' ixy='0' ixz='0' iyz='0'/></inertial>"
    )
    for k, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        parent = "base" if k == 0 else f"l{k - 1}"
        bounds = limit if kind in ("revolute", "prismatic") else ""
        name = quoteattr(name).replace("\n", "&#10;")
        parts.append(f"<link name='l{k}'>{inertial}</link>")
        parts.append(
            f"<joint name={name} type='{kind}'><parent link='{parent}'/><child link='l{k}'/>"
            f"<origin xyz='0 .1 .2' rpy='0 0 0'/><axis xyz='0 0 1'/>{bounds}</joint>"
        )
    return "".join([*parts, "</robot>"])


def odd_robot() -> robomorph.Robot:
    kinds = [
        "revolute",
        "continuous",
        "prismatic",
        "planar",
        "revolute",
        "floating",
        "continuous",
        "prismatic",
    ]
    limit = "<limit lower='-1.2345678901234567' upper='0.1' velocity='3.3' effort='1e-300'/>"
    with pytest.warns(ModelWarning):  # of the limits that are not given
        return robomorph.load(chain(NAMES, kinds, limit).replace(limit, "", 1))


PRINT = """
#include <stdio.h>
#include "odd/c_abi.h"
static void words(const char *const *x, int n) { int k; for (k = 0; k < n; ++k) printf("%s%c", x[k], 1); }
static void numbers(const double *x, int n) { int k; for (k = 0; k < n; ++k) printf("%.17g%c", x[k], 1); }
int main(void) {
  words(odd_joint_names, ODD_JOINTS); words(odd_coordinate_names, ODD_NQ); words(odd_velocity_names, ODD_NV);
  numbers(odd_lower_limits, ODD_NQ); numbers(odd_upper_limits, ODD_NQ);
  numbers(odd_velocity_limits, ODD_NV); numbers(odd_effort_limits, ODD_NV); numbers(odd_gravity, 3);
  return 0;
}
"""


def link_c(folder: Path, source: str, *, compiler: str = "gcc") -> Path:
    """A C99 program on the C interface, all warnings being errors."""
    cxx = need("g++" if compiler == "gcc" else "clang++")
    include, objects = f"-I{folder / 'include'}", [folder / "user.o", folder / "c_abi.o"]
    output_of(need(compiler), *C99, include, "-c", folder / source, "-o", objects[0])
    output_of(cxx, "-std=c++17", *STRICT, include, "-c", folder / "src/c_abi.cpp", "-o", objects[1])
    output_of(cxx, *objects, "-o", folder / "user")
    return folder / "user"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_names_and_limits_are_those_of_the_robot(compiler: str, tmp_path: Path) -> None:
    robot = odd_robot()
    export(robot, tmp_path, functions=["mass_matrix"], name="odd")
    (tmp_path / "print.c").write_text(PRINT)
    program = link_c(tmp_path, "print.c", compiler=compiler)
    found = subprocess.run([str(program)], capture_output=True).stdout.decode().split("\x01")[:-1]
    nq, nv, joints = robot.nq, robot.nv, len(robot.joint_names)
    assert tuple(found[:joints]) == robot.joint_names
    names, velocities = found[joints : joints + nq], found[joints + nq : joints + nq + nv]
    for joint in robot.joint_names:
        q, v = robot.coordinates(joint)
        for place, listed in ((q, names), (v, velocities)):
            several = place.stop - place.start > 1
            wanted = [f"{joint}[{k}]" for k in range(place.stop - place.start)] if several else [joint]
            assert listed[place] == wanted
    numbers = np.array([float(x) for x in found[joints + nq + nv :]])
    limits = robot.limits
    wanted_numbers = [limits.lower, limits.upper, limits.velocity, limits.effort, robot.gravity]
    np.testing.assert_array_equal(numbers, np.concatenate(wanted_numbers))
    assert np.isinf(numbers).any() and (numbers == -1.2345678901234567).any() and (numbers == 1e-300).any()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_names_and_limits_in_cpp(compiler: str, tmp_path: Path) -> None:
    robot = odd_robot()
    export(robot, tmp_path, functions=["mass_matrix"], name="odd")
    (tmp_path / "main.cpp").write_text(
        '#include "odd/odd.hpp"\n#include <cstdio>\n'
        "static_assert(odd::lower_limits[0] == -HUGE_VAL && odd::gravity[2] == -9.81, "
        '"known to the compiler");\n'
        'int main() {\n  for (const char* name : odd::joint_names) std::printf("%s%c", name, 1);\n}\n'
    )
    found = subprocess.run([str(compile_program(compiler, tmp_path, "main.cpp"))], capture_output=True)
    assert tuple(found.stdout.decode().split("\x01")[:-1]) == robot.joint_names
    check = output_of(compile_program(compiler, tmp_path, "test/self_check.cpp"))
    assert "integrate: result" in check and check.endswith("all kernels agree\n")


def test_the_manifest_has_them_too(tmp_path: Path) -> None:
    robot = robomorph.load("iiwa14", gravity=(0, 1, -9))
    export(robot, tmp_path, functions=["energy"])
    found = json.loads((tmp_path / "robomorph.json").read_text())
    assert found["limits"]["lower"] == robot.limits.lower.tolist() and found["gravity"] == [0, 1, -9]
    assert found["coordinates"] == list(robot.joint_names)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_example_and_a_caller_with_arrays_of_its_own_in_c99(compiler: str, tmp_path: Path) -> None:
    """A controller fills its matrices: they are not constant."""
    robot = robomorph.load("chain:2")
    export(
        robot, tmp_path, functions=["inverse_dynamics", "mass_matrix"], name="two", f_ext=["link_1", "tool"]
    )
    (tmp_path / "caller.c").write_text(
        '#include <stdio.h>\n#include "two/c_abi.h"\nint main(void) {\n'
        "  double q[TWO_NQ] = {0.1, 0.2}, qd[TWO_NV] = {1, 2}, qdd[TWO_NV] = {0, 0}, tau[TWO_NV];\n"
        "  double f_ext[2][6] = {{0}}, mass[TWO_NV][TWO_NV], next[TWO_NQ];\n  f_ext[1][2] = 3.0;\n"
        "  two_inverse_dynamics(q, qd, qdd, &f_ext[0][0], tau);\n  two_mass_matrix(q, mass);\n"
        "  two_integrate(q, qd, next);\n"
        '  printf("%.17g %.17g %.17g\\n", tau[0], tau[1], next[1]);\n  return 0;\n}\n'
    )
    found = [float(x) for x in output_of(link_c(tmp_path, "caller.c", compiler=compiler)).split()]
    force = {"tool": np.array([0, 0, 3.0, 0, 0, 0])}
    expected = robot.inverse_dynamics(np.array([0.1, 0.2]), np.array([1.0, 2]), np.zeros(2), f_ext=force)
    np.testing.assert_allclose(found, [*expected, 2.2], rtol=1e-12)
    output_of(link_c(tmp_path, "example/main.c", compiler=compiler))


def test_functions_whose_names_would_collide_are_refused(tmp_path: Path) -> None:
    robot = robomorph.load(
        "chain:2", tool_frames={n: ("tool", (0, 0, 1.0)) for n in ("a b", "a-b", "c", "c_batch")}
    )
    with pytest.raises(
        ArgumentError, match="jacobian:a b and jacobian:a-b would both be called jacobian_a_b"
    ):
        make_package(robot, ["jacobian:a b", "jacobian:a-b"])
    with pytest.raises(ArgumentError, match="jacobian_c and jacobian_c_batch would both define"):
        make_package(robot, ["jacobian:c", "jacobian:c_batch"])
    for name in ("mass_matrix", "configuration"):
        with pytest.raises(ArgumentError, match="choose another by --name"):
            make_package(robot, ["mass_matrix"], name=name)


# --- what a robot cannot do ---------------------------------------------------------------------------------


def idle_robot() -> str:
    """Two joints about one axis, the first of which moves no mass of its own: M is singular."""
    text = chain(["a", "b"], ["continuous", "continuous"]).replace("xyz='0 .1 .2'", "xyz='0 0 .2'")
    start, end = text.index("<inertial>"), text.index("</inertial>") + len("</inertial>")
    return text[:start] + text[end:]


@pytest.mark.parametrize("target", ["cpp", "cuda", "opencl"])
def test_all_of_a_robot_is_what_it_can_do(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "idle.urdf"
    path.write_text(idle_robot())
    words = ["export", str(path), "--target", target, "--name", "idle", "-o", str(tmp_path / "out")]
    assert main([*words, "--json", "--dtype", "float64"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    refused = {"forward_dynamics", "forward_dynamics_gradient", "mass_matrix_inverse"}
    assert refused <= set(found["left_out"]) and not refused & set(found["functions"])
    assert {"inverse_dynamics", "mass_matrix"} <= set(found["functions"])
    assert "left out" in captured.err and "forward_dynamics" in captured.err
    assert set(json.loads((tmp_path / "out/robomorph.json").read_text())["left_out"]) >= refused


def test_what_is_asked_for_by_name_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "idle.urdf"
    path.write_text(idle_robot())
    words = ["--functions", "mass_matrix", "forward_dynamics", "-o", str(tmp_path / "out")]
    assert main(["export", str(path), *words]) == 2
    assert "singular" in capsys.readouterr().err and not (tmp_path / "out").exists()
    with pytest.raises(ModelError, match="singular"):  # nothing would be left
        make_package(robomorph.load(idle_robot()), [FunctionSpec("forward_dynamics", optional=True)])


def test_results_of_three_dimensions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New algorithms are exported by themselves, whatever the shapes of their results."""
    from dataclasses import replace

    from robomorph.algorithms.registry import ALGORITHMS

    known = ALGORITHMS["forward_kinematics"]
    monkeypatch.setitem(ALGORITHMS, "parts", replace(known, name="parts", outputs={"pose": (2, 2, 4)}))
    robot = robomorph.load("chain:2")
    specs = [s for s in default_functions(["tool"]) if s.algorithm in ("parts", "forward_kinematics")]
    package = export(robot, tmp_path, functions=specs, name="two")
    assert {f.name for f in package.functions} == {"parts_tool", "forward_kinematics_tool"}
    assert output_of(compile_program("g++", tmp_path, "test/self_check.cpp")).endswith("agree\n")
    output_of(compile_program("g++", tmp_path, "example/main.cpp"))
    (tmp_path / "reversed").mkdir()
    export(robot, tmp_path / "reversed", functions=specs[::-1], name="two")
    output_of(link_c(tmp_path / "reversed", "example/main.c"))
    output_of(compile_program("g++", tmp_path / "reversed", "example/main.cpp"))
