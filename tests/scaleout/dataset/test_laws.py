"""Laws: inside the limits, of the distribution that they say, consistent, and refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph.errors import RobomorphError
from robomorph.scaleout.dataset.job import BLOCK, Dataset
from robomorph.scaleout.laws import LAWS, Gaussian, Splines, StatesFile, Uniform, as_law
from robomorph.scaleout.laws.base import STATES, Array, Law
from robomorph.scaleout.laws.splines import PIECES, ROWS_PER_CURVE


def drawn(robot: robomorph.Robot, law: Law, rows: int = BLOCK, seed: int = 5) -> dict[str, Array]:
    law.check(robot, STATES, rows)
    rngs = {name: np.random.default_rng([seed, k]) for k, name in enumerate(STATES)}
    return dict(law.sampler(robot, STATES)(rngs.__getitem__, 0, rows))


# Limits beyond pi, far from zero, on one side only, equal, wider than numbers are.
ODD = """<robot name="odd"><link name="base"/>{links}</robot>"""
LIMITS = [
    "lower='4' upper='5'",
    "lower='-20' upper='20'",
    "lower='1' upper='1'",
    "lower='-1e308' upper='1e308'",
]


def odd_robot() -> robomorph.Robot:
    text = ""
    inertia = "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    for k, limits in enumerate(LIMITS):
        parent = "base" if not k else f"l{k - 1}"
        text += (
            f"<link name='l{k}'><inertial><mass value='1'/>{inertia}</inertial></link>"
            f"<joint name='j{k}' type='revolute'><parent link='{parent}'/><child "
            f"link='l{k}'/><axis xyz='0 1 0'/>"
            f"<limit {limits} effort='3' velocity='2'/></joint>"
        )
    return robomorph.load(ODD.format(links=text))


@pytest.mark.parametrize("law", [Uniform(), Gaussian(), Gaussian(sigma_q=3.0, sigma_qd=9.0), Splines()])
@pytest.mark.parametrize("name", ["iiwa14", "odd"])
def test_no_limit_is_exceeded(law: Law, name: str) -> None:
    robot = odd_robot() if name == "odd" else robomorph.load(name)
    limits, found = robot.limits, drawn(robot, law)
    assert (found["q"] >= limits.lower).all() and (found["q"] <= limits.upper).all()
    assert (np.abs(found["qd"]) <= limits.velocity * (1 + 1e-12)).all()
    if not isinstance(law, Splines):
        assert (np.abs(found["tau"]) <= limits.effort).all()
    if not isinstance(law, Gaussian):
        assert (np.abs(found["qdd"]) <= 10.0 * (1 + 1e-12)).all()


def test_uniform_is_uniform() -> None:
    robot = robomorph.load("iiwa14")
    found, limits = drawn(robot, Uniform(acceleration=4.0), 40_000), robot.limits
    sizes = {"q": limits.upper, "qd": limits.velocity, "qdd": np.full(7, 4.0), "tau": limits.effort}
    for name, size in sizes.items():
        share = np.sort((found[name] / size + 1) / 2, axis=0)
        distance = np.abs(share - (np.arange(40_000)[:, None] + 0.5) / 40_000).max()
        assert distance < 0.012, f"{name}: Kolmogorov's distance {distance}"  # 1 in 10^5 is 0.0124


def test_unlimited_coordinates_are_as_random_states_are() -> None:
    robot = robomorph.load("hyq", floating_base=True)
    found = drawn(robot, Uniform(speed=2.0, force=7.0))
    assert np.abs(np.linalg.norm(found["q"][:, 3:7], axis=1) - 1).max() < 1e-12
    assert (np.abs(found["q"][:, :3]) <= 1.0).all()
    assert 1.9 < np.abs(found["qd"][:, :6]).max() <= 2.0 and 6.9 < np.abs(found["tau"][:, :6]).max() <= 7.0


def test_gaussian_has_its_mean_and_deviation() -> None:
    robot = robomorph.load("hyq", floating_base=True)
    posture = np.array(robot.random_state(1).q)
    law = Gaussian(0.05, 0.2, 3.0, 4.0, posture=tuple(posture), clip=False)
    found = drawn(robot, law, 20_000)
    found["q"] = robot.difference(posture, found["q"])
    for name, sigma in (("q", 0.05), ("qd", 0.2), ("qdd", 3.0), ("tau", 4.0)):
        assert np.abs(found[name].mean(axis=0)).max() < 5 * sigma / np.sqrt(20_000)
        assert np.abs(found[name].std(axis=0) / sigma - 1).max() < 0.03


def test_gaussian_is_clipped_only_if_asked() -> None:
    robot = robomorph.load("iiwa14")
    free = drawn(robot, Gaussian(sigma_q=3.0, clip=False))["q"]
    assert (free > robot.limits.upper).any()
    clipped = drawn(robot, Gaussian(sigma_q=3.0))["q"]
    np.testing.assert_array_equal(clipped, np.clip(free, robot.limits.lower, robot.limits.upper))


def test_splines_are_motions() -> None:
    """qd is the slope of q and qdd that of qd, by differences along each curve; tau moves it so."""
    robot = robomorph.load("iiwa14")
    found = drawn(robot, Splines(), 64 * ROWS_PER_CURVE)
    q, qd, qdd = (found[name].reshape(64, ROWS_PER_CURVE, 7) for name in ("q", "qd", "qdd"))
    # Steps of time are equal along a curve: what fits all joints and rows is the step.
    slope, middle = q[:, 2:] - q[:, :-2], qd[:, 1:-1]
    step = (slope * middle).sum((1, 2), keepdims=True) / (2 * middle**2).sum((1, 2), keepdims=True)
    assert (step > 0).all() and np.ptp(step) > 0.01
    error = np.abs(slope / (2 * step) - middle).max((1, 2))
    assert (error < 0.01 * np.abs(middle).max((1, 2))).all()
    bend = (qd[:, 2:] - qd[:, :-2]) / (2 * step)
    inside = np.ones(ROWS_PER_CURVE - 2, bool)
    inside[ROWS_PER_CURVE // PIECES - 1 :: ROWS_PER_CURVE // PIECES] = False  # qdd has a corner at a knot
    np.testing.assert_allclose(
        bend[:, inside], qdd[:, 1:-1][:, inside], rtol=0.02, atol=0.02 * np.abs(qdd).max()
    )
    moved = robot.forward_dynamics(found["q"], found["qd"], found["tau"])
    np.testing.assert_allclose(moved, found["qdd"], atol=1e-8)


def test_splines_refuse_orientations_by_name() -> None:
    robot = robomorph.load("hyq", floating_base=True)
    with pytest.raises(RobomorphError, match=r"splines: hyq.*'root_joint'.*uniform or gaussian"):
        Dataset(robot, "energy", 10, law="splines")


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_a_files_rows_arrive_in_order(suffix: str, tmp_path: Path) -> None:
    robot, rng = robomorph.load("chain:3"), np.random.default_rng(0)
    arrays = {name: rng.normal(size=(BLOCK + 50, 3)) for name in ("q", "qd")}
    path = tmp_path / f"states{suffix}"
    if suffix == ".npz":
        np.savez(path, q=arrays["q"], qd=arrays["qd"], other=np.zeros(3))
    elif suffix == ".csv":
        header = ",".join(f"{name}[{k}]" for k in range(3) for name in arrays)
        mixed = np.stack([arrays["q"], arrays["qd"]], axis=2).reshape(-1, 6)
        np.savetxt(path, mixed, delimiter=",", header=header, comments="", fmt="%.17g")
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.table({name: list(x) for name, x in arrays.items()}), path)
    job = Dataset(robot, "energy", BLOCK + 40, law=f"file:{path}", format="zarr", rows_per_shard=BLOCK + 10)
    found = []
    for shard in job.shards():
        job.write(shard, tmp_path / "shard")
        found.append(job._format.read(tmp_path / "shard"))
    for name, array in arrays.items():
        np.testing.assert_array_equal(np.concatenate([x[name] for x in found]), array[: BLOCK + 40])


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, q=np.zeros((4, 2)), qd=np.zeros((4, 2)))
    job = Dataset(robomorph.load("chain:2"), "energy", 4, law=f"file:{path}", format="zarr")
    np.savez(path, q=np.ones((4, 2)), qd=np.zeros((4, 2)))
    from robomorph.scaleout.laws import states_file

    states_file._arrays.cache_clear()  # as in a worker
    with pytest.raises(RobomorphError, match="expected the file that the job was made with"):
        job.write(job.shards()[0], tmp_path / "shard")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"q": np.full((4, 2), np.nan), "qd": np.zeros((4, 2))}, r"s.npz: q: expected finite numbers"),
        ({"q": np.zeros((4, 3)), "qd": np.zeros((4, 2))}, r"q: expected \(rows, 2\), found \(4, 3\)"),
        ({"q": np.zeros(4), "qd": np.zeros((4, 2))}, r"q: expected \(rows, 2\), found \(4,\)"),
        ({"q": np.zeros((3, 2)), "qd": np.zeros((3, 2))}, r"expected at least 4 rows .* found 3"),
        ({"q": np.zeros((4, 2)), "qd": np.zeros((5, 2))}, r"expected equally many rows"),
        ({"q": np.zeros((4, 2))}, r"expected q, qd, found q"),
        ({"x": np.zeros((4, 2))}, r"expected arrays called q, qd"),
        ({"q": np.zeros((0, 2)), "qd": np.zeros((0, 2))}, r"at least one"),
    ],
)
def test_bad_files_are_refused(arrays: dict[str, Array], message: str, tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    with pytest.raises(RobomorphError, match=message):
        Dataset(robomorph.load("chain:2"), "energy", 4, law=StatesFile(str(path)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unifrm", "did you mean 'uniform'"),
        ("uniform:sped=1", "did you mean 'speed'"),
        ("uniform:speed", "expected SETTING=VALUE"),
        ("uniform:speed=0", "speed: expected a positive"),
        ("uniform:speed=nan", "speed: expected a positive"),
        ("uniform:speed=true", "speed: expected a positive"),
        ("uniform:speed=1 2", "speed: expected a positive"),
        ("uniform:speed=1,speed=2", "once"),
        ("uniform:", "expected SETTING=VALUE"),
        ("gaussian:posture=1", "posture: expected 2 numbers"),
        ("gaussian:posture=1 nan", "finite"),
        ("gaussian:clip=1", "true or false"),
        ("splines:slowest=0.5", "at least 1"),
        ("file:", "file:PATH"),
        ("file:states.txt", "states.txt"),
    ],
)
def test_wrong_laws_are_named(text: str, message: str) -> None:
    with pytest.raises(RobomorphError, match=message):
        Dataset(robomorph.load("chain:2"), "energy", 4, law=text)


def test_laws_are_read_from_texts() -> None:
    assert as_law("gaussian:sigma_q=0.1, posture=0 -1,clip=false") == Gaussian(
        0.1, posture=(0, -1), clip=False
    )
    assert [as_law(name) for name in LAWS if name != "file"] == [Uniform(), Gaussian(), Splines()]
