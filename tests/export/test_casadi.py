"""`export --target casadi`: what compilers make of it, and what CasADi finds in it."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, ModelError, ModelWarning, Robot
from robomorph.casadi import Functions
from robomorph.cli.main import main
from robomorph.export import default_functions, export
from tests.export.tools import COMPILERS, STRICT, need, output_of

FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", *STRICT)
FUNCTIONS = ("inverse_dynamics", "energy", "jacobian:tool")


@cache
def robot(floating: bool) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # a base without mass
        return robomorph.load("chain:3", floating_base=floating)


def built(folder: Path, compiler: str, floating: bool = False, **options: Any) -> Path:
    """The library of an export, compiled with all warnings as errors."""
    tool = need(compiler)
    package = export(robot(floating), folder, target="casadi", functions=FUNCTIONS, **options)
    library = folder / f"lib{package.name}.so"
    source = folder / "src" / f"{package.name}.cpp"
    output_of(tool, *FLAGS, "-shared", f"-I{folder / 'include'}", source, "-o", library)
    return library


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("floating", [False, True])
def test_every_function_is_as_in_process(tmp_path: Path, compiler: str, floating: bool) -> None:
    library = built(tmp_path, compiler, floating)
    about = json.loads((tmp_path / "robomorph.json").read_text())
    check = tmp_path / "check"
    link = (library, f"-Wl,-rpath,{tmp_path}")
    output_of(compiler, "-std=c++17", *STRICT, tmp_path / "test" / "self_check.cpp", *link, "-o", check)
    assert "all functions agree" in output_of(check)
    made = Functions(robot(floating))
    for name in ("inverse_dynamics", "energy", "jacobian_tool"):
        found = casadi.external(f"{about['name']}_{name}", str(library))
        ours = made.jacobian("tool") if name == "jacobian_tool" else getattr(made, name)
        for a, b in zip(_orders(found), _orders(ours), strict=True):
            assert [a.name_in(k) for k in range(a.n_in())] == [b.name_in(k) for k in range(b.n_in())]
            rng = np.random.default_rng(0)
            given = [rng.normal(size=a.size_in(k)) for k in range(a.n_in())]
            for k, (x, y) in enumerate(zip(a.call(given), b.call(given), strict=True)):
                assert a.sparsity_out(k) == b.sparsity_out(k)
                np.testing.assert_allclose(np.array(x), np.array(y), rtol=0, atol=1e-11 * max(1.0, _most(y)))


def _orders(function: Any) -> list[Any]:
    return [function, function.jacobian(), function.reverse(1), function.reverse(1).jacobian()]


def _most(matrix: Any) -> float:
    return float(np.abs(np.array(matrix)).max(initial=0.0))


def test_cmake_and_the_example(tmp_path: Path) -> None:
    need("g++")
    cmake = need("cmake")
    export(robot(False), tmp_path, target="casadi", functions=["energy"], name="arm")
    output_of(cmake, "-S", tmp_path, "-B", tmp_path / "build")
    output_of(cmake, "--build", tmp_path / "build")
    output_of(need("ctest"), "--test-dir", tmp_path / "build")
    said = output_of(sys.executable, tmp_path / "example" / "problem.py", tmp_path / "build" / "libarm.so")
    assert "arm_energy:(q[3],qd[3])->(kinetic,potential)" in said and "hessian of its squares: 6x6" in said


def test_functions_that_are_gradients(tmp_path: Path) -> None:
    """They have values alone, and neither the example nor the README says otherwise."""
    names = ["energy", "inverse_dynamics_gradient"]
    export(robot(False), tmp_path, target="casadi", functions=names, derivatives=1, name="arm")
    readme = (tmp_path / "README.md").read_text()
    assert "Not those of `arm_inverse_dynamics_gradient`: derivatives themselves" in readme
    library = tmp_path / "libarm.so"
    source = (tmp_path / "src" / "arm.cpp", "-o", library)
    output_of(need("g++"), *FLAGS, "-shared", f"-I{tmp_path / 'include'}", *source)
    said = output_of(sys.executable, tmp_path / "example" / "problem.py", library)
    assert said.count("jacobian:") == 1 and "arm_inverse_dynamics_gradient:(" in said
    export(robot(False), tmp_path, target="casadi", functions=names[1:], name="arm")
    assert "values alone: CasADi refuses" in (tmp_path / "README.md").read_text()


def test_functions_that_are_zero_everywhere(tmp_path: Path) -> None:
    """The Jacobian of a turning link is constant: its derivatives have no entries at all."""
    names = ["jacobian:link_1", "jacobian_rate:link_1"]
    export(robot(False), tmp_path, target="casadi", functions=names, name="arm")
    library = tmp_path / "libarm.so"
    source = (tmp_path / "src" / "arm.cpp", "-o", library)
    output_of(need("g++"), *FLAGS, "-shared", f"-I{tmp_path / 'include'}", *source)
    check = (
        tmp_path / "test" / "self_check.cpp",
        library,
        f"-Wl,-rpath,{tmp_path}",
        "-o",
        tmp_path / "check",
    )
    output_of("g++", "-std=c++17", *STRICT, *check)
    assert "all functions agree" in output_of(tmp_path / "check")
    jacobian, rate = (casadi.external(f"arm_{n.replace(':', '_')}", str(library)) for n in names)
    assert jacobian.jacobian().nnz_out() == 0 and rate.nnz_out() == 0
    x = casadi.MX.sym("x", 3)
    assert casadi.jacobian(casadi.vec(jacobian(x)), x).nnz() == 0
    assert casadi.hessian(casadi.sumsqr(rate(x, x)), x)[0].nnz() == 0


@pytest.mark.parametrize("name", ["zeros", "tell", "Matrix", "arg"])
def test_names_that_the_interface_has(tmp_path: Path, name: str) -> None:
    export(robot(False), tmp_path, target="casadi", functions=["energy"], derivatives=0, name=name)
    source = (tmp_path / "src" / f"{name}.cpp", "-o", tmp_path / "lib.so")
    output_of(need("g++"), *FLAGS, "-shared", f"-I{tmp_path / 'include'}", *source)


def test_a_c_program_that_casadi_generates_calls_the_export(tmp_path: Path) -> None:
    library = built(tmp_path, "g++", derivatives=1)
    f = casadi.external("chain_3_inverse_dynamics", str(library))
    x = casadi.MX.sym("x", 3)
    function = casadi.Function("f", [x], [casadi.jacobian(f(x, x, x), x)])
    generator = casadi.CodeGenerator("f.c", {"main": True})
    generator.add(function)
    generator.generate(f"{tmp_path}/")
    program = tmp_path / "program"
    output_of(need("gcc"), tmp_path / "f.c", library, f"-Wl,-rpath,{tmp_path}", "-lm", "-o", program)
    done = subprocess.run([program, "f"], input="0.1 0.2 0.3", capture_output=True, text=True, check=True)
    sent = np.array([float(word) for word in done.stdout.split()])
    expected = np.array(function([0.1, 0.2, 0.3])).ravel(order="F")
    np.testing.assert_allclose(sent, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())  # printed short


def test_the_order_of_derivatives_is_what_the_library_has(tmp_path: Path) -> None:
    for order, count in ((0, 1), (1, 2), (2, 4)):
        package = export(robot(False), tmp_path, target="casadi", functions=["energy"], derivatives=order)
        assert len(package.functions) == count
        about = json.loads((tmp_path / "robomorph.json").read_text())
        assert about["derivatives"] == order and len(about["functions"]) == count
    readme = (tmp_path / "README.md").read_text()
    assert "exact Hessians" in readme and "chain_3_energy" in readme


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "chain:2", "--target", "casadi", "--derivatives", "1", "-o", str(tmp_path), "--json"]
    assert main(command) == 0
    said = json.loads(capsys.readouterr().out)
    assert list(said["functions"]) == [
        f"{start}chain_2_{name}"
        for name in ("inverse_dynamics", "forward_dynamics")
        for start in ("", "jac_")
    ]
    assert main(["export", "chain:2", "--derivatives", "1", "-o", str(tmp_path)]) == 2
    assert "expected --target casadi, found cpp" in " ".join(capsys.readouterr().err.split())


def test_refusals(tmp_path: Path) -> None:
    for options, words in (
        ({"dtypes": ["float32"]}, "CasADi computes in float64 alone"),
        ({"functions": ["energy.vjp"]}, "CasADi asks for derivatives by itself"),
        ({"functions": ["energy", "energy"]}, "exported twice"),
        ({"functions": ["ik"]}, "unknown function 'ik'"),
        ({"name": "2"}, "expected a C\\+\\+ identifier"),
        ({"derivatives": 3}, "derivatives: expected their highest order"),
        ({"mpc": "reach"}, "a controller is exported as C\\+\\+"),
    ):
        with pytest.raises(ArgumentError, match=words):
            export(robot(False), tmp_path, target="casadi", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["work", "n_in", "release", "config"])
def test_functions_that_casadi_would_take_for_an_answer_are_refused(tmp_path: Path, ending: str) -> None:
    """The Jacobian of a frame arm_work did not compile beside arm's; that of arm_config ended the process."""
    frames = {name: ("tool", (0.1, 0.2, 0.3)) for name in ("arm", f"arm_{ending}")}
    both = robomorph.load("chain:2", tool_frames=frames)
    functions = [f"jacobian:{name}" for name in frames]
    with pytest.raises(ArgumentError, match=f"jacobian_arm_{ending} is how CasADi asks for '{ending}' of"):
        export(both, tmp_path, target="casadi", functions=functions, derivatives=0)
    export(both, tmp_path, target="casadi", functions=functions[1:], derivatives=0)


def test_what_a_robot_has_not_is_left_out(tmp_path: Path) -> None:
    urdf = """<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous">
    <parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    with pytest.warns(ModelWarning):
        bare = robomorph.load(urdf)
    with pytest.raises(ModelError):
        export(bare, tmp_path, target="casadi")
    specs = default_functions(["b"], "casadi")
    with pytest.warns(ModelWarning, match="left out inverse_dynamics"):
        package = export(bare, tmp_path, target="casadi", functions=specs, derivatives=0)
    assert "forward_dynamics" in package.left_out and "bare_forward_kinematics_b" in [
        f.name for f in package.functions
    ]
