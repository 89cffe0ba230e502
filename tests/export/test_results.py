"""Exported code, compiled by each compiler with warnings as errors, against the interpreter."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.export import FunctionSpec, build_shared, default_functions, reference_states
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.targets.cpp.build import SharedFunction, SharedLibrary
from robomorph.targets.cpp.package import CppFunction
from tests.export.tools import COMPILERS, STRICT, need

# The first is the error relative to the largest entry, the second to the Euclidean norm.
LIMITS = {"float64": (1e-9, 1e-9), "float32": (1e-3, 2e-4)}
COUNT = 21  # two full sets of lanes and a tail, whatever the width


def build(
    tmp_path: Path, robot: robomorph.Robot, compiler: str, specs: list[FunctionSpec], *flags: str
) -> SharedLibrary:
    need(compiler)
    return build_shared(
        robot,
        specs,
        directory=tmp_path / "code",
        compiler=compiler,
        flags=(*flags, "-march=native", *STRICT),
        f_ext=[robot.link_names[-1]],
    )


def check_library(robot: robomorph.Robot, library: SharedLibrary) -> None:
    for function in library.package.functions:
        for dtype in library.package.dtypes:
            check_function(robot, library[function.name, dtype], dtype)


def program_of(compiled: SharedFunction) -> Program:
    assert isinstance(compiled.function, CppFunction)
    return compiled.function.program


def check_function(robot: robomorph.Robot, compiled: SharedFunction, dtype: str) -> None:
    """Single calls against the interpreter, and a batch with a tail bit by bit against single calls."""
    program = program_of(compiled)
    states = reference_states(robot, program, COUNT)
    arguments = [states[port.name] for port in program.inputs]
    batch = compiled.batch(*arguments)
    singles = [compiled(*(a[i] for a in arguments)) for i in range(COUNT)]
    for port in program.outputs:
        single = np.stack([result[port.name] for result in singles])
        where = f"{compiled.function.name}: {port.name} ({dtype})"
        assert single.dtype == dtype
        assert single.tobytes() == batch[port.name].tobytes(), f"{where}: lanes differ from single calls"
        assert_near(single.astype(np.float64), states[port.name], dtype, where)


def assert_near(found: Any, expected: Any, dtype: str, where: str) -> None:
    largest, norm = LIMITS[dtype]
    error = found - expected
    assert np.max(np.abs(error)) <= largest * max(np.max(np.abs(expected)), 1e-6), where
    assert np.linalg.norm(error) <= norm * max(float(np.linalg.norm(expected)), 1e-6), where


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_function_of_an_arm(tmp_path: Path, compiler: str) -> None:
    robot = robomorph.load("iiwa14")
    specs = default_functions([robot.link_names[-1]])
    check_library(robot, build(tmp_path, robot, compiler, specs, "-O1"))


def test_a_floating_base(tmp_path: Path) -> None:
    robot = robomorph.load("hyq", floating_base=True)
    specs = default_functions([robot.link_names[-1]])
    # Its forward-dynamics gradient takes half a minute to compile: see the slow test.
    specs = [spec for spec in specs if not spec.algorithm.endswith("dynamics_gradient")]
    check_library(robot, build(tmp_path, robot, "clang++", specs, "-O1"))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_function_of_a_floating_base(tmp_path: Path, compiler: str) -> None:
    robot = robomorph.load("hyq", floating_base=True)
    check_library(robot, build(tmp_path, robot, compiler, default_functions([robot.link_names[-1]]), "-O2"))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_humanoid_compiles_in_a_minute_and_is_right(tmp_path: Path, compiler: str) -> None:
    robot = robomorph.load("atlas")
    need(compiler)
    start = time.perf_counter()
    library = build_shared(
        robot,
        ["forward_dynamics_gradient"],
        directory=tmp_path / "code",
        compiler=compiler,
        flags=("-O2", "-march=native", *STRICT),
        dtypes=("float64",),
    )
    assert time.perf_counter() - start < 60.0
    check_library(robot, library)


@pytest.mark.parametrize("flags", [(), ("-DROBOMORPH_PORTABLE_LANES", "-march=native")])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_plain_cpu_and_compilers_without_vectors(
    tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    """Without fused multiply-adds, and with lanes as arrays, lanes still have the bits of single calls."""
    need(compiler)
    robot = robomorph.load("iiwa14")
    library = build_shared(
        robot,
        ["inverse_dynamics"],
        directory=tmp_path / "code",
        compiler=compiler,
        flags=("-O2", *flags, *STRICT),
    )
    check_library(robot, library)


def test_only_the_outputs_asked_for_are_computed(tmp_path: Path) -> None:
    robot = robomorph.load("iiwa14")
    specs = [FunctionSpec.parse("forward_dynamics_gradient=qdd")]
    library = build(tmp_path, robot, "g++", specs, "-O1")
    compiled = library["forward_dynamics_gradient"]
    assert [port.name for port in program_of(compiled).outputs] == ["qdd"]
    check_function(robot, compiled, "float64")


@pytest.mark.parametrize(("dtype", "size"), [("float64", 1e9), ("float32", 1e5)])
def test_angles_far_beyond_the_fast_range(tmp_path: Path, dtype: str, size: float) -> None:
    """They take the C library's sine and cosine, lane by lane, and stay exact."""
    robot = robomorph.load("chain:3")
    library = build(tmp_path, robot, "g++", [FunctionSpec("forward_kinematics", robot.link_names[-1])], "-O2")
    compiled = library[library.package.functions[0].name, dtype]
    q = np.random.default_rng(1).uniform(-4.0, 4.0, (COUNT, robot.nq)).astype(np.float32)
    q[3, 1], q[4, 0], q[7, 2] = size, -size, 3.0 * size
    found = compiled.batch(q)["pose"]
    expected = interpret(program_of(compiled), {"q": q.astype(np.float64)})["pose"]
    np.testing.assert_allclose(found, expected, atol=1e-12 if dtype == "float64" else 2e-5)
    for i in (3, 4, 7):
        assert compiled(q[i])["pose"].tobytes() == found[i].tobytes()


def test_nan_stays_in_its_lane(tmp_path: Path) -> None:
    robot = robomorph.load("chain:2")
    compiled = build(tmp_path, robot, "g++", [FunctionSpec("mass_matrix")], "-O2")["mass_matrix"]
    q = np.zeros((COUNT, robot.nq))
    q[5, 1] = np.nan
    found = compiled.batch(q)["mass"]
    assert np.isnan(found[5]).any()
    assert np.isfinite(np.delete(found, 5, axis=0)).all()


def test_a_folder_built_again_has_the_new_robot(tmp_path: Path) -> None:
    """The loader knows libraries by their paths, and two robots may share a name."""
    need("g++")
    found, kept = [], []
    for damping in (0.0, 5.0):
        robot = robomorph.load("chain:1", gravity=(0, 0, 0), damping=damping, passive=True)
        library = build_shared(robot, ["bias_torque"], directory=tmp_path / "code")
        found.append(float(library["bias_torque"](np.zeros(1), np.ones(1))["tau"][0]))
        kept.append(library)
    assert found == [pytest.approx(0.0), pytest.approx(5.0)]
    assert kept[0]["bias_torque"](np.zeros(1), np.ones(1))["tau"][0] == pytest.approx(0.0)
