"""Kernels as JAX functions, beside a trivial jitted call with as many results, and beside NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from robomorph.bench.goals import Goal
from robomorph.bench.measuring import Contestant, measure, relative_error
from robomorph.bench.records import OURS, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_error, show_ns, show_ratio
from robomorph.bench.session import Session
from robomorph.loading import load

NAME = "jax"
ROBOT = "iiwa14"
FUNCTIONS = ("forward_dynamics", "forward_dynamics_gradient")
BATCHES = (1, 1024)
NUMPY, JITTED, EAGER, TRIVIAL = "NumPy arrays", "jax.jit", "no jit of the caller's", "trivial jitted call"
PULL = "jax.jit of jax.grad"
_LARGE = 2_000_000


def _jobs(session: Session) -> list[Job]:
    if find_spec("jax") is None:
        session.note("JAX is not installed: pip install 'robomorph[jax]'")
        return []
    return [Job(f"{name}, batch {n}", partial(_run, session, name, n)) for name in FUNCTIONS for n in BATCHES]


def _run(session: Session, name: str, batch: int) -> list[Record]:
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        ways = _ways(name, batch)
        contestants = [Contestant(who, how, _loop(call), 1) for who, how, call in ways]
        timings = measure(contestants, session.effort)
        reference = _named(ways[0][2]())
        errors = [
            None if who != OURS or how == PULL else relative_error(_named(call()), reference)
            for who, how, call in ways
        ]
    finally:
        jax.config.update("jax_enable_x64", before)
    return [
        Record(NAME, ROBOT, name, who, how, batch=batch, timing=timing, error=error, reference=NUMPY)
        for (who, how, _), timing, error in zip(ways, timings, errors, strict=True)
    ]


def _ways(name: str, batch: int) -> list[tuple[str, str, Callable[[], Any]]]:
    """Who, how and a call that waits for its results; the first is the reference."""
    import jax
    import jax.numpy as jnp

    from robomorph.interop.jax.functions import Functions

    # As in programs that had larger arrays before: the C library then keeps the memory of such results. Until
    # then it gives the pages back after each call, and touching new ones costs a third of the kernel's time.
    large = np.ones(_LARGE)
    del large
    robot = load(ROBOT)
    functions, kernel = Functions(robot), robot.compile(name, threads=1)
    rng = np.random.default_rng(0)
    q = robot.random_state(rng, () if batch == 1 else batch).q
    given = [q, rng.normal(size=q.shape), rng.normal(size=q.shape)]
    there = [jax.device_put(x) for x in given]
    function = getattr(functions, name)

    def trivial(*x: Any) -> Any:
        """Results of the same shapes, of one addition each."""
        return [jnp.broadcast_to(jnp.sum(x[0]) + k, shape) for k, shape in enumerate(shapes)]

    results = kernel(*given)
    shapes = [np.shape(result) for result in (results if isinstance(results, tuple) else (results,))]
    ways = [
        (OURS, NUMPY, lambda: kernel(*given)),
        (OURS, JITTED, _waiting(jax.jit(function), there)),
        (OURS, EAGER, _waiting(function, there)),
        ("jax", TRIVIAL, _waiting(jax.jit(trivial), there)),
    ]
    if name == "forward_dynamics":
        gradient = jax.jit(jax.grad(lambda *x: function(*x).sum(), (0, 1, 2)))
        ways.append((OURS, PULL, _waiting(gradient, there)))
    return ways


def _waiting(function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
    import jax

    return lambda: jax.block_until_ready(function(*given))


def _named(results: Any) -> dict[str, Any]:
    return {
        str(k): np.atleast_1d(x) for k, x in enumerate(results if isinstance(results, tuple) else (results,))
    }


def _loop(call: Callable[[], object]) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in range(count):
            call()

    return loop


def _overhead_us(records: Records, function: str = FUNCTIONS[1]) -> float | None:
    """A jitted call of one state less the trivial one, in microseconds."""
    ours, trivial = (first(records, function=function, batch=1, how=how) for how in (JITTED, TRIVIAL))
    return None if ours is None or trivial is None else (ours.best_ns - trivial.best_ns) / 1e3


def _over_numpy(records: Records, function: str = FUNCTIONS[1], batch: int = BATCHES[1]) -> float | None:
    ours, numpy = (first(records, function=function, batch=batch, how=how) for how in (JITTED, NUMPY))
    return None if ours is None or numpy is None else ours.best_ns / numpy.best_ns


def _tables(records: Records) -> list[TableData]:
    rows = []
    for name in FUNCTIONS:
        for batch in BATCHES:
            found = {r.how: r for r in records if (r.function, r.batch) == (name, batch)}
            if not found:
                continue
            times = (
                show_ns(found[how].best_ns if how in found else None)
                for how in (NUMPY, TRIVIAL, JITTED, EAGER, PULL)
            )
            ratio = show_ratio(_over_numpy(records, name, batch))
            rows.append((name, f"{batch:,}", *times, ratio, show_error(found[JITTED].error)))
    columns = ("function", "batch", NUMPY, TRIVIAL, JITTED, EAGER, PULL, "jit over NumPy", "error")
    caption = (
        f"{ROBOT}, float64, one thread, time of one call until its results are there; the trivial call has"
        " results of the same shapes; the last way has three gradients as results; errors:"
        " against NumPy arrays"
    )
    return [TableData("calls from JAX", columns, rows, 2, caption)]


GOALS = (
    Goal("gradient of one state, over a trivial jitted call", 10.0, " us", _overhead_us, at_least=False),
    Goal("gradients of 1,024 states, over NumPy arrays", 1.25, "x", _over_numpy, at_least=False),
)
SECTION = Section(NAME, _jobs, _tables, GOALS)
