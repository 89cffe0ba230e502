"""`robomorph.load`: from a name, a path, text or another library's model to a Robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any

from numpy.typing import ArrayLike

from robomorph.errors import ArgumentError
from robomorph.model.changes import LockedValue, Payload, ToolFrame
from robomorph.model.joint_values import JointValues, Springs
from robomorph.model.load import SNAP, load_model
from robomorph.model.mesh_paths import PackageDirs, read_package_dirs
from robomorph.model.passive import Passive
from robomorph.model.read import Ignored, XacroArgs
from robomorph.model.sources import LoadRecord, Source, read_source
from robomorph.robot import Robot


def load(
    source: Source,
    *,
    root: str | None = None,
    floating_base: bool = False,
    mimic: bool = True,
    locked: Mapping[str, LockedValue] | None = None,
    payloads: Mapping[str, Payload] | None = None,
    tool_frames: Mapping[str, ToolFrame] | None = None,
    gravity: ArrayLike | None = None,
    strict: bool = False,
    snap: float = SNAP,
    check_finite: bool = True,
    package_dirs: PackageDirs | None = None,
    ignore: Collection[str] | str = (),
    xacro: bool = False,
    xacro_args: XacroArgs | None = None,
    armature: JointValues | None = None,
    damping: JointValues | None = None,
    friction: JointValues | None = None,
    stiffness: Springs | None = None,
    passive: bool | Passive = False,
) -> Robot:
    """Load a robot.

    source: a built-in name ("iiwa14", "hyq", "atlas", "chain:N"), the path of a URDF, MJCF or xacro file,
        text of the first two, "robot_descriptions:NAME", or a model of MuJoCo, Pinocchio or yourdfpy.
    root: the link to be the root, instead of the file's: the world's frame is then its frame, and its mass
        counts (docs/conventions.md). Joints keep their coordinates, limits and torques, not their order.
    floating_base: the root link moves freely instead of being fixed to the world.
    mimic: joints with <mimic> follow their source; False makes them independent.
    locked: joints to hold still, by name, at a value (rad, m; a sequence for planar and floating joints).
    payloads: link name -> Inertia or (mass kg, com (3,) m[, tensor (3, 3) kg m^2 about the com]).
    tool_frames: new frame name -> (link name, Pose, (4, 4) matrix or (3,) m), in the link's frame.
    gravity: (3,) m/s^2 in the world's axes; None: 9.81 straight down (docs/conventions.md).
    strict: whatever would be a ModelWarning becomes a ModelError.
    snap: angles this close (rad) to a multiple of pi/2, and axis entries this close to 0, are exactly that.
    check_finite: refuse NaN, infinities and quaternions not of length one in arguments.
    package_dirs: folders that hold the ROS packages of mesh files, or are such packages (docs/models.md).
    ignore: what of the file to leave out that a robot cannot have: kinds or names (docs/models.md).
    xacro: the source is xacro, though no file called .xacro; xacro runs Python that it finds there.
    xacro_args: the arguments of a xacro file, name -> value.
    armature, damping, friction, stiffness: of joints, in place of the file's: a number for all with one
        degree of freedom, or joint name -> number; of springs also (stiffness, where they are slack).
    passive: damping, friction loss (a Passive says how smooth) and springs are part of the dynamics.
    """
    return _loaded(dict(locals()))


_SWITCHES = ("floating_base", "mimic", "strict", "check_finite", "xacro")
# Those that change the model, and so are on record; the last only where they are given.
_ALWAYS = ("root", "floating_base", "mimic", "snap", "locked", "payloads", "tool_frames", "gravity")
_GIVEN = ("ignore", "xacro_args", "armature", "damping", "friction", "stiffness", "passive")


def _loaded(given: dict[str, Any]) -> Robot:
    """The robot that the arguments of `load`, by name, ask for."""
    for name in _SWITCHES:
        if not isinstance(given[name], bool):
            raise ArgumentError(f"{name}: expected True or False, found {given[name]!r}")
    folders = read_package_dirs(given["package_dirs"])
    xacro = {name: given.pop(name) for name in ("xacro", "xacro_args")}
    document = read_source(given.pop("source"), **xacro, package_dirs=folders)
    check_finite = given.pop("check_finite")
    model = load_model(document, **given, stacklevel=3)
    given |= {"xacro_args": dict(xacro["xacro_args"] or {}), "ignore": list(Ignored(given["ignore"]).words)}
    options = {name: given[name] for name in _ALWAYS}
    options |= {name: given[name] for name in _GIVEN if not _is_left_out(given[name])}
    # The record is of what moves; where meshes were found is in the model's shapes. Another library's object
    # may change, or may not pickle.
    record = LoadRecord(document._replace(given=None), deepcopy(options))
    return Robot(model, check_finite=check_finite, record=record)


def _is_left_out(value: object) -> bool:
    """None, False and nothing in a collection; 0 is a value."""
    return value is None or value is False or (isinstance(value, (list, dict)) and not value)
