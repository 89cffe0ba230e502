"""What export refuses, what it overwrites, and how names become identifiers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import robomorph
from robomorph.errors import ArgumentError, TargetError
from robomorph.export import FunctionSpec, export, make_package
from robomorph.ir.program import Port
from robomorph.targets.cpp.build import find_compiler
from robomorph.targets.cpp.package import identifier
from robomorph.targets.cpp.spelling import entry, ranges
from tests.export.tools import COMPILERS, STRICT, compile_program, need, output_of


@pytest.fixture
def robot() -> robomorph.Robot:
    return robomorph.load("chain:2")


def test_a_foreign_folder_is_refused_and_left_alone(robot: robomorph.Robot, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ArgumentError, match="not empty"):
        export(robot, tmp_path, functions=["energy"])
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]
    export(robot, tmp_path, functions=["energy"], force=True)
    assert (tmp_path / "thesis.tex").read_text() == "precious"
    assert (tmp_path / "CMakeLists.txt").exists()


def test_frames_that_name_nothing() -> None:
    """A function called like its result is no C++."""
    for frame in ("", " ", "äö"):
        assert FunctionSpec("jacobian", frame).name == "jacobian_frame"
    assert FunctionSpec("jacobian", "").name != FunctionSpec("jacobian").name


@pytest.mark.parametrize("target", ["cpp", "casadi"])
def test_a_robot_called_test(robot: robomorph.Robot, tmp_path: Path, target: str) -> None:
    """Words that CMake, C or our own projects have taken are names of robots, too."""
    for word in ("test", "all", "install", "self_check", "system", "random", "linux"):
        assert identifier(word) == f"r{word}"
    assert identifier("int") == "rrint", "rint is a function of C"
    named = robomorph.Robot(replace(robot.model, name="test"))
    package = export(named, tmp_path, target=target, functions=["mass_matrix"])
    assert package.name == "rtest"
    output_of(need("cmake"), "-S", tmp_path, "-B", tmp_path / "build")
    with pytest.raises(
        ArgumentError, match=r"no word that C\+\+, its library or CMake has taken, found 'test'"
    ):
        export(robot, tmp_path, target=target, name="test")


def test_robots_called_like_functions_of_c(tmp_path: Path) -> None:
    """What headers of C++'s library bring along has no namespace of that name beside it."""
    words = "free clone abort atan floor fork malloc nan open pause pipe read remainder select sleep tanh"
    words += " timespec tm uint wait write stdin errno daylight signgam realpath"
    words += " truncate exp2 sinh index time abs rewind"
    headers = (
        "algorithm",
        "chrono",
        "cmath",
        "cstdio",
        "cstdlib",
        "functional",
        "memory",
        "thread",
        "unistd.h",
    )
    text = "\n".join(f"#include <{name}>" for name in headers)
    text += "".join(f"\nnamespace {identifier(word)} {{}}" for word in words.split())
    (tmp_path / "names.cpp").write_text(f"{text}\n")
    output_of(need("g++"), "-std=c++17", "-fsyntax-only", tmp_path / "names.cpp")


def test_an_earlier_export_is_replaced(robot: robomorph.Robot, tmp_path: Path) -> None:
    export(robot, tmp_path, functions=["energy"], name="a")
    (tmp_path / "notes.txt").write_text("mine")
    export(robot, tmp_path, functions=["mass_matrix"], name="a")
    headers = {p.name for p in (tmp_path / "include/a").glob("*.hpp")}
    assert headers == {"a.hpp", "configuration.hpp", "mass_matrix.hpp"}
    assert (tmp_path / "notes.txt").exists()


def test_a_manifest_cannot_reach_outside(robot: robomorph.Robot, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.txt", tmp_path / "out"
    outside.write_text("stays")
    folder.mkdir()
    (folder / "robomorph.json").write_text('{"made_by": "robomorph 0", "files": ["../outside.txt"]}')
    export(robot, folder, functions=["energy"])
    assert outside.read_text() == "stays"


def test_a_file_in_the_way(robot: robomorph.Robot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="is a file"):
        export(robot, tmp_path / "file", functions=["energy"])


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (["gravity"], "unknown name 'gravity'"),
        (["energy=heat"], "unknown name 'heat'"),
        (["jacobian"], "name a link"),
        (["jacobian:hand"], "unknown name 'hand'"),
        (["energy", "energy=kinetic"], "energy would be exported twice"),
    ],
)
def test_wrong_functions(robot: robomorph.Robot, functions: list[str], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make_package(robot, functions)


def test_wrong_target_dtype_and_name(robot: robomorph.Robot, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="target: expected one of cpp"):
        export(robot, tmp_path, target="fortran")
    with pytest.raises(ArgumentError, match="dtypes"):
        make_package(robot, ["energy"], dtypes=["float16"])
    for name in ("class", "1st", "a b", "std"):
        with pytest.raises(ArgumentError, match="identifier"):
            make_package(robot, ["energy"], name=name)


def test_identifiers() -> None:
    assert identifier("LBR iiwa-14 R820") == "LBR_iiwa_14_R820"
    assert identifier("3dof") == "r3dof"
    assert identifier("__") == "robot"
    assert FunctionSpec.parse("jacobian:tool/0").name == "jacobian_tool_0"
    assert FunctionSpec.parse("a:b=c+d") == FunctionSpec("a", "b", ("c", "d"))


def test_entries_in_few_words() -> None:
    matrix, vector, number = Port("m", (3, 3)), Port("v", (5,)), Port("e", ())
    assert entry(matrix, 5) == "m[1][2]"
    assert entry(number, 0) == "*e"
    assert ranges(vector, [4, 0, 1]) == "v[0..1], v[4]"
    assert ranges(vector, range(5)) == "v"
    assert ranges(matrix, [1, 4, 7]) == "m[0..2][1]"
    assert ranges(matrix, [0, 4, 5]) == "m[0][0], m[1][1..2]"


def test_a_missing_compiler_is_named() -> None:
    with pytest.raises(TargetError, match="no-such-compiler"):
        find_compiler("no-such-compiler")


ODD = """<robot name='a*/ "b\\ @x@ &#10;#error'><link name='base'/>
<link name='l"@name@ */ /* \\'><inertial><mass value='1'/>
<inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial></link>
<joint name='j"1\\ */ &#10;7é' type='continuous'><parent link='base'/><child link='l"@name@ */ /* \\'/>
<axis xyz='0 1 0'/></joint></robot>"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_names_cannot_leave_comments_and_strings(tmp_path: Path, compiler: str) -> None:
    odd = robomorph.load(ODD)
    functions = ["inverse_dynamics", f"jacobian:{odd.link_names[-1]}"]
    export(odd, tmp_path, functions=functions, name="odd", f_ext=True)
    assert output_of(compile_program(compiler, tmp_path, "test/self_check.cpp")).endswith(
        "all kernels agree\n"
    )
    output_of(compile_program(compiler, tmp_path, "example/main.cpp"))
    (tmp_path / "name.cpp").write_text(
        '#include "odd/odd.hpp"\n#include <cstdio>\nint main() { std::fputs(odd::joint_names[0], stdout); }\n'
    )
    assert output_of(compile_program(compiler, tmp_path, "name.cpp")) == odd.joint_names[0]
    need("gcc")
    output_of(
        "gcc", "-std=c99", *STRICT, f"-I{tmp_path / 'include'}", "-fsyntax-only", tmp_path / "example/main.c"
    )
