"""Sources of MJCF that are none, or that are broken: a RobomorphError each, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import pytest

from robomorph.errors import ModelError, ModelWarning, RobomorphError
from robomorph.model import load_model
from robomorph.model.notes import Notes
from tests.model.read.mujoco_oracle import mj_model

BODY = "<body name='b'><joint name='j'/><geom size='1'/></body>"
GOOD = f"<mujoco model='m'><worldbody>{BODY}</worldbody></mujoco>"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<mujoco>", "well-formed XML|parse error|XML"),
        ("<mujoco", "well-formed XML"),
        ("<mujoco><nonsense/></mujoco>", "nonsense"),
        ("<mujoco><include file='no/such.xml'/></mujoco>", "no/such.xml"),
        ("<mujoco><asset><mesh file='none.stl'/></asset></mujoco>", "none.stl"),
        (GOOD.replace("size='1'", "size='x'"), "size"),
        (GOOD.replace("size='1'", "size='-1'"), "size"),
        (GOOD.replace("<joint name='j'/>", "<joint name='j'/><joint name='j'/>"), "repeated name"),
        (GOOD.replace("<geom size='1'/>", ""), "mass and inertia of moving bodies"),
        ("\ufeff\n<!-- a --><mujoco><b/></mujoco>", "MuJoCo compiles"),
    ],
)
def test_what_mujoco_refuses_is_refused_in_its_words(text: str, found: str) -> None:
    with pytest.raises(ModelError, match=found):
        load_model(text)


def test_the_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text(GOOD.replace("<geom size='1'/>", ""))
    with pytest.raises(ModelError, match=r"broken\.xml: expected a model that MuJoCo compiles.*line 1"):
        load_model(path)


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, os.urandom(1000), b"\xff\xfe<\x00m\x00"])
def test_garbage(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_bytes(content)
    for source in (path, content):
        with pytest.raises(RobomorphError):
            load_model(source)


def test_models_without_joints() -> None:
    for text in ("<mujoco/>", "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"):
        for source in (text, mj_model(text), mujoco.MjSpec.from_string(text)):
            model = load_model(source, strict=True)
            assert model.bodies == () and model.frame_names == ("world",)


def test_names_are_in_utf_8(tmp_path: Path) -> None:
    """MuJoCo takes any bytes. Two names whose odd letters are replaced may be one, and frames share it."""
    path = tmp_path / "robot.xml"
    sites = "<site name='h\xe4nd'/><site name='h\xf6nd'/>"
    text = "<?xml version='1.0' encoding='iso-8859-1'?>" + GOOD.replace("</body>", f"{sites}</body>")
    path.write_bytes(text.encode("iso-8859-1"))
    with pytest.raises(ModelError, match=r"names in UTF-8, found b'h\\xe4nd'.*save the file in UTF-8"):
        load_model(path)
    path.write_text(GOOD.replace("</body>", f"{sites}</body>"), encoding="utf-8")
    assert set(load_model(path).frame_names) >= {"h\xe4nd", "h\xf6nd"}


def test_paths_may_be_bytes(tmp_path: Path) -> None:
    class Bytes:
        def __fspath__(self) -> bytes:
            return os.fsencode(tmp_path / "robot.xml")

    (tmp_path / "robot.xml").write_text(GOOD)
    assert load_model(Bytes()).joint_names == ("j",)


def test_huge_files_and_folders(tmp_path: Path) -> None:
    path = tmp_path / "huge.xml"
    path.write_bytes(b"<mujoco>" + b" " * (17 * 2**20))
    with pytest.raises(ModelError, match="at most 16777216 bytes"):
        load_model(path)
    with pytest.raises(ModelError, match=r"found a directory. Name the .urdf or .xml file"):
        load_model(tmp_path)


def test_nesting_without_end() -> None:
    deep = "<body><joint/><geom size='1'/>" * 3000 + "</body>" * 3000
    with pytest.raises(RobomorphError):
        load_model(f"<mujoco><worldbody>{deep}</worldbody></mujoco>")


def test_files_include_others_beside_them(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text("<mujoco><option gravity='0 0 -1'/></mujoco>")
    path = tmp_path / "robot.xml"
    path.write_text(GOOD.replace("<worldbody>", "<include file='part.xml'/><worldbody>"))
    assert load_model(path).gravity.tolist() == [0.0, 0.0, -1.0]
    (tmp_path / "robot.odd").write_text(path.read_text())
    try:  # MuJoCo 4 goes by the name's end, others do not
        assert load_model(tmp_path / "robot.odd") == load_model(path)
    except ModelError as error:
        assert "call the file .xml" in str(error)
    path.write_text("<mujoco><include file='robot.xml'/></mujoco>")
    with pytest.raises(ModelError, match=r"robot\.xml"):
        load_model(path)


def test_warnings_of_mujoco_are_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Left alone they go to the terminal, and to a log in the current folder."""
    monkeypatch.chdir(tmp_path)
    seen: list[str] = []
    mujoco.set_mju_user_warning(seen.append)
    try:
        text = GOOD.replace("<geom size='1'/>", "<geom size='1' user='nan'/>")
        with pytest.warns(UserWarning, match="what MuJoCo warns of.*NaN"):
            load_model(text)
        assert seen == []
        mj_model(GOOD)
        assert mujoco.get_mju_user_warning() is not None
    finally:
        mujoco.set_mju_user_warning(None)
    assert list(tmp_path.iterdir()) == [] and capfd.readouterr() == ("", "")


