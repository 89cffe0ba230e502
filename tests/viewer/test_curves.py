"""Plots of motions: what stands together, limits, and numbers that are worked out rather than given."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.viewer.curves import MOST_LINES, limbs, plots, speeds_of, torques_of
from robomorph.viewer.motions import MOST_SAMPLES, kept, motion_document
from robomorph.viewer.shown import make_shown
from robomorph.viewer.trajectory import Trajectory
from tests.viewer.robots import bent, loaded, pose_by_pinocchio, reference


def swing(name: str, count: int = 201, speeds: bool = True) -> tuple[Trajectory, Any, Any]:
    """A smooth motion of all joints over 1 s, with its true speeds and accelerations."""
    robot = loaded(name)
    times = np.linspace(0.0, 1.0, count)
    along = np.zeros(robot.nv)
    along[robot.nv - 7 :] = np.linspace(0.02, 0.08, 7)
    wave, rate, bend = (
        f[:, None] * along for f in (np.sin(3 * times), 3 * np.cos(3 * times), -9 * np.sin(3 * times))
    )
    q = robot.integrate(np.tile(bent(name), (count, 1)), wave)
    return Trajectory(times, q, rate if speeds else None), rate, bend


def all_plots(name: str, motion: Trajectory) -> list[dict[str, Any]]:
    return plots(loaded(name), motion, np.arange(len(motion.times)))


def test_arms_have_three_plots_against_their_limits() -> None:
    robot, (motion, _, _) = loaded("iiwa14"), swing("iiwa14")
    angles, speeds, torques = all_plots("iiwa14", motion)
    assert (angles["title"], angles["unit"]) == ("joint angles", "rad")
    assert (speeds["title"], speeds["unit"]) == ("joint speeds", "rad/s")
    assert torques["unit"] == "N m" and "by inverse dynamics" in torques["title"]
    assert [line["name"] for line in angles["lines"]] == list(robot.coordinate_names)
    for k in range(7):
        np.testing.assert_allclose(angles["lines"][k]["values"], motion.q[:, k], atol=1e-5)
        assert angles["lines"][k]["lower"] == robot.limits.lower[k]
        assert speeds["lines"][k]["upper"] == robot.limits.velocity[k] == -speeds["lines"][k]["lower"]
        assert torques["lines"][k]["upper"] == robot.limits.effort[k]


def test_limits_that_are_not_there_are_none() -> None:
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = (
        f'<robot name="slide"><link name="a"/><link name="b">{mass}</link><link name="c">{mass}</link>'
        '<joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>'
        '<limit lower="0" upper="2" effort="5" velocity="1"/></joint></robot>'
    )
    robot = robomorph.load(text)
    motion = Trajectory([0.0, 1.0, 2.0], np.zeros((3, 2)), np.zeros((3, 2)))
    found = plots(robot, motion, np.arange(3))
    assert [(p["title"].split(" (")[0], p["unit"]) for p in found] == [
        ("joint angles, turn", "rad"),
        ("joint positions, slide", "m"),
        ("joint speeds, turn", "rad/s"),
        ("joint speeds, slide", "m/s"),
        ("joint torques, turn", "N m"),
        ("joint forces, slide", "N"),
    ]
    assert found[0]["lines"][0]["lower"] is None and found[1]["lines"][0]["upper"] == 2.0


@pytest.mark.parametrize("name", ["hyq", "atlas"])
def test_many_joints_are_grouped_by_limb(name: str) -> None:
    robot, (motion, _, _) = loaded(name), swing(name, 5)
    found = all_plots(name, motion)
    assert all(1 <= len(plot["lines"]) <= MOST_LINES for plot in found)
    for unit, names in (("rad", robot.coordinate_names[7:]), ("rad/s", robot.velocity_names[3:])):
        lines = [line["name"] for plot in found if plot["unit"] == unit for line in plot["lines"]]
        assert sorted(lines) == sorted(names)
    first = limbs(robot.model)
    limb = {body.joint_name: first[i] for i, body in enumerate(robot.model.bodies)}
    for plot in (plot for plot in found if plot["unit"] == "rad"):
        groups = [limb[line["name"]] for line in plot["lines"]]
        assert groups == sorted(groups)  # limbs are not mixed
    assert [plot["title"] for plot in found][:2] == [
        "joint positions, root_joint[0] to root_joint[2]",
        "orientation, root_joint[3] to root_joint[6]",
    ]


@pytest.mark.parametrize("name", ["iiwa14", "hyq"])
def test_speeds_by_differences_are_those_of_the_motion(name: str) -> None:
    motion, rate, _ = swing(name, speeds=False)
    speeds, how = speeds_of(loaded(name), motion)
    assert speeds is not None and how == "by differences"
    np.testing.assert_allclose(speeds[1:-1], rate[1:-1], atol=5e-5)
    np.testing.assert_allclose(speeds, rate, atol=5e-3)
    given, how = speeds_of(loaded(name), swing(name)[0])
    assert given is not None and how == ""
    np.testing.assert_array_equal(given, rate)


def test_torques_are_those_of_the_motion_by_pinocchio() -> None:
    motion, rate, bend = swing("iiwa14")
    torques, how = torques_of(loaded("iiwa14"), motion)
    assert torques is not None and "accelerations by differences" in how
    theirs = [
        reference("iiwa14").inverse_dynamics(q, qd, qdd)
        for q, qd, qdd in zip(motion.q, rate, bend, strict=True)
    ]
    np.testing.assert_allclose(torques[1:-1], theirs[1:-1], atol=1e-2)
    assert torques_of(loaded("iiwa14"), swing("iiwa14", speeds=False)[0]) == (None, "")
    given = Trajectory(motion.times, motion.q, tau=np.ones_like(motion.q))
    assert torques_of(loaded("iiwa14"), given)[0] is given.tau


def test_a_single_sample_has_angles_alone() -> None:
    (plot,) = all_plots("iiwa14", Trajectory([0.0], bent("iiwa14")[None]))
    assert plot["title"] == "joint angles" and len(plot["lines"][0]["values"]) == 1


def test_a_motion_has_poses_at_its_times() -> None:
    motion, _, _ = swing("iiwa14", 11)
    document = motion_document(make_shown(loaded("iiwa14")), motion, 2)
    links = loaded("iiwa14").link_names
    poses = np.frombuffer(base64.b64decode(document["poses"]), "<f4").reshape(11, len(links), 7)
    for k in (0, 5, 10):
        for i, link in enumerate(links):
            theirs = pose_by_pinocchio("iiwa14", motion.q[k], link)
            np.testing.assert_allclose(poses[k, i, :3], theirs[:3, 3], atol=1e-6)
    assert document["times"] == motion.times.tolist() and document["robot"] == 2
    centre = next(mark for mark in document["marks"][5] if mark["layer"] == "com")
    np.testing.assert_allclose(centre["position"], reference("iiwa14").center_of_mass(motion.q[5]), atol=1e-6)


def test_long_motions_are_thinned_out_and_say_so() -> None:
    count = 5 * MOST_SAMPLES
    motion = Trajectory(0.001 * np.arange(count), np.tile(bent("iiwa14"), (count, 1)))
    document = motion_document(make_shown(loaded("iiwa14")), motion)
    assert len(document["times"]) == MOST_SAMPLES and document["times"][-1] == motion.times[-1]
    assert all(f"{MOST_SAMPLES} of {count} samples" in plot["title"] for plot in document["plots"])
    np.testing.assert_array_equal(kept(10, 4), [0, 3, 6, 9])
