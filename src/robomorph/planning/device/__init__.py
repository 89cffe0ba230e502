"""Functions of a motion evaluated on a device, all nodes of all pieces at once."""

from __future__ import annotations

from robomorph.planning.device.nodes import DeviceNodes, check_place
from robomorph.planning.device.use import DeviceUse, Traffic

__all__ = ["DeviceNodes", "DeviceUse", "Traffic", "check_place"]