def test_many_threads() -> None:
    failed: list[BaseException] = []

    def many() -> None:
        try:
            for _ in range(20):
                assert load_model(GOOD).joint_names == ("j",)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_warnings_of_other_threads_stay_theirs() -> None:
    """While one thread listens to what MuJoCo says."""
    from robomorph.model.read import mjcf_compile

    notes = Notes("m")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with mjcf_compile._heard(mujoco, "m", notes):
            other = threading.Thread(target=warnings.warn, args=("another's",))
            other.start()
            other.join()
            warnings.warn("MuJoCo's", stacklevel=1)
    assert [str(one.message) for one in heard] == ["another's"]
    assert len(notes.messages()) == 1 and "MuJoCo's." in notes.messages()[0]


FORKED = """
import os, signal, sys, threading
from robomorph.model import load_model
from robomorph.model.read import mjcf_compile, xacro
text, locks = sys.argv[1], (mjcf_compile._LOCK, xacro._LOCK)
held, done = threading.Event(), threading.Event()
def hold():
    with locks[0], locks[1]:
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    load_model(text)
    load_model("<robot name='r'><link name='a'/></robot>", xacro=True)
    os._exit(7)
status = os.waitpid(child, 0)[1]
done.set()
thread.join()
load_model(text)
sys.exit(0 if os.waitstatus_to_exitcode(status) == 7 else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_fork_while_another_thread_loads() -> None:
    pytest.importorskip("xacro")
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, GOOD], check=True, timeout=60)


def foreign(module: str, name: str, **attributes: Any) -> Any:
    kind = type(name, (), {"__module__": module, **attributes})
    return kind()


def test_models_of_other_packages_and_versions() -> None:
    for module in ("mujoco_py.cymj", "mujoco", "mujoco._structs"):
        with pytest.raises(ModelError, match="expected an MjModel or MjSpec of the package mujoco"):
            load_model(foreign(module, "MjModel"))
    with pytest.raises(ModelError, match="expected a built-in name, a path"):
        load_model(foreign("elsewhere", "MjModel"))
    with pytest.raises(ModelError, match="expected a built-in name, a path"):
        load_model(mujoco.MjData(mj_model(GOOD)))


def test_versions_without_an_array_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from robomorph.model.read import mjcf_compile
    from robomorph.model.read.mjcf_arrays import Arrays

    class Old:
        nbody, njnt, names = 1, 0, b"m\0world\0"
        name_bodyadr = (2,)

    with pytest.raises(ModelError, match=r"expected an MjModel of MuJoCo 3\.2 or later, with jnt_axis"):
        Arrays(Old(), "<mujoco model>")["jnt_axis"]
    assert mjcf_compile.is_mujoco(mj_model(GOOD))


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"pip install 'robomorph\[mjcf\]'"):
        load_model(GOOD)
    empty = ModuleType("mujoco")
    monkeypatch.setitem(sys.modules, "mujoco", empty)
    with pytest.raises(RobomorphError):
        load_model(GOOD)


MUSCLE = f"""<mujoco><worldbody>{BODY.replace("name='j'", "name='j' armature='nan'")}</worldbody>
<actuator><muscle joint="j"/></actuator></mujoco>"""
with_spec = pytest.mark.skipif(
    tuple(map(int, mujoco.__version__.split(".")[:2])) < (3, 3), reason="an early MjSpec"
)


@with_spec
def test_muscles_are_not_simulated(tmp_path: Path) -> None:
    """MuJoCo does so to find how long they get; with a joint that is no number it never ends."""
    (tmp_path / "muscle.xml").write_text(MUSCLE)
    (tmp_path / "robot.xml").write_text("<mujoco><include file='muscle.xml'/></mujoco>")
    for source in (MUSCLE, tmp_path / "robot.xml", mujoco.MjSpec.from_string(MUSCLE)):
        with warnings.catch_warnings(), pytest.raises(ModelError, match=r"armature|QACC"):
            warnings.simplefilter("ignore", ModelWarning)
            load_model(source, ignore="actuator")


@with_spec
def test_what_mujoco_warns_of_is_told_alike() -> None:
    """Also where it warns by Python's means, as while it compiles an MjSpec."""
    axes = "<joint axis='0 1 0' armature='0'/><joint axis='0 1 0'/>"
    text = f"<mujoco><worldbody><body>{axes}<geom size='1'/></body></worldbody></mujoco>"
    for source in (text, mujoco.MjSpec.from_string(text)):
        with warnings.catch_warnings(record=True) as said, contextlib.suppress(ModelError):
            warnings.simplefilter("always")
            load_model(source)  # some versions refuse it in one form
        assert {one.category for one in said} <= {ModelWarning}
