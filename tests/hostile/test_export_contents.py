"""Exported `integrate` and `difference`, and options about the robot, against Pinocchio."""

from __future__ import annotations

import ctypes
import json
import math
from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.errors import ModelWarning
from robomorph.export import FunctionSpec, build_shared, export
from tests.export.tools import COMPILERS, STRICT, compile_program, need, output_of
from tests.hostile.test_exports import chain

ANGLES = [
    0.0,
    5e-324,
    1e-300,
    1e-160,
    1e-12,
    1e-9,
    1e-8,
    1e-6,
    1e-5,
    9.9e-5,
    1.1e-4,
    1e-3,
    0.04,
    0.06,
    0.49,
    0.51,
]
ANGLES += [1.0, 3.0, math.pi - 1e-3, math.pi - 1e-6, math.pi - 1e-9]


def steps(rng: np.random.Generator, nv: int, turns: list[slice]) -> np.ndarray:
    """Tangent steps (n, nv): the turns of every size, in random directions and along axes."""
    rows = []
    for angle in ANGLES:
        for k in range(4):
            row = rng.uniform(-1.0, 1.0, nv)
            for place in turns:
                n = place.stop - place.start
                axis = np.eye(n)[k % n] if k < 2 else rng.normal(size=n)
                row[place] = angle * axis / np.linalg.norm(axis)
            rows.append(row)
    return np.array(rows)


def planar(q: np.ndarray) -> np.ndarray:
    x, y, c, s = q
    return np.array([[c, -s, x], [s, c, y], [0, 0, 1]], np.longdouble)


def exponential(dq: np.ndarray) -> np.ndarray:
    """Of a planar twist, by its power series, in long double."""
    x, y, a = dq
    twist = np.array([[0, -a, x], [a, 0, y], [0, 0, 0]], np.longdouble)
    term: np.ndarray = np.eye(3, dtype=np.longdouble)
    total = term
    for k in range(1, 60):
        term = term @ twist / k
        total = total + term
    return total


