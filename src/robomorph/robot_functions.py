"""Every algorithm as a method of a robot, on arrays: what `Robot` is made of beside its model and kernels.

Made from the algorithms' entries by tools/generated.py: not to be edited.

Shapes are given for one state; all arguments may have leading batch dimensions, which broadcast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import numpy.typing as npt

Array = npt.NDArray[Any]
Wrenches = Mapping[str, npt.ArrayLike] | npt.ArrayLike | None


class RobotFunctions(ABC):
    """The methods; whoever derives from this answers `_call`."""

    @abstractmethod
    def _call(self, name: str, args: tuple[Any, ...], f_ext: Any = None, frame: str | None = None) -> Any:
        """The results of the algorithm `name`: an array, or a named tuple of several."""

    def inverse_dynamics(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, f_ext: Wrenches = None
    ) -> Array:
        """Joint torques (..., nv) for a motion. `f_ext`: wrenches on links, as a mapping from link name to
        (..., 6) or an array (..., n_links, 6), [force, moment] in the link's frame at its origin."""
        return cast(Array, self._call("inverse_dynamics", (q, qd, qdd), f_ext))

    def bias_torque(self, q: npt.ArrayLike, qd: npt.ArrayLike, f_ext: Wrenches = None) -> Array:
        """Joint torques (..., nv) at zero acceleration: Coriolis and centrifugal forces, gravity, and what
        holds against `f_ext` (as in `inverse_dynamics`). M qdd + bias is `inverse_dynamics`."""
        return cast(Array, self._call("bias_torque", (q, qd), f_ext))

    def gravity_torque(self, q: npt.ArrayLike) -> Array:
        """Joint torques (..., nv) that hold the robot at rest against gravity."""
        return cast(Array, self._call("gravity_torque", (q,)))

    def coriolis_matrix(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """C (..., nv, nv) with C qd + gravity torque = bias torque and dM/dt - 2 C skew-symmetric."""
        return cast(Array, self._call("coriolis_matrix", (q, qd)))

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """Mass matrix (..., nv, nv), symmetric."""
        return cast(Array, self._call("mass_matrix", (q,)))

    def mass_matrix_inverse(self, q: npt.ArrayLike) -> Array:
        """Inverse of the mass matrix (..., nv, nv), symmetric."""
        return cast(Array, self._call("mass_matrix_inverse", (q,)))

    def forward_dynamics(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, f_ext: Wrenches = None
    ) -> Array:
        """Joint accelerations (..., nv) under torques `tau` (..., nv)."""
        return cast(Array, self._call("forward_dynamics", (q, qd, tau), f_ext))

    def inverse_dynamics_gradient(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, f_ext: Wrenches = None
    ) -> Any:
        """Named tuple (dtau_dq, dtau_dqd), each (..., nv, nv), row i for torque i."""
        return self._call("inverse_dynamics_gradient", (q, qd, qdd), f_ext)

    def forward_dynamics_gradient(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, f_ext: Wrenches = None
    ) -> Any:
        """Named tuple (qdd, dqdd_dq, dqdd_dqd, minv): accelerations (..., nv) and their derivatives
        (..., nv, nv); minv is the derivative with respect to tau."""
        return self._call("forward_dynamics_gradient", (q, qd, tau), f_ext)

    def forward_kinematics(self, q: npt.ArrayLike, frame: str) -> Array:
        """Pose (..., 4, 4) in the world of a link or tool frame."""
        return cast(Array, self._call("forward_kinematics", (q,), frame=frame))

    def jacobian(self, q: npt.ArrayLike, frame: str) -> Array:
        """Geometric Jacobian (..., 6, nv) of a link or tool frame: linear rows first, in the world's axes, at
        the frame's origin."""
        return cast(Array, self._call("jacobian", (q,), frame=frame))

    def link_poses(self, q: npt.ArrayLike) -> Array:
        """Poses (..., n_links, 4, 4) in the world of all links, in the order of `link_names`."""
        return cast(Array, self._call("link_poses", (q,)))

    def frame_velocity(self, q: npt.ArrayLike, qd: npt.ArrayLike, frame: str) -> Array:
        """Velocity (..., 6) of a link or tool frame: of its origin (m/s), then angular (rad/s), both in the
        world's axes. It is `jacobian` times qd."""
        return cast(Array, self._call("frame_velocity", (q, qd), frame=frame))

    def frame_acceleration(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, frame: str
    ) -> Array:
        """Acceleration (..., 6) of a link or tool frame: the time derivative of `frame_velocity`, of the
        origin (m/s^2), then angular (rad/s^2), in the world's axes. Gravity is no part of it."""
        return cast(Array, self._call("frame_acceleration", (q, qd, qdd), frame=frame))

    def jacobian_rate(self, q: npt.ArrayLike, qd: npt.ArrayLike, frame: str) -> Array:
        """dJ/dt qd (..., 6) of `jacobian`: the frame's acceleration where qdd is zero."""
        return cast(Array, self._call("jacobian_rate", (q, qd), frame=frame))

    def center_of_mass(self, q: npt.ArrayLike) -> Array:
        """Centre of mass (..., 3), in the world, of all that moves or stands on a root that was chosen."""
        return cast(Array, self._call("center_of_mass", (q,)))

    def center_of_mass_jacobian(self, q: npt.ArrayLike) -> Array:
        """Jacobian (..., 3, nv) of the centre of mass, in the world's axes."""
        return cast(Array, self._call("center_of_mass_jacobian", (q,)))

    def centroidal_momentum(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """Momentum (..., 6) of all moving bodies: linear (kg m/s), then angular about the centre of mass (kg
        m^2/s), in the world's axes."""
        return cast(Array, self._call("centroidal_momentum", (q, qd)))

    def centroidal_momentum_matrix(self, q: npt.ArrayLike) -> Array:
        """The matrix (..., 6, nv) that times qd is `centroidal_momentum`."""
        return cast(Array, self._call("centroidal_momentum_matrix", (q,)))

    def energy(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Any:
        """Named tuple (kinetic, potential), each (...), in joules; zero potential at the world's origin."""
        return self._call("energy", (q, qd))
