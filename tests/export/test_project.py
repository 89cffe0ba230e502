"""The exported folder: examples, self-check and CMake package as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph.algorithms.registry import state_algorithms
from robomorph.cli.main import main
from robomorph.export import export, make_package
from tests.export.tools import COMPILERS, STRICT, compile_program, need, output_of


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    folder = tmp_path / "arm"
    export(robomorph.load("iiwa14"), folder, functions=["inverse_dynamics", "mass_matrix"], name="arm")
    return folder


def first_line_numbers(text: str) -> list[float]:
    return [float(word) for word in text.splitlines()[0].split()[1:]]


def expected_torques() -> np.ndarray:
    package = make_package(robomorph.load("iiwa14"), ["inverse_dynamics"])
    return np.asarray(package.functions[0].reference["tau"][0])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_example_and_self_check(arm: Path, compiler: str) -> None:
    example = output_of(compile_program(compiler, arm, "example/main.cpp", "-O2", "-march=native"))
    np.testing.assert_allclose(first_line_numbers(example), expected_torques(), rtol=1e-12)
    lanes = [float(line.split("=")[1]) for line in example.splitlines() if line.startswith("lane")]
    assert lanes[0] == first_line_numbers(example)[0]
    assert len(set(lanes)) == len(lanes) > 1
    check = output_of(compile_program(compiler, arm, "test/self_check.cpp", "-O2", "-march=native"))
    assert check.splitlines()[-1] == "all kernels agree"


def test_self_check_notices_a_wrong_number(arm: Path) -> None:
    header = arm / "include/arm/mass_matrix.hpp"
    text = header.read_text()
    assert "mass[0][0] = v" in text
    header.write_text(text.replace("mass[0][0] = v", "mass[0][0] = T(1.001) * v", 1))
    program = compile_program("g++", arm, "test/self_check.cpp", "-O1")
    with pytest.raises(AssertionError, match=r"mass_matrix: mass .*WRONG"):
        output_of(program)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c_interface_from_c(arm: Path, compiler: str) -> None:
    cxx = need("g++" if compiler == "gcc" else "clang++")
    include, objects = f"-I{arm / 'include'}", [arm / "main.o", arm / "c_abi.o"]
    output_of(need(compiler), "-std=c99", *STRICT, include, "-c", arm / "example/main.c", "-o", objects[0])
    output_of(cxx, "-std=c++17", "-O1", *STRICT, include, "-c", arm / "src/c_abi.cpp", "-o", objects[1])
    output_of(cxx, *objects, "-o", arm / "main")
    np.testing.assert_allclose(first_line_numbers(output_of(arm / "main")), expected_torques(), rtol=1e-12)


def test_nothing_allocates_or_throws(arm: Path) -> None:
    """The object code asks the outside world for sine and cosine alone."""
    cxx, nm = need("g++"), need("nm")
    flags = ("-std=c++17", "-O2", "-mfma", "-mavx2", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off")
    output_of(cxx, *flags, f"-I{arm / 'include'}", "-c", arm / "src/c_abi.cpp", "-o", arm / "c_abi.o")
    wanted = {line.split()[-1] for line in output_of(nm, "-u", arm / "c_abi.o").splitlines()}
    allowed = {"sin", "cos", "sinf", "cosf", "sincos", "sincosf", "memcpy", "memset", "__stack_chk_fail"}
    allowed |= {"sqrt", "sqrtf", "atan2", "atan2f"}  # of integrate and difference
    assert wanted <= {*allowed, "_GLOBAL_OFFSET_TABLE_"}


def test_fast_math_is_refused(arm: Path) -> None:
    with pytest.raises(AssertionError, match="-ffast-math breaks"):
        compile_program("g++", arm, "example/main.cpp", "-ffast-math")


def test_cmake_package(arm: Path, tmp_path: Path) -> None:
    cmake, ctest = need("cmake"), need("ctest")
    build, prefix, user = tmp_path / "build", tmp_path / "prefix", tmp_path / "user"
    output_of(cmake, "-S", arm, "-B", build, "-DARM_NATIVE=ON")
    output_of(cmake, "--build", build)
    output_of(ctest, "--test-dir", build)
    output_of(cmake, "--install", build, "--prefix", prefix)
    user.mkdir()
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user C CXX)\nfind_package(arm 1.0 CONFIG REQUIRED)\n"
        f"add_executable(cpp {arm}/example/main.cpp)\ntarget_link_libraries(cpp PRIVATE arm::arm)\n"
        f"add_executable(c {arm}/example/main.c)\ntarget_link_libraries(c PRIVATE arm::c_abi)\n"
    )
    output_of(cmake, "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    output_of(cmake, "--build", user / "build")
    for program in ("cpp", "c"):
        found = first_line_numbers(output_of(user / "build" / program))
        np.testing.assert_allclose(found, expected_torques(), rtol=1e-12)


def test_two_robots_in_one_program(tmp_path: Path) -> None:
    """Namespaces and guards keep them apart; the support headers are shared."""
    for name in ("one", "two"):
        export(robomorph.load("chain:2"), tmp_path / name, functions=["mass_matrix"], name=name)
    (tmp_path / "main.cpp").write_text(
        '#include "one/one.hpp"\n#include "two/two.hpp"\n'
        "int main() {\n  const double q[2] = {0.1, 0.2};\n  double a[2][2], b[2][2];\n"
        "  one::mass_matrix(q, a);\n  two::mass_matrix(q, b);\n  return a[0][0] == b[0][0] ? 0 : 1;\n}\n"
    )
    folders = [f"-I{tmp_path / name / 'include'}" for name in ("one", "two")]
    output_of(compile_program("g++", tmp_path, "main.cpp", *folders))


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    arguments = [
        "export",
        "iiwa14",
        "--functions",
        "energy",
        "--frames",
        "lbr_iiwa_link_7",
        "-o",
        str(folder),
    ]
    assert main([*arguments, "--json", "--dtype", "float32"]) == 0
    shown = json.loads(capsys.readouterr().out)
    about_frames = {f"{a.name}_lbr_iiwa_link_7" for a in state_algorithms().values() if a.frame}
    assert {"forward_kinematics_lbr_iiwa_link_7", "jacobian_rate_lbr_iiwa_link_7"} <= about_frames
    assert set(shown["functions"]) == {"energy"} | about_frames
    header = (folder / "include/iiwa14/c_abi.h").read_text()
    assert "iiwa14_energy_f32(" in header
    assert "const double *" not in header and "iiwa14_energy(" not in header  # limits stay double
    assert "energy" in (folder / "README.md").read_text()
    assert main(arguments) == 0  # an export may be repeated in place
    assert "lbr_iiwa_link_7" in capsys.readouterr().out
