"""The robots that come with robomorph."""

from __future__ import annotations

from importlib import resources

from ...errors import ModelError
from .chain import MAX_JOINTS, chain_urdf

_FILES = {
    "iiwa14": "KUKA LBR iiwa 14, an arm with 7 joints",
    "hyq": "HyQ, a quadruped with 12 joints",
    "atlas": "Atlas, a humanoid with 30 joints",
}
_CHAIN = "chain:"


def builtin_robots() -> dict[str, str]:
    """Built-in names with one line about each; N in chain:N stands for a number of joints."""
    return {**_FILES, "chain:N": f"a synthetic serial chain of N joints, 1 <= N <= {MAX_JOINTS}"}


def builtin_urdf(name: str) -> bytes | None:
    """The URDF document of a built-in robot, or None if `name` is not one."""
    if name in _FILES:
        return resources.files(__package__).joinpath(f"{name}.urdf").read_bytes()
    if not name.startswith(_CHAIN):
        return None
    count = name[len(_CHAIN) :]
    if not (count.isascii() and count.isdigit() and len(count) <= 4 and 1 <= int(count) <= MAX_JOINTS):
        raise ModelError(f"{name!r}: expected chain:N with N from 1 to {MAX_JOINTS}, such as 'chain:12'.")
    return chain_urdf(int(count)).encode()
