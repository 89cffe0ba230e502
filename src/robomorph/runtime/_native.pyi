"""Types of the native launcher; its C++ sources are in `native/` at the top of the repository."""

from typing import Any, Literal, SupportsIndex

_Shapes = tuple[tuple[int, ...], ...]

class NativeKernel:
    """A compiled kernel, called with NumPy arrays.

    Both functions have the C signature `void fn(const void *const *in, void *const *out, void *workspace)`.
    `lane_fn` evaluates exactly `lanes` consecutive rows of row-major arrays, `single_fn` exactly one; a row
    of argument i has the shape `in_shapes[i]`. Arrays are aligned for their element type only; `workspace` is
    64-byte aligned, private to the thread and at least `workspace` bytes long. Whoever makes a kernel keeps
    the code behind the addresses alive for as long as the kernel.

    Arguments that are C-contiguous arrays of the kernel's dtype with equal batch dimensions take the fast
    path. All others are handed to `_slow_call`, which a subclass overrides to convert or to explain.

    `unit_parts` (argument, first entry, count) are entries of an argument's rows that must have length one,
    within `unit_tolerance`.
    """

    def __init__(
        self,
        *,
        in_shapes: _Shapes,
        out_shapes: _Shapes,
        dtype: Literal["float32", "float64"],
        lane_fn: int = 0,
        lanes: int = 1,
        single_fn: int = 0,
        workspace: int = 0,
        result_type: type[tuple[Any, ...]] | None = None,
        threads: int = 0,
        check_finite: bool = True,
        unit_parts: tuple[tuple[int, int, int], ...] = (),
        unit_tolerance: float = 0.0,
    ) -> None: ...
    @property
    def in_shapes(self) -> _Shapes: ...
    @property
    def out_shapes(self) -> _Shapes: ...
    @property
    def dtype(self) -> Literal["float32", "float64"]: ...
    @property
    def result_type(self) -> type[tuple[Any, ...]] | None: ...
    @property
    def lanes(self) -> int: ...
    @property
    def lane_fn(self) -> int: ...
    @property
    def single_fn(self) -> int: ...

    workspace: int
    """Bytes of workspace for each thread; may only grow. Set it before the function that needs it."""
    threads: int
    """Most threads a call uses; 0 for the global default."""
    check_finite: bool
    """Whether arguments are scanned for NaN, infinities and units of other length before the kernel runs."""
    single_limit: int
    """Batches of fewer rows run row by row through `single_fn` (default 2)."""
    min_blocks_per_thread: int
    """Least number of blocks of `lanes` rows that is worth a thread (default 1)."""
    release_gil_above: int
    """Batches of more rows let other Python threads run meanwhile (default 16)."""

    def __call__(self, *args: object, out: object = None) -> Any:
        """The result array or named tuple; with `out`, `out` itself, filled."""
    def set_lane_fn(self, address: int, /) -> None: ...
    def set_single_fn(self, address: int, /) -> None: ...
    def set_blocks_fn(self, address: int, blocks: int, /) -> None:
        """A function for `blocks` times as many rows as `lane_fn` takes: used first, for as many rows as it
        can. For code too long for the instruction cache, which it then reads once for all of them."""
    def _run(self, args: tuple[object, ...], out: object = None, /) -> Any:
        """The call without conversions; TypeError when an argument needs one."""
    def _run_spawning(self, args: tuple[object, ...], out: object = None, /) -> Any:
        """Like `_run`, on threads started for this one call; for benchmarks."""
    def _slow_call(self, args: tuple[object, ...], out: object = None, /) -> Any:
        """Called when arguments or `out` are unfit for the fast path. Here, as `_run`."""
    def _prepare(self, batch: int, /) -> object:
        """Called when the function for this batch size is not set; must set it. Here, RuntimeError."""
    def _report_bad_values(self, args: tuple[object, ...], /) -> object:
        """Called when the scan of the arguments finds what it must not; must raise. Here, ValueError."""

def set_default_threads(threads: SupportsIndex, /) -> None:
    """Threads a call uses when its kernel does not say.

    At import: ROBOMORPH_NUM_THREADS, else the number of CPUs this process may use.
    """

def get_default_threads() -> int: ...
def get_stream_above() -> int:
    """Results of more bytes than this are written past the cache: three quarters of the last-level cache, or
    more than any result has where its size is not known."""

def set_stream_above(size: int, /) -> None:
    """Results of more bytes than this are written past the cache. For tests: the bits are the same."""

def waiting_buffers() -> int:
    """Bytes of dropped results that wait to be used again."""