@pytest.mark.parametrize("compiler", COMPILERS)
def test_integrate_and_difference_against_pinocchio(compiler: str, tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    need(compiler)
    limit = "<limit lower='-1' upper='1' velocity='1' effort='1'/>"
    text = chain(["a", "b", "c", "d"], ["revolute", "prismatic", "planar", "floating"], limit)
    robot = robomorph.load(text)
    model = pin.buildModelFromXML(text)
    assert (model.nq, model.nv) == (robot.nq, robot.nv) == (13, 11)
    library = build_shared(
        robot, ["mass_matrix"], directory=tmp_path, compiler=compiler, flags=("-O2", *STRICT)
    )
    rng = np.random.default_rng(3)
    dq = steps(rng, 11, [slice(4, 5), slice(8, 11)])
    q = robot.random_state(rng, len(dq)).q
    q1 = library["integrate"].batch(q, dq)["result"]
    np.testing.assert_array_equal(q1[7], library["integrate"](q[7], dq[7])["result"])
    expected = np.array([pin.integrate(model, a, b) for a, b in zip(q, dq, strict=True)])
    planar_is_good = np.abs(dq[:, 4]) > 1e-3  # below, Pinocchio's own planar joint loses digits
    np.testing.assert_allclose(q1[planar_is_good], expected[planar_is_good], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.delete(q1, slice(2, 6), 1), np.delete(expected, slice(2, 6), 1), atol=1e-12)
    for a, b, c in zip(q, dq, q1, strict=True):
        np.testing.assert_allclose(planar(c[2:6]), planar(a[2:6]) @ exponential(b[2:5]), atol=1e-12)
    np.testing.assert_allclose(q1, robot.integrate(q, dq), rtol=0, atol=1e-12)
    back = library["difference"].batch(q, q1)["dq"]
    np.testing.assert_allclose(back, dq, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back, robot.difference(q, q1), rtol=0, atol=1e-12)
    theirs = np.array([pin.difference(model, a, b) for a, b in zip(q, q1, strict=True)])
    planar_is_good &= np.abs(dq[:, 4]) < 3.1
    np.testing.assert_allclose(back[planar_is_good], theirs[planar_is_good], rtol=0, atol=1e-12)
    np.testing.assert_allclose(library["integrate", "float32"].batch(q, dq)["result"], q1, atol=1e-5)
    # A quaternion and its negative are one turn.
    q1[:, 9:] *= -1
    np.testing.assert_allclose(library["difference"].batch(q, q1)["dq"], dq, rtol=0, atol=1e-12)


def test_a_ball_joint_against_pinocchio(tmp_path: Path) -> None:
    """The code for it is there, whatever robot was exported."""
    pin = pytest.importorskip("pinocchio")
    export(robomorph.load("chain:2"), tmp_path, functions=["energy"], name="two")
    (tmp_path / "ball.cpp").write_text(
        '#include "two/support/manifold.hpp"\nextern "C" {\n'
        "void into(const double *a, const double *b, double *r) { robomorph::Ball::integrate(a, b, r); }\n"
        "void back(const double *a, const double *b, double *r) { robomorph::Ball::difference(a, b, r); }\n"
        "}\n"
    )
    path = tmp_path / "ball.so"
    output_of(
        need("g++"), "-std=c++17", "-O2", *STRICT, "-shared", "-fPIC", f"-I{tmp_path / 'include'}",
        tmp_path / "ball.cpp", "-o", path,
    )  # fmt: skip
    library, group = ctypes.CDLL(str(path)), pin.liegroups.SO3()
    rng = np.random.default_rng(4)

    def call(name: str, a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
        result = np.empty(n)
        getattr(library, name)(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, result)))
        return result

    for dq in steps(rng, 3, [slice(0, 3)]):
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        q1 = call("into", q, dq, 4)
        expected = group.integrate(q, dq)
        np.testing.assert_allclose(q1, expected * np.sign(expected @ q1), atol=1e-12)
        np.testing.assert_allclose(call("back", q, q1, 3), dq, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("angle", [1e-300, 1e-20, 1e-10, 1e-7, 1e-5, 1e-3])
def test_tiny_steps_keep_their_digits(angle: float, tmp_path: Path) -> None:
    """Relative to their own size, from the origin."""
    robot = robomorph.load("hyq", floating_base=True)
    library = build_shared(robot, ["energy"], directory=tmp_path)
    dq = np.array([0.3, -0.2, 0.5, 0.6, -0.64, 0.48, *np.linspace(0.1, 1.0, 12)]) * angle
    q = robot.neutral
    back = library["difference"](q, library["integrate"](q, dq)["result"])["dq"]
    np.testing.assert_allclose(back, dq, rtol=1e-12)


@pytest.mark.parametrize("kind", ["spherical", "ball"])
def test_every_name_of_a_joint_is_moved(kind: str, tmp_path: Path) -> None:
    """By its manifold, not by the name that the file happens to use."""
    with pytest.warns(ModelWarning, match="no word of URDF|limit"):
        robot = robomorph.load(chain(["a", "b"], ["revolute", kind]))
    library = build_shared(robot, ["energy"], directory=tmp_path)
    q, dq = robot.random_state(3).q, np.array([0.3, 0.6, -0.64, 0.48])
    reached = library["integrate"](q, dq)["result"]
    pin = pytest.importorskip("pinocchio")
    liegroup = pin.JointModelComposite(pin.JointModelRZ())
    liegroup.addJoint(pin.JointModelSpherical())
    model = pin.Model()
    model.addJoint(0, liegroup, pin.SE3.Identity(), "both")
    np.testing.assert_allclose(reached, pin.integrate(model, q, dq), rtol=0, atol=1e-15)
    np.testing.assert_allclose(library["difference"](q, reached)["dq"], dq, rtol=0, atol=1e-14)


def test_a_joint_of_several_coordinates_that_add_is_moved() -> None:
    """None is shipped, but a class may have one: a call for each."""
    from robomorph.targets.cpp.manifold import cpp_calls
    from robomorph.targets.cpp.package import JointPlace

    into, _ = cpp_calls([JointPlace("a", "double", "Flat", 4, 3, 2)])
    assert into.splitlines() == [
        f"  robomorph::Line::integrate(q + {4 + k}, dq + {3 + k}, result + {4 + k});" for k in range(2)
    ]


def test_a_kind_of_joint_without_cpp_code_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after docs/add-a-joint.md: the kernels are exported, the steps are not, and everything says so."""
    from robomorph.model.joints import Prismatic

    monkeypatch.setattr(Prismatic, "known_manifold", None)
    with pytest.warns(ModelWarning):
        robot = robomorph.load(chain(["a", "slide"], ["revolute", "prismatic"]))
    with pytest.warns(ModelWarning, match=r"left out integrate, difference: .*'slide' \(prismatic\)"):
        package = export(robot, tmp_path, functions=["energy"], name="two")
    assert set(package.left_out) == {"integrate", "difference"}
    assert "Not exported: `integrate`" in (tmp_path / "README.md").read_text()
    assert "integrate" not in (tmp_path / "include/two/c_abi.h").read_text()
    output_of(compile_program("g++", tmp_path, "test/self_check.cpp"))
    compile_program("g++", tmp_path, "src/c_abi.cpp", "-shared", "-fPIC")


def test_gravity_payload_and_tool_frame_are_in_the_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pin = pytest.importorskip("pinocchio")
    words = "--payload tool 2 0 0 0.1 --tool-frame tcp tool -1e-1 0 0.2 0 0.5 0 --gravity -1 0 -9.81"
    lines = ["export", "chain:2", *words.split(), "--dtype", "float64", "-o", str(tmp_path), "--name", "two"]
    assert main([*lines, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["functions"]
    assert {"jacobian_tcp", "forward_kinematics_tcp", "inverse_dynamics"} <= set(shown)
    from robomorph.model.robots import builtin_urdf

    source = builtin_urdf("chain:2")
    assert source is not None
    model = pin.buildModelFromXML(source.decode())
    model.gravity.linear = np.array([-1, 0, -9.81])
    frame = model.frames[model.getFrameId("tool")]
    load = pin.Inertia(2.0, np.array([0, 0, 0.1]), np.zeros((3, 3)))
    model.inertias[frame.parentJoint] += frame.placement.act(load)
    robot_q = np.array([0.3, -0.4])
    q = np.array([np.cos(0.3), np.sin(0.3), np.cos(-0.4), np.sin(-0.4)])
    data = model.createData()
    expected = pin.rnea(model, data, q, np.ones(2), np.ones(2))
    pin.framesForwardKinematics(model, data, q)
    tool = pin.SE3(pin.rpy.rpyToMatrix(0, 0.5, 0), np.array([-0.1, 0, 0.2]))
    pose = (data.oMf[model.getFrameId("tool")] * tool).homogeneous
    (tmp_path / "use.cpp").write_text(
        '#include "two/two.hpp"\n#include <cstdio>\nint main() {\n'
        f"  const double q[2] = {{{robot_q[0]}, {robot_q[1]}}}, one[2] = {{1, 1}};\n"
        "  double tau[2], pose[4][4];\n  two::inverse_dynamics(q, one, one, tau);\n"
        "  two::forward_kinematics_tcp(q, pose);\n"
        '  std::printf("%.17g %.17g", tau[0], tau[1]);\n'
        '  for (auto& row : pose) for (double x : row) std::printf(" %.17g", x);\n}\n'
    )
    found = [float(x) for x in output_of(compile_program("g++", tmp_path, "use.cpp")).split()]
    np.testing.assert_allclose(found, [*expected, *pose.ravel()], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("frame", ["手", "??/\\", "1", "rate", "class", "_"])
def test_frames_of_any_name_compile(frame: str, tmp_path: Path) -> None:
    """Also where nothing of the name can stand in an identifier: no function is called as its result is."""
    robot = robomorph.load("chain:2", tool_frames={frame: ("tool", [0.1, 0.0, 0.2])})
    specs = [FunctionSpec(name, frame) for name in ("jacobian", "jacobian_rate")]
    library = build_shared(robot, specs, directory=tmp_path)
    q, qd = np.array([0.3, -0.4]), np.array([0.5, 0.6])
    (jacobian,) = library[specs[0].name](q).values()
    (rate,) = library[specs[1].name](q, qd).values()
    np.testing.assert_allclose(jacobian, robot.jacobian(q, frame), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rate, robot.jacobian_rate(q, qd, frame), rtol=0, atol=1e-15)
