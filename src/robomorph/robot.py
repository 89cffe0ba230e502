"""The everyday face: a robot, its shapes and names, and its dynamics and kinematics on arrays.

Conventions: SI units. Velocities, wrenches and Jacobian rows are linear before angular. A floating base
is [x y z qx qy qz qw], its velocity [linear, angular] in the base frame. Gradients are taken in the
tangent space, so they are nv x nv. Every argument may have leading batch dimensions, which broadcast.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from robomorph.algorithms import configuration
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.step import step_named
from robomorph.algorithms.tree import coordinate_starts, model_sizes
from robomorph.compiler.make import make_kernel
from robomorph.compiler.specialise import Specialiser, make_request
from robomorph.compiler.unit_parts import unit_parts
from robomorph.errors import ArgumentError
from robomorph.model import Model, Shape
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.sources import LoadRecord
from robomorph.robot_functions import RobotFunctions
from robomorph.runtime.arguments import as_array, broadcast, common_dtype, typed_arguments
from robomorph.runtime.kernel import AnyKernel
from robomorph.runtime.results import JointLimits, RandomState
from robomorph.runtime.values import check_finite, check_units
from robomorph.runtime.wrenches import WrenchReader

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from robomorph.compiler.partition import PartitionedGradient
    from robomorph.compiler.wishes import FixedWishes, GpuWishes, RtlWishes, Wishes
    from robomorph.ik import IKResult
    from robomorph.targets.cpu.fixed.kernel import FixedKernel
    from robomorph.targets.cpu.kernel import Kernel
    from robomorph.targets.gpu.kernel import GpuKernel
    from robomorph.targets.interpreter import InterpreterKernel
    from robomorph.targets.rtl.kernel import RtlKernel
    from robomorph.verify.report import Verification

Array = npt.NDArray[Any]
_MOST_THREADS = 1024
_LARGEST_BATCH = 2**40


class Robot(RobotFunctions):
    """A robot and its compiled kernels. Make one with `robomorph.load`."""

    def __init__(self, model: Model, *, check_finite: bool = True, record: LoadRecord | None = None) -> None:
        self.model = model
        self.record = record  # what `load` made the model from, for those who write it down
        self.check_finite = check_finite
        self.nq, self.nv, _ = model_sizes(model)
        self.specialiser = Specialiser(model)
        self._kernels: dict[Any, Any] = {}
        self._units = unit_parts(model)
        self._wrenches = WrenchReader(model.link_names)

    # --- what the robot is -------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Moving joints, depth first in file order. Mimic joints are among them, and a floating base is one,
        so these are not the names of the entries of q or qd: see the next two."""
        return self.model.joint_names

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """(nq,) the name of every entry of q: its joint's, with the entry's number where it has several,
        such as root_joint[0]."""
        return self._entry_names(0)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """(nv,) the name of every entry of qd, qdd and tau, made like those of q."""
        return self._entry_names(1)

    def _entry_names(self, which: int) -> tuple[str, ...]:
        names: list[str] = []
        for index in coordinate_starts(self.model):
            joint = self.model.bodies[index].joint_name
            place = self.coordinates(joint)[which]
            size = place.stop - place.start
            names += [joint] if size == 1 else [f"{joint}[{k}]" for k in range(size)]
        return tuple(names)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Every link of the description, depth first in file order, the root first."""
        return self.model.link_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Every link, then the tool frames that were added."""
        return tuple(frame.name for frame in self.model.frames)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Every <visual> and <collision> of the description, placed on the bodies that carry them."""
        return self.model.shapes

    @property
    def gravity(self) -> Array:
        """(3,) m/s^2 in the world's axes."""
        return self.model.gravity

    @property
    def limits(self) -> JointLimits:
        """Position, velocity and effort limits as arrays. A coordinate that mimic joints follow has
        its own joint's limits."""
        velocity, effort = np.full(self.nv, np.inf), np.full(self.nv, np.inf)
        for i, (_, iv) in coordinate_starts(self.model).items():
            body = self.model.bodies[i]
            own = slice(iv, iv + JOINT_TYPES[body.kind].nv)
            velocity[own], effort[own] = body.limits.velocity, body.limits.effort
        return JointLimits(*configuration.position_limits(self.model), velocity, effort)

    @property
    def neutral(self) -> Array:
        """(nq,) all joints at zero, bases at the origin."""
        return configuration.neutral(self.model)

    def coordinates(self, joint: str) -> tuple[slice, slice]:
        """Where a joint's coordinates are in q and its degrees of freedom in qd (a mimic joint's are those
        of the joint it follows)."""
        return configuration.coordinates(self.model, joint)

    def random_state(
        self, rng: np.random.Generator | int | None = None, batch: int | tuple[int, ...] = ()
    ) -> RandomState:
        """Random configurations inside the limits (unlimited angles in (-pi, pi), unlimited positions
        within 1 m) and velocities inside theirs, at most 1 rad/s or m/s."""
        rng = np.random.default_rng(rng)
        shape = _batch_shape(batch)
        parts = [np.empty((*shape, 0))]
        for body in self.model.bodies:
            if body.mimic is None:
                joint = JOINT_TYPES[body.kind]
                parts.append(joint.random(rng, body.limits.lower, body.limits.upper, shape))
        speed = np.abs(np.minimum(self.limits.velocity, 1.0))  # a limit of -0.0 is 0.0
        return RandomState(np.concatenate(parts, axis=-1), rng.uniform(-speed, speed, (*shape, self.nv)))

    # --- inverse kinematics (the algorithms are in robot_functions.py) ---------------------------------

    def inverse_kinematics(
        self, target: Any, frame: str | None = None, q0: npt.ArrayLike | None = None, **options: Any
    ) -> IKResult:
        """Configurations that meet a target: a pose (..., 4, 4) or position (..., 3) of `frame`, or a list of
        `robomorph.ik` targets. `q0` (..., nq) is where the search starts (None: mid-range). Every option is
        described in docs/ik.md; those most used:

        tolerance: (metres, radians). nearest: stay as near to q0 as can be found; False: any solution.
        posture (nq,): preferred instead of q0. solutions: as many distinct ones as that. fixed: joints that
        stay at q0. path: the last batch dimension is an order in time. method: "lm", "quick-ik", ...
        """
        from robomorph.ik import inverse_kinematics

        return inverse_kinematics(self, target, frame, q0, **options)

    def verify(self, algorithms: Sequence[str] | None = None, **settings: Any) -> Verification:
        """Every kernel (or those named) compiled and checked against the interpreter, textbook formulas and
        finite differences at random states, as `robomorph compile` does: `.passed`, `.checked`, `.refused`,
        `.as_data()`. settings: derivatives (True, or names such as "vjp"), dtype, frame, threads, progress
        (see `robomorph.verify.report.verify`)."""
        from robomorph.verify.report import verify

        return verify(self, algorithms, **settings)

    # --- the configuration manifold ----------------------------------------------------------------

    def integrate(self, q: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
        """The configuration (..., nq) reached from `q` by the tangent step `dq` (..., nv)."""
        arrays = self._step_arguments(("q", "dq"), (q, dq), ((self.nq,), (self.nv,)))
        return configuration.integrate(self.model, *arrays)

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The tangent step (..., nv) from `q0` to `q1`: integrate(q0, difference(q0, q1)) = q1."""
        arrays = self._step_arguments(("q0", "q1"), (q0, q1), ((self.nq,), (self.nq,)))
        return configuration.difference(self.model, *arrays)

    def _step_arguments(
        self,
        names: tuple[str, str],
        values: tuple[npt.ArrayLike, npt.ArrayLike],
        shapes: tuple[tuple[int], tuple[int]],
    ) -> tuple[Array, Array]:
        """Two arguments of one dtype and of equal batch dimensions, checked."""
        arrays = [as_array(n, v) for n, v in zip(names, values, strict=True)]
        dtype = common_dtype(arrays)
        lead = broadcast(names, arrays, shapes)
        a, b = (np.broadcast_to(x, (*lead, x.shape[-1])).astype(dtype, copy=False) for x in arrays)
        if self.check_finite:
            for name, x in zip(names, (a, b), strict=True):
                check_finite(name, x)
                if name != "dq":
                    check_units(name, x, self._units)
        return a, b

    # --- steps in time -----------------------------------------------------------------------------

    def step(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        dt: npt.ArrayLike,
        f_ext: Any = None,
        *,
        integrator: str = "implicit",
    ) -> Any:
        """Named tuple (q_next, qd_next): coordinates (..., nq) and velocities (..., nv) after a step of `dt`
        (s, one number or (...)) under constant torques `tau` (..., nv). Semi-implicit Euler, see
        docs/dynamics-step.md; with integrator="implicit" drag of `passive=True` is taken at the speed after
        the step, which is stable however strong it is, with "semi-implicit" at that before it. `f_ext` as in
        `inverse_dynamics`."""
        return self._call(step_named("step", integrator), (q, qd, tau), f_ext, more=(dt,))

    def step_gradient(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        dt: npt.ArrayLike,
        f_ext: Any = None,
        *,
        integrator: str = "implicit",
    ) -> Any:
        """Named tuple (A, B): derivatives of `step` by the state (..., 2nv, 2nv) and by tau (..., 2nv, nv).
        A state is its place, in the tangent space (along `integrate`), then its velocity."""
        return self._call(step_named("step_gradient", integrator), (q, qd, tau), f_ext, more=(dt,))

    # --- kernels -----------------------------------------------------------------------------------

    @overload
    def compile(
        self, algorithm: str, *, target: Literal["cpu"] = "cpu", **wishes: Unpack[Wishes]
    ) -> Kernel: ...
    @overload
    def compile(
        self, algorithm: str, *, target: Literal["interpreter"], **wishes: Unpack[Wishes]
    ) -> InterpreterKernel: ...
    @overload
    def compile(
        self,
        algorithm: str,
        *,
        target: Literal["cuda", "opencl"],
        partitioning: str,
        **wishes: Unpack[GpuWishes],
    ) -> PartitionedGradient: ...
    @overload
    def compile(
        self, algorithm: str, *, target: Literal["cuda", "opencl"], **wishes: Unpack[GpuWishes]
    ) -> GpuKernel: ...
    @overload
    def compile(
        self, algorithm: str, *, target: Literal["fixed"], **wishes: Unpack[FixedWishes]
    ) -> FixedKernel: ...
    @overload
    def compile(
        self, algorithm: str, *, target: Literal["rtl"], **wishes: Unpack[RtlWishes]
    ) -> RtlKernel: ...
    @overload
    def compile(self, algorithm: str, *, target: str, **wishes: Any) -> AnyKernel: ...

    def compile(
        self,
        algorithm: str,
        *,
        target: str = "cpu",
        dtype: str = "float64",
        threads: int | None = None,
        outputs: Sequence[str] | None = None,
        frame: str | None = None,
        f_ext: bool | Sequence[str] = False,
        formulation: str | None = None,
        frames: Sequence[str] | None = None,
        derivative: str | None = None,
        check_finite: bool | None = None,
        **options: Any,
    ) -> AnyKernel:
        """A kernel of one algorithm.

        outputs: names of the results wanted; what is not asked for is not computed.
        frame: the link or tool frame, for kinematics. f_ext: True adds an argument (..., n_links, 6), names
        of links one of (..., len(names), 6). threads: at most so many; None for the global default.
        formulation: one by name instead of the cheapest. frames: for algorithms about several.
        derivative: "vjp", "jvp", "hvp" or "second" of the outputs, by all inputs (docs/derivatives.md).
        check_finite: None for the robot's setting.
        options: of the targets "cuda", "opencl": mapping, group_threads, device, partitioning (docs/gpu.md);
        of "fixed", "rtl": preset, format, bits and more about numbers (docs/fixed.md, docs/rtl.md).
        """
        if dtype not in ("float32", "float64"):
            raise ArgumentError(f"dtype: expected 'float32' or 'float64', found {dtype!r}")
        if threads is not None:
            threads = _whole_number("threads", threads, 1, _MOST_THREADS)
        request = make_request(
            self.model,
            algorithm,
            outputs=outputs,
            frame=frame,
            f_ext=f_ext,
            formulation=formulation,
            frames=frames,
            derivative=derivative,
        )
        return make_kernel(
            self.specialiser,
            request,
            target=target,
            dtype=str(dtype),  # a numpy.dtype is equal to its name, but another key of tables
            threads=threads or 0,
            check_finite=self.check_finite if check_finite is None else check_finite,
            options=options,
        )

    def _call(
        self,
        name: str,
        args: tuple[Any, ...],
        f_ext: Any = None,
        frame: str | None = None,
        more: tuple[Any, ...] = (),
    ) -> Any:
        links: tuple[str, ...] = ()
        if f_ext is not None:
            links, wrenches = self._wrenches.read(f_ext)
            args = (*args, wrenches) if links else args
        if frame is not None and not isinstance(frame, str):
            raise ArgumentError(f"frame: expected the name of a link or tool frame, found {frame!r}")
        dtype, args = typed_arguments(ALGORITHMS[name].inputs, args)
        for parameter, value in zip(ALGORITHMS[name].parameters, more, strict=False):
            array = _for_each(parameter, value, dtype, args[0])
            dtype, args = dtype if array.dtype == dtype else "float64", (*args, array)
        key = (name, dtype, links, frame, self.check_finite)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self.compile(name, dtype=dtype, f_ext=links or False, frame=frame)
        return kernel(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        # Kernels hold machine code, so a copy in another process compiles (or finds in the cache) its own.
        return _remake, (self.model, self.check_finite, self.record)

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {len(self.model.bodies)} joints, nq={self.nq}, nv={self.nv}>"


def _remake(model: Model, check_finite: bool, record: LoadRecord | None = None) -> Robot:
    return Robot(model, check_finite=check_finite, record=record)


def _for_each(name: str, value: Any, dtype: str, states: Any) -> Array:
    """A parameter as an array. A plain number decides nothing about the dtype; one for all states is written
    out, as kernels are slower where an argument is read again and again."""
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    array = as_array(name, value)
    array = array.astype(dtype) if plain else array
    lead = np.shape(states)[:-1]
    return np.full(lead, array) if array.ndim == 0 and lead else array


def _whole_number(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, (bool, np.bool_)) or not least <= number <= most:
        raise ArgumentError(f"{name}: expected a whole number from {least} to {most}, found {value!r}")
    return number


def _batch_shape(batch: Any) -> tuple[int, ...]:
    sizes = batch if isinstance(batch, (tuple, list)) else (batch,)
    return tuple(_whole_number("batch", n, 0, _LARGEST_BATCH) for n in sizes)