def drop_buffers() -> None:
    """Gives the memory of dropped results back to the system."""

def pool_size() -> int:
    """Worker threads alive now, the calling thread not counted."""

def shutdown_pool() -> bool:
    """Ends the worker threads; the next call starts new ones.

    False, and nothing is done, while a call uses them.
    """

def xla_handler(minor: int, /) -> Any:
    """A capsule with the handler that XLA calls for every kernel, said to be made for version 0.minor of its
    foreign-function interface."""

def xla_add(name: str, kernel: NativeKernel, check_units: bool, /) -> None:
    """Lets compiled XLA programs call the code that the kernel has by now, by this name, for as long as the
    process lives. `check_units`: rows whose unit parts have another length give NaN."""

def ik_plan(
    *,
    lanes: int,
    residual: int,
    step: int,
    errors: int,
    trig: int,
    workspace: int,
    sizes: tuple[int, int, int, int, int, int, int],
    blocks: Any,
    joints: Any,
    limits: Any,
    weights: Any,
    tolerance: Any,
    group: Any,
    gain_ratio: bool,
    polish: bool,
    speculations: int,
    longest_share: float,
    relaxation: float,
    wide_lanes: int,
    choice: int,
    max_starts: int,
    candidates: int,
    max_iterations: int,
    near_enough: float,
    seed: int,
) -> object:
    """A compiled inverse-kinematics problem; `sizes` are nq, nv, targets, raw errors, rows, computed entries
    of the Jacobian, and rotations measured about their own axes. Whoever makes it keeps the code alive."""

def ik_solve(plan: object, target: Any, start: Any, posture: Any, threads: int, /) -> tuple[Any, ...]:
    """(q, success, position error, rotation error, iterations, starts) of every row; all threads if 0."""

def ik_numbers(value: object, /) -> Any | None:
    """A contiguous float64 array of an array, list or tuple of numbers; None for anything else."""

def ik_pack_poses(poses: object, /) -> Any | None:
    """(n, 12): positions and rotations of clean float64 poses (..., 4, 4); None for anything else."""

def ik_pack_rows(rows: object, size: int, /) -> Any | None:
    """(n, size) of finite, contiguous float64 rows (..., size); None for anything else."""

def motion_problem(
    numbers: dict[str, Any], kernels: dict[str, tuple[int, ...]], threads: int, keep: object, /
) -> object:
    """A motion problem, for one call at a time: see solvers/native_problem.py. `keep` lives with it."""

def motion_sizes(problem: object, /) -> dict[str, int]:
    """variables, rows, block, blocks, reach, border."""

def motion_initial(problem: object, /) -> Any:
    """x (variables,) that the problem came with."""

def motion_bounds(problem: object, /) -> tuple[Any, Any, Any]:
    """Lower and upper bounds as they are drawn in now, and margins (rows,)."""

def motion_refresh_margins(problem: object, x: Any, /) -> bool:
    """Estimates margins anew; have they changed?"""

def motion_values(problem: object, x: Any, /) -> tuple[bool, float, Any]:
    """Is all finite, cost, rows (rows,)."""

def motion_linearise(problem: object, x: Any, /) -> tuple[bool, Any]:
    """Is all finite, the cost's gradient (variables,)."""

def motion_times(problem: object, direction: Any, /) -> Any:
    """J direction (rows,), at the x that was linearised last."""

def motion_transposed_times(problem: object, multipliers: Any, /) -> Any:
    """J' multipliers (variables,), at the x that was linearised last."""

def motion_condensed(
    problem: object, cost_scale: float, multipliers: Any, weights: Any, exact: bool, /
) -> Any:
    """(variables, variables), at the x that was linearised last."""

def mpc_solver(
    numbers: dict[str, Any],
    kernels: dict[str, tuple[int, int]],
    arrays: dict[str, Any],
    keep: object,
    /,
) -> object:
    """A solver of control problems over arrays that stay the caller's; `keep` lives with it."""

def mpc_memory(solver: object, /) -> int:
    """Bytes that the solver took when it was made."""

def mpc_step(solver: object, deadline: float, elapsed: float, iterations: int, warm: bool, /) -> None:
    """One step, from and into the solver's arrays."""

def motion_solve(
    problem: object, x: Any, options: dict[str, Any], progress: object | None, multipliers: Any | None, /
) -> dict[str, Any]:
    """Where the solver ended: status, x, multipliers, rows, cost, times and more. `progress` is called with a
    dictionary after every iteration; False from it stops."""
