"""What a data set says is what Pinocchio says, and every row is the same however many there are."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError
from robomorph.model.robots import builtin_urdf
from robomorph.scaleout.dataset.job import BLOCK, Dataset
from robomorph.scaleout.formats import FORMATS, format_called
from robomorph.scaleout.formats.base import Array
from robomorph.scaleout.job import Job
from tests.oracle.compare import assert_close
from tests.oracle.reference import Reference, build

pytest.importorskip("pyarrow", reason="the extra dataset is not installed")
ROBOTS = {"iiwa14": False, "hyq": True}
FRAMES = {"iiwa14": "lbr_iiwa_link_7", "hyq": "lf_lowerleg"}


def written(job: Dataset, folder: Path, index: int = 0) -> dict[str, Array]:
    """The arrays of one shard, through a file."""
    path = folder / f"{index}{job.suffix}"
    facts = job.write(job.shards()[index], path)
    assert facts["rows"] == job.shards()[index].rows
    assert set(facts["seconds"]) == {"sampling", "kernel", "writing"}
    return format_called(job.format).read(path)


def reference(name: str) -> Reference:
    robot = robomorph.load(name, floating_base=ROBOTS[name])
    text = builtin_urdf(name)
    assert text is not None
    return Reference(robot, build(text.decode(), floating=ROBOTS[name]))


@pytest.mark.parametrize("name", ROBOTS)
def test_values_are_pinocchios(name: str, tmp_path: Path) -> None:
    frame, pin = FRAMES[name], reference(name)
    functions = ["inverse_dynamics", "forward_dynamics_gradient", f"jacobian:{frame}"]
    data = written(Dataset(pin.robot, functions, 40, seed=3), tmp_path)
    for row in range(0, 40, 8):
        q, qd, qdd, tau = (data[key][row] for key in ("q", "qd", "qdd", "tau"))
        assert_close(data["inverse_dynamics"][row], pin.inverse_dynamics(q, qd, qdd), "inverse dynamics")
        wanted = pin.forward_dynamics(q, qd, tau)
        assert_close(data["forward_dynamics_gradient_qdd"][row], wanted, "forward dynamics")
        gradient = pin.forward_dynamics_gradient(q, qd, tau)
        assert_close(data["forward_dynamics_gradient_dqdd_dq"][row], gradient.dq, "by q")
        assert_close(data["forward_dynamics_gradient_dqdd_dqd"][row], gradient.dqd, "by qd")
        assert_close(data[f"jacobian_{frame}"][row], pin.jacobian(q, frame), "Jacobian")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("law", ["uniform", "gaussian", "splines"])
def test_a_shard_that_is_not_full_has_the_first_rows_of_the_full_one(
    law: str, format: str, tmp_path: Path
) -> None:
    """Ends in the middle of a block, and of a spline."""
    robot, rows = robomorph.load("chain:3"), BLOCK + 101
    whole = Dataset(robot, ["forward_dynamics"], 3 * rows, law=law, rows_per_shard=rows, format=format)
    for states in (rows + 7, rows + BLOCK + 5):
        part = Dataset(robot, ["forward_dynamics"], states, law=law, rows_per_shard=rows, format=format)
        assert part.describe() == whole.describe()
        a, b = written(part, tmp_path, 1), written(whole, tmp_path, 1)
        for key, values in a.items():
            assert len(values) == states - rows
            np.testing.assert_array_equal(values, b[key][: len(values)])


def test_shards_and_seeds_differ(tmp_path: Path) -> None:
    robot = robomorph.load("chain:3")
    made = [
        written(Dataset(robot, "mass_matrix", 64, rows_per_shard=32, seed=seed), tmp_path, index)["q"]
        for seed in (0, 1)
        for index in (0, 1)
    ]
    for k, a in enumerate(made):
        for b in made[:k]:
            assert not np.isin(a, b).any()


def test_another_function_leaves_the_states_as_they_are(tmp_path: Path) -> None:
    robot = robomorph.load("chain:3")
    one = written(Dataset(robot, "mass_matrix", 50), tmp_path)
    two = written(Dataset(robot, ["forward_dynamics", "mass_matrix"], 50), tmp_path)
    for key in ("q", "mass_matrix"):
        np.testing.assert_array_equal(one[key], two[key])


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_bytes_again_and_from_a_copy(format: str, tmp_path: Path) -> None:
    robot = robomorph.load("iiwa14")
    job: Job = Dataset(robot, ["inverse_dynamics", "energy"], BLOCK + 9, format=format)
    copy = pickle.loads(pickle.dumps(job))
    assert len(pickle.dumps(job)) < 100_000
    for k, each in enumerate((job, job, copy)):
        each.write(each.shards()[0], tmp_path / str(k))
    first = (tmp_path / "0").read_bytes()
    assert [(tmp_path / name).read_bytes() == first for name in ("1", "2")] == [True, True]


def test_float32_is_computed_from_what_is_written(tmp_path: Path) -> None:
    robot = robomorph.load("iiwa14")
    data = written(Dataset(robot, "inverse_dynamics", 30, dtype="float32"), tmp_path)
    assert {x.dtype for x in data.values()} == {np.dtype("float32")}
    exact = robot.inverse_dynamics(*(data[key].astype(np.float64) for key in ("q", "qd", "qdd")))
    assert np.abs(data["inverse_dynamics"] - exact).max() < 1e-3 * np.abs(exact).max()


def test_a_result_that_is_no_number_names_its_row(tmp_path: Path) -> None:
    states = {"q": np.zeros((5, 3)), "qd": np.zeros((5, 3)), "qdd": np.zeros((5, 3))}
    states["qdd"][3] = 1e308
    np.savez(tmp_path / "states.npz", q=states["q"], qd=states["qd"], qdd=states["qdd"])
    job = Dataset(robomorph.load("chain:3"), "inverse_dynamics", 5, law=f"file:{tmp_path / 'states.npz'}")
    with pytest.raises(ArgumentError, match=r"inverse_dynamics: row 3: expected finite results"):
        job.write(job.shards()[0], tmp_path / "shard")


def test_several_functions_about_frames() -> None:
    job = Dataset(robomorph.load("chain:2"), ["jacobian:tool", "jacobian:link_1", "energy=kinetic"], 10)
    names = [column.name for column in job.columns]
    assert names == ["q", "qd", "jacobian_tool", "jacobian_link_1", "energy_kinetic"]


def test_shards_cover_all_rows_and_more_rows_keep_them() -> None:
    robot = robomorph.load("chain:2")
    few, many = (Dataset(robot, "energy", n, rows_per_shard=10).shards() for n in (35, 1000))
    assert [(s.index, s.start, s.rows) for s in few] == [(0, 0, 10), (1, 10, 10), (2, 20, 10), (3, 30, 5)]
    assert many[:3] == few[:3] and sum(s.rows for s in many) == 1000


def test_default_shards_have_some_tens_of_megabytes() -> None:
    for name, functions in (("iiwa14", "inverse_dynamics"), ("hyq", "forward_dynamics_gradient")):
        job = Dataset(robomorph.load(name, floating_base=name == "hyq"), functions, 10)
        row = 8 * sum(int(np.prod(column.shape)) for column in job.columns)
        assert 8e6 < row * job.rows_per_shard < 60e6
