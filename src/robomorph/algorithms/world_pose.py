"""The pose of a frame in the world, over a generic scalar."""

from __future__ import annotations

from dataclasses import dataclass

from robomorph.spatial import ZERO3, Transform, Translation, Vec3, add3, scale3

_UNIT: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class WorldPose:
    """Axes (as columns) and origin of a frame in the world."""

    axes: tuple[Vec3, Vec3, Vec3] = _UNIT
    origin: Vec3 = ZERO3

    def vector(self, v: Vec3) -> Vec3:
        """A free vector of the frame, in the world's axes."""
        x, y, z = self.axes
        return add3(add3(scale3(v[0], x), scale3(v[1], y)), scale3(v[2], z))

    def then(self, transform: Transform) -> WorldPose:
        """The pose of the frame that `transform` leads to."""
        axes, origin = self.axes, self.origin
        for move in transform.moves:
            if isinstance(move, Translation):
                origin = add3(origin, WorldPose(axes).vector(move.offset))
            else:
                # Each new axis is a combination of the old ones: rows of the move's matrix.
                rows = [move.back(unit) for unit in _UNIT]
                axes = tuple(WorldPose(axes).vector(row) for row in rows)  # type: ignore[assignment]
        return WorldPose(axes, origin)
