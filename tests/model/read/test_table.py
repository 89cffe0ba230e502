"""The table of formats: what a source is taken for."""

from __future__ import annotations

from pathlib import Path

import pytest

import robomorph
from robomorph.errors import ArgumentError, ModelError
from robomorph.model.document import Document
from robomorph.model.read import FORMATS, format_of, object_format
from robomorph.model.sources import read_source, urdf_text


def test_every_row_has_a_reader_and_a_way_to_be_known() -> None:
    for name, one in FORMATS.items():
        assert one.name == name
        assert (one.read is None) != (one.rewrite is None)
        assert one.tags or one.suffixes or one.takes is not FORMATS["URDF"].takes


@pytest.mark.parametrize(
    ("data", "path", "name"),
    [
        (b"<robot/>", None, "URDF"),
        (b"<mujoco/>", None, "MJCF"),
        (b'\xef\xbb\xbf\n<!-- <robot> -->\n<?xml version="1.0"?><mujoco>', None, "MJCF"),
        (b"<mujoco><robot/></mujoco>", "/a/robot.urdf", "MJCF"),
        (b"<robot/>", "/a/robot.xml", "URDF"),
        (b"<robot/>", "/a/Robot.URDF.XACRO", "xacro"),
        (b"<sdf/>", "/a/robot.sdf", "URDF"),
        (b"nothing", None, "URDF"),
        (b"", None, "URDF"),
        (b'<?xml version="1.0" encoding="klingon"?><mujoco/>', None, "URDF"),
        (b"<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco/>", None, "MJCF"),
    ],
)
def test_what_files_and_text_are(data: bytes, path: str | None, name: str) -> None:
    assert format_of(Document(data, "x", path=path)) == name


def test_objects_that_are_none() -> None:
    for given in (3, None, [], object(), {"mujoco": 1}, Path):
        assert object_format(given) is None
        if given is not Path:
            with pytest.raises(ModelError, match="expected a built-in name, a path"):
                read_source(given)


def test_others_get_urdf_alone(tmp_path: Path) -> None:
    assert urdf_text("iiwa14").startswith("<")
    path = tmp_path / "robot.xml"
    path.write_text("<mujoco/>")
    with pytest.raises(ModelError, match=r"robot\.xml: expected a URDF robot.*found MJCF"):
        urdf_text(str(path))


def test_plans_of_mjcf_robots_are_not_written_down() -> None:
    from robomorph.planning.certificate.document import robot_data

    body = "<body><joint/><geom size='1'/></body>"
    robot = robomorph.load(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(ArgumentError, match="expected a robot of URDF"):
        robot_data(robot)
