"""The way in: `load_model` turns a source into a Model."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from numpy.typing import ArrayLike

from ..errors import ArgumentError, ModelError
from .changes import LockedValue, Payload, ToolFrame, read_changes
from .document import Document
from .joint_values import JointValues, Springs
from .mesh_paths import PackageDirs, read_package_dirs
from .model import Model
from .notes import XACRO_WARNS, Notes, Place
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

    The arguments are those of `robomorph.load`, but that a document may have been read before. stacklevel:
    whom warnings point at: 1 is the caller of this function.
    """
    if not (isinstance(snap, (int, float)) and 0.0 <= snap <= _LOOSEST_SNAP):
        raise ArgumentError(f"snap: expected a number of radians from 0 to {_LOOSEST_SNAP}, found {snap!r}.")
    joints = {"armature": armature, "damping": damping, "friction": friction, "stiffness": stiffness}
    changes = read_changes(locked, payloads, tool_frames, gravity, joints, passive)
    folders = read_package_dirs(package_dirs)
    ignored = Ignored(ignore, kinds())
    if not isinstance(source, Document):
        source = read_source(source, xacro=xacro, xacro_args=xacro_args, package_dirs=folders)
    notes = Notes(source.label)
    for words in source.warnings:
        notes.add(XACRO_WARNS, Place(source.label, 0, "<robot>"), words)
    try:
        tree = arrange(read(source, Reading(notes, snap, folders, ignored)), notes, mimic=mimic)
        ignored.check(source.label)
        tree = tree if root is None else reroot(tree, root)
    except ModelError as error:
        raise notes.with_misspellings(error) from None
    model = reduce_tree(tree, changes, notes, floating_base=floating_base, snap=snap)
    notes.emit(strict=strict, stacklevel=stacklevel + 1)
    return model
