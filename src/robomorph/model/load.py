"""The way in: `load_model` turns a source into a Model."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from numpy.typing import ArrayLike

from ..errors import ArgumentError, ModelError
from .changes import LockedValue, Payload, ToolFrame, read_changes
from .document import Document
from .joint_values import JointValues, Springs
from .mesh_paths import PackageDirs, read_package_dirs
from .model import Model
from .notes import Notes
from .passive import Passive
from .read import Ignored, Reading, XacroArgs, kinds, read
from .reduce import reduce_tree
from .reroot import reroot
from .sources import Source, read_source
from .structure import arrange

# Right angles written with 11 digits, as many exporters do, are off by about 5e-12.
SNAP = 1e-10
_LOOSEST_SNAP = 0.1


def load_model(
    source: Source | Document,
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
    package_dirs: PackageDirs | None = None,
    ignore: Collection[str] | str = (),
    xacro: bool = False,
    xacro_args: XacroArgs | None = None,
    armature: JointValues | None = None,
    damping: JointValues | None = None,
    friction: JointValues | None = None,
    stiffness: Springs | None = None,
    passive: bool | Passive = False,
    stacklevel: int = 1,
) -> Model:
    """Load a robot and reduce it to its moving bodies.

    source: a built-in name ("iiwa14", "hyq", "atlas", "chain:N"), the path of a URDF, MJCF or xacro file,
        text of the first two, "robot_descriptions:NAME", or a mujoco.MjModel or MjSpec, pinocchio.Model or
        yourdfpy.URDF.
    root: the link to be the root instead of the file's; joints on the way to it are turned round, and keep
        their coordinates, limits and torques.
    floating_base: the root link moves freely (a joint "root_joint") instead of being fixed to the world.
    mimic: joints with <mimic> follow their source; False makes them independent.
    locked: joints to hold still, name -> rad, m, [x, y, cos, sin] (planar), [qx, qy, qz, qw] (spherical) or
        [x, y, z, qx, qy, qz, qw] (floating); joints that mimic a locked one are locked with it.
    payloads: link name -> Inertia, or (mass kg, com (3,) m[, tensor (3, 3) kg m^2 about the com]), in the
        link's frame, welded to that link.
    tool_frames: new frame name -> (link name, Pose, (4, 4) matrix or (3,) m), in the link's frame.
    gravity: (3,) m/s^2 in the world's axes; None: 9.81 straight down, which is -z of the file's root link as
        it stands with every joint at zero.
    strict: whatever would be a ModelWarning becomes a ModelError.
    snap: angles of origins and of locked joints within this many rad of a multiple of pi/2, and entries of
        unit axes this close to 0, are taken as exactly that, so that the entries of transforms are exactly 0
        or 1; 0 takes every number as it is written.
    package_dirs: folders that hold the packages which mesh files are named by, or are such packages.
    ignore: what to leave out that the format has and a robot cannot have: kinds or names (docs/models.md).
    xacro: the source is xacro, though no file called .xacro; xacro runs Python that it finds there.
    xacro_args: the arguments of a xacro file, name -> value.
    armature, damping, friction, stiffness: of joints, in place of the file's: a number for all with one
        degree of freedom, or joint name -> number; of springs also (stiffness, rest), rest being where they
        are slack.
    passive: damping, friction loss and springs are part of the dynamics; a Passive says how smooth friction
        is.
    stacklevel: whom warnings point at: 1 is the caller of this function.
    """
    if not (isinstance(snap, (int, float)) and math.isfinite(snap) and 0.0 <= snap <= _LOOSEST_SNAP):
        raise ArgumentError(f"snap: expected a number of radians from 0 to {_LOOSEST_SNAP}, found {snap!r}.")
    joints = {"armature": armature, "damping": damping, "friction": friction, "stiffness": stiffness}
    changes = read_changes(locked, payloads, tool_frames, gravity, joints, passive)
    folders = read_package_dirs(package_dirs)
    ignored = Ignored(ignore, kinds())
    if not isinstance(source, Document):
        source = read_source(source, xacro=xacro, xacro_args=xacro_args, package_dirs=folders)
    notes = Notes(source.label)
    try:
        tree = arrange(read(source, Reading(notes, snap, folders, ignored)), notes, mimic=mimic)
        ignored.check(source.label)
        tree = tree if root is None else reroot(tree, root)
    except ModelError as error:
        raise notes.with_misspellings(error) from None
    model = reduce_tree(tree, changes, notes, floating_base=floating_base, snap=snap)
    notes.emit(strict=strict, stacklevel=stacklevel + 1)
    return model
