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
        degree of freedom, or joint name -> number; of springs also (stiffness, rest), rest being where they
        are slack.
    passive: damping, friction loss and springs are part of the dynamics; a Passive says how smooth friction
        is.
    """
    switches = {
        "floating_base": floating_base,
        "mimic": mimic,
        "strict": strict,
        "check_finite": check_finite,
        "xacro": xacro,
    }
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise ArgumentError(f"{name}: expected True or False, found {value!r}")
    folders = read_package_dirs(package_dirs)
    document = read_source(source, xacro=xacro, xacro_args=xacro_args, package_dirs=folders)
    options: dict[str, Any] = {"root": root, "floating_base": floating_base, "mimic": mimic, "snap": snap}
    options |= {"locked": locked, "payloads": payloads, "tool_frames": tool_frames, "gravity": gravity}
    ignored = list(Ignored(ignore).words)
    options |= {"ignore": ignored} if ignored else {}
    joints = {"armature": armature, "damping": damping, "friction": friction, "stiffness": stiffness}
    options |= {name: value for name, value in joints.items() if value is not None}
    options |= {"passive": passive} if passive is not False else {}
    model = load_model(document, **options, strict=strict, package_dirs=package_dirs, stacklevel=2)
    # The record is of what moves; where meshes were found is in the model's shapes. Another library's object
    # may change, or may not pickle.
    options |= {"xacro_args": dict(xacro_args)} if xacro_args else {}
    record = LoadRecord(document._replace(given=None), deepcopy(options))
    return Robot(model, check_finite=check_finite, record=record)
