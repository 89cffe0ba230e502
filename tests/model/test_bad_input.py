"""One test per kind of bad input: each must raise ModelError that names file, line and element."""

from __future__ import annotations

from pathlib import Path

import pytest

from robomorph.errors import ModelError, ModelWarning
from robomorph.model import load_model

from .samples import SOUND_INERTIAL, arm, joint, link, robot


def replaced(old: str, new: str) -> str:
    """The sound arm with one replacement."""
    text = robot(*arm())
    assert old in text
    return text.replace(old, new, 1)


def inertial(mass: str = "1", tensor: str = 'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"') -> str:
    return f'<inertial><mass value="{mass}"/><inertia {tensor}/></inertial>'


def followed(index: int) -> str:
    source = f"l{index - 1}_joint" if index else "elbow"
    return f'<mimic joint="{source}" multiplier="1e30"/>'


CASES: dict[str, tuple[str, list[str]]] = {
    "missing parent": (
        replaced('<parent link="base"/>', ""),
        ["line 5", '<joint name="shoulder">', "<parent"],
    ),
    "missing child": (replaced('<child link="upper"/>', ""), ["line 5", '<joint name="shoulder">', "<child"]),
    "parent without link": (
        replaced('<parent link="base"/>', "<parent/>"),
        ["line 5", "<parent> of", "'link'"],
    ),
    "unknown parent": (
        replaced('<parent link="base"/>', '<parent link="basis"/>'),
        ["line 5", '<joint name="shoulder">', "'basis'", "did you mean 'base'"],
    ),
    "unknown child": (
        replaced('<child link="lower"/>', '<child link="l"/>'),
        ["line 6", "elbow", "child link"],
    ),
    "loop to itself": (replaced('<child link="upper"/>', '<child link="base"/>'), ["line 5", "loop"]),
    "loop": (
        robot(*arm(), joint("back", "lower", "base")),
        ["<joint name=", "a loop of links", "base", "upper", "lower"],
    ),
    "loop beside the tree": (
        robot(*arm(), link("x"), link("y"), joint("xy", "x", "y"), joint("yx", "y", "x")),
        ["a loop of links", "line", "xy"],
    ),
    "two parents": (
        robot(*arm(), joint("second", "base", "lower")),
        ["line 7", '<joint name="second">', "'elbow' (line 6)", "closes a loop"],
    ),
    "several roots": (
        robot(*arm(), link("stray")),
        ["line 7", "stray", "one root link", "2: 'base', 'stray'"],
    ),
    "duplicate link": (robot(*arm(), link("upper")), ["line 7", '<link name="upper">', "first is on line 3"]),
    "duplicate joint": (
        robot(*arm(), link("tip"), joint("elbow", "lower", "tip")),
        ["line 8", '<joint name="elbow">', "first is on line 6"],
    ),
    "zero axis": (
        replaced('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>'),
        ["line 6", "<axis> of", "not zero"],
    ),
    "NaN axis": (replaced('<axis xyz="0 1 0"/>', '<axis xyz="nan 0 0"/>'), ["line 6", "<axis> of", '"nan"']),
    "infinite axis": (replaced('<axis xyz="0 1 0"/>', '<axis xyz="1e999 0 0"/>'), ["line 6", '"1e999"']),
    "short axis": (
        replaced('<axis xyz="0 1 0"/>', '<axis xyz="0 1"/>'),
        ["line 6", "three numbers", "found 2"],
    ),
    "empty axis": (replaced('<axis xyz="0 1 0"/>', "<axis/>"), ["line 6", "<axis> of", "'xyz'"]),
    "negative mass": (replaced('<mass value="2"/>', '<mass value="-2"/>'), ["line 2", "<mass> of", "-2 kg"]),
    "mass is text": (replaced('<mass value="2"/>', '<mass value="heavy"/>'), ["line 2", "<mass>", '"heavy"']),
    "mass without value": (replaced('<mass value="2"/>', "<mass/>"), ["line 2", "<mass>", "'value'"]),
    "inertial without mass": (replaced('<mass value="2"/>', ""), ["line 2", "<inertial> of", "<mass>"]),
    "inertial without inertia": (
        replaced('<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>', ""),
        ["line 2", "<inertial> of", "add <inertia>"],
    ),
    "inertia without izz": (replaced(' izz="0.04"', ""), ["line 2", "<inertia> of", "'izz'"]),
    "lower above upper": (replaced('lower="-1"', 'lower="5"'), ["line 5", "<limit> of", "lower 5, upper 2"]),
    "negative velocity": (
        replaced('velocity="3"', 'velocity="-3"'),
        ["line 5", "<limit> of", "'velocity'", "-3"],
    ),
    "negative effort": (replaced('effort="4"', 'effort="-4"'), ["line 5", "<limit> of", "'effort'", "-4"]),
    "limit is NaN": (replaced('upper="2"', 'upper="NaN"'), ["line 5", "<limit> of", "'upper'", '"NaN"']),
    "limit is empty": (replaced('upper="2"', 'upper=""'), ["line 5", "<limit> of", "'upper'"]),
    "origin is NaN": (replaced('xyz="0 0 0.5"', 'xyz="0 0 nan"'), ["line 5", "<origin> of", '"nan"']),
    "origin too large": (replaced('xyz="0 0 0.5"', 'xyz="0 0 1e200"'), ["line 5", "<origin> of", "units"]),
    "origin with underscore": (replaced('xyz="0 0 0.5"', 'xyz="0 0 1_0"'), ["line 5", '"1_0"']),
    "xacro expression": (replaced('value="2"', 'value="${m}"'), ["line 2", "xacro=True"]),
    "xacro macro in a link": (
        robot(link("base", "<xacro:box_inertia m='1'/>")),
        ["line 2", "<xacro:box_inertia> of", "xacro=True"],
    ),
    "quaternion of zeros": (
        replaced('xyz="0 0 0.5"', 'quat_xyzw="0 0 0 0"'),
        ["line 5", "<origin> of", "not zero"],
    ),
    "short quaternion": (
        replaced('xyz="0 0 0.5"', 'quat_xyzw="0 0 1"'),
        ["line 5", "<origin> of", "four numbers", "found 3"],
    ),
    "NaN in a quaternion": (
        replaced('xyz="0 0 0.5"', 'quat_xyzw="0 0 nan 1"'),
        ["line 5", "<origin> of", '"nan"'],
    ),
    "two rotations that differ": (
        replaced('xyz="0 0 0.5"', 'quat_xyzw="0 0 0 1" rpy="0 0.1 0"'),
        ["line 5", "<origin> of", "one rotation", "which differ"],
    ),
    "misspelt joint": (
        robot(*arm())
        .replace('<joint name="elbow"', '<Joint name="elbow"')
        .replace("</joint>\n</", "</Joint>\n</"),
        ["one root link", '<Joint name="elbow"> (line 6): did you mean <joint>?'],
    ),
    "xacro macro": (robot("<xacro:include/>", *arm()), ["line 2", "<xacro:include>", "xacro=True"]),
    "unknown joint type": (
        replaced('type="revolute"', 'type="revolut"'),
        ["line 5", "did you mean 'revolute'"],
    ),
    "missing joint type": (replaced(' type="revolute"', ""), ["line 5", "'type'", "revolute, continuous"]),
    "joint without name": (replaced('name="elbow" ', ""), ["line 6", "<joint>", "'name'"]),
    "link without name": (replaced('name="lower"', 'name=" "'), ["line 4", "<link", "'name'"]),
    "mimic of nothing": (
        robot(*arm()[:-1], joint("elbow", "upper", "lower", extra='<mimic joint="sholder"/>')),
        ["line 6", '<joint name="elbow">', "'sholder'", "did you mean 'shoulder'", "mimic=False"],
    ),
    "mimic of itself": (
        robot(*arm()[:-1], joint("elbow", "upper", "lower", extra='<mimic joint="elbow"/>')),
        ["line 6", '<joint name="elbow">', "the joint itself"],
    ),
    "mimic without joint": (
        robot(*arm()[:-1], joint("elbow", "upper", "lower", extra="<mimic/>")),
        ["line 6", "<mimic> of", "'joint'"],
    ),
    "mimics in a circle": (
        robot(
            *arm()[:3],
            joint("shoulder", "base", "upper", extra='<mimic joint="elbow"/>'),
            joint("elbow", "upper", "lower", extra='<mimic joint="shoulder"/>'),
        ),
        ["line 5", "a circle: shoulder -> elbow -> shoulder"],
    ),
    "mimic of a floating joint": (
        robot(
            *arm()[:3],
            joint("shoulder", "base", "upper", "floating"),
            joint("elbow", "upper", "lower", extra='<mimic joint="shoulder"/>'),
        ),
        ["line 6", "one coordinate", "'shoulder' of type floating"],
    ),
    "mimics that overflow": (
        robot(
            *arm(),
            *(link(f"l{i}") for i in range(12)),
            *(joint(f"l{i}_joint", "lower", f"l{i}", extra=followed(i)) for i in range(12)),
        ),
        ["<joint name=", "at most 1e+30 in size"],
    ),
    "truncated": (robot(*arm())[:300], ["line", "well-formed XML", "truncated"]),
    "unclosed": (
        '<robot name="x">\n<link name="a">\n</robot>',
        ["line 3", '<link name="a">', "mismatched tag"],
    ),
    "attribute twice": (
        '<robot name="x">\n<link name="a" name="b"/>\n</robot>',
        ["line 2", "duplicate attribute"],
    ),
    "not a robot": ("<sdf version='1.6'/>", ["line 1", "<sdf>", "convert it to URDF or MJCF"]),
    "no links": ("<robot name='x'/>", ["line 1", "<robot", "at least one <link>"]),
    "entity bomb": (
        '<!DOCTYPE bomb [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<robot name="&b;"/>',
        ["line 1", "<!DOCTYPE>", "remove it"],
    ),
    "external entity": (
        '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/host">]>\n<robot name="&x;"/>',
        ["line 2", "<!DOCTYPE>"],
    ),
    "undefined entity": ('<robot name="x">&boom;</robot>', ["line 1", "undefined entity"]),
    "nested too deep": ('<robot name="x">' + "<a>" * 100 + "</a>" * 100 + "</robot>", ["line 1", "64 deep"]),
    "too many elements": ('<robot name="x">' + "<a/>" * 200_001 + "</robot>", ["line 1", "200000 elements"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_text(case: str, tmp_path: Path) -> None:
    text, fragments = CASES[case]
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        load_model(path)
    message = str(caught.value)
    for fragment in [str(path), "expected", "found", "To mend it", *fragments]:
        assert fragment in message, message


@pytest.mark.parametrize("case", CASES)
def test_bad_text_names_the_text_where_there_is_no_file(case: str) -> None:
    with pytest.raises(ModelError, match=r"^<URDF text>, line "):
        load_model(CASES[case][0])


def test_the_sound_arm_loads() -> None:
    assert load_model(robot(*arm()), strict=True).joint_names == ("shoulder", "elbow")


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        (b"", "nothing at all"),
        (b"  \n ", "nothing at all"),
        (b"hello, world", "well-formed XML"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "well-formed XML"),
        (b'<robot name="\xff\xfe"/>', "well-formed XML"),
        (b'<?xml version="1.0" encoding="klingon"?><robot/>', "well-formed XML"),
        (b'<?xml version="1.0" encoding="utf-16"?><robot/>', "well-formed XML"),
        (b'<?xml version="1.0" encoding="shift_jis"?><robot/>', "well-formed XML"),
    ],
)
def test_files_that_are_not_xml(content: bytes, fragment: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        load_model(str(path))
    assert f"{path}, line 1, start of file" in str(caught.value)
    assert fragment in str(caught.value)


def test_a_file_of_absurd_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.urdf"
    path.write_bytes(b"<robot name='x'>" + b" " * (17 * 2**20))
    with pytest.raises(ModelError, match="at most 16777216 bytes"):
        load_model(path)


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="found a directory"):
        load_model(tmp_path)


def test_a_missing_file_lists_what_is_built_in() -> None:
    with pytest.raises(ModelError) as caught:
        load_model("iiwa41")
    for fragment in ("'iiwa41'", "Did you mean 'iiwa14'", "'atlas'", "'chain:N'"):
        assert fragment in str(caught.value)


@pytest.mark.parametrize("source", ["", "no/such/file.urdf", "null\0byte", "x" * 10_000])
def test_names_that_are_no_file(source: str) -> None:
    with pytest.raises(ModelError):
        load_model(source)


@pytest.mark.parametrize(
    "name", ["chain:0", "chain:1001", "chain:", "chain:-1", "chain:x", "chain:²", "chain:1e2"]
)
def test_chains_of_no_length(name: str) -> None:
    with pytest.raises(ModelError, match="chain:N with N from 1 to 1000"):
        load_model(name)


def test_a_source_of_the_wrong_type() -> None:
    with pytest.raises(ModelError, match="found int"):
        load_model(3)


def test_a_joint_called_root_joint_and_a_floating_base() -> None:
    text = robot(link("base"), link("tip"), joint("root_joint", "base", "tip"))
    assert load_model(text).joint_names == ("root_joint",)
    with pytest.raises(ModelError, match=r"line 4, <joint name=\"root_joint\">.*floating_base"):
        load_model(text, floating_base=True)


def test_a_massless_link_with_mass_beyond_it_is_fine() -> None:
    text = robot(
        link("base"), link("mid", ""), link("tip"), joint("a", "base", "mid"), joint("b", "mid", "tip")
    )
    assert load_model(text, strict=True).bodies[0].inertia.is_zero


def test_all_joints_that_move_nothing_are_named() -> None:
    text = robot(link("base"), link("x", ""), link("y", ""), joint("a", "base", "x"), joint("b", "base", "y"))
    with pytest.warns(ModelWarning, match="joint 'a' moves no mass; .*joint 'b' moves no mass"):
        load_model(text)
    loaded = load_model(text, locked={"a": 0.0, "b": 0.0}, strict=True)
    assert loaded.bodies == ()


def test_unknown_elements_are_ignored() -> None:
    extra = "<gazebo><link name='x'/></gazebo><transmission name='t'><joint name='shoulder'/></transmission>"
    text = robot(*arm(), extra, "<material name='grey'/>").replace(
        SOUND_INERTIAL, SOUND_INERTIAL + "<visual><geometry><sphere radius='1'/></geometry></visual>"
    )
    assert load_model(text, strict=True).joint_names == ("shoulder", "elbow")
