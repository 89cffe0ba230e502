"""Forward dynamics in Torch: the call, and gradients by the kernel that pulls weights back, beside matrices
of derivatives and Torch's products of them."""

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
from robomorph.robot import Robot

NAME = "torch"
ROBOT = "iiwa14"
FUNCTION = "forward_dynamics"
BATCHES = (1, 1024)
NUMPY, FORWARD, BOTH = "NumPy arrays", "call", "call and backward"
MATRICES, TRIVIAL = "by matrices", "trivial call and backward"
Way = tuple[str, str, Callable[[], Any]]


def _jobs(session: Session) -> list[Job]:
    if find_spec("torch") is None:
        session.note("Torch is not installed: pip install 'robomorph[torch]'")
        return []
    return [Job(f"{FUNCTION}, batch {n}", partial(_run, session, n)) for n in BATCHES]


def _run(session: Session, batch: int) -> list[Record]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ways = _ways(batch)
        timings = measure([Contestant(who, how, _loop(call), 1) for who, how, call in ways], session.effort)
        errors = _errors({how: call for _, how, call in ways})
    finally:
        torch.set_num_threads(before)
    return [
        Record(NAME, ROBOT, FUNCTION, who, how, batch=batch, timing=t, error=errors.get(how), reference=NUMPY)
        for (who, how, _), t in zip(ways, timings, strict=True)
    ]


def _errors(calls: dict[str, Callable[[], Any]]) -> dict[str, float | None]:
    """Of the call against NumPy's, of the gradients against those by matrices."""
    values, gradients = (
        relative_error(*({str(k): np.atleast_1d(x) for k, x in enumerate(calls[how]())} for how in pair))
        for pair in ((FORWARD, NUMPY), (BOTH, MATRICES))
    )
    return {NUMPY: 0.0, FORWARD: values, BOTH: gradients}


def _ways(batch: int) -> list[Way]:
    """Who, how and a call; all on one thread."""
    import torch

    from robomorph.interop.torch.functions import Functions

    robot = load(ROBOT)
    rng = np.random.default_rng(0)
    q = robot.random_state(rng, () if batch == 1 else batch).q
    given = [q, *(rng.normal(size=q.shape) for _ in range(2))]
    weights = torch.from_numpy(rng.normal(size=q.shape))
    plain, leaves = ([torch.tensor(x, requires_grad=grad) for x in given] for grad in (False, True))
    kernel, function = robot.compile(FUNCTION, threads=1), Functions(robot).forward_dynamics
    by_matrices = _by_matrices(robot)

    def pulled(call: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: torch.autograd.grad(call(*leaves), leaves, weights)

    return [
        (OURS, NUMPY, lambda: (kernel(*given),)),
        (OURS, FORWARD, lambda: (function(*plain),)),
        (OURS, BOTH, pulled(function)),
        (OURS, MATRICES, pulled(by_matrices)),
        ("torch", TRIVIAL, pulled(lambda q, qd, tau: q + qd + tau)),
    ]


def _by_matrices(robot: Robot) -> Callable[..., Any]:
    """As users of `forward_dynamics_gradient` would have it: its matrices kept, and multiplied by weights."""
    import torch

    kernel = robot.compile("forward_dynamics_gradient", threads=1)

    class ByMatrices(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(ctx: Any, *x: Any) -> Any:
            value, *matrices = map(torch.from_numpy, kernel(*(a.detach().numpy() for a in x)))
            ctx.save_for_backward(*matrices)
            return value

        @staticmethod
        def backward(ctx: Any, weights: Any) -> Any:
            return tuple((weights[..., None, :] @ matrix)[..., 0, :] for matrix in ctx.saved_tensors)

    apply: Callable[..., Any] = ByMatrices.apply
    return apply


def _loop(call: Callable[[], object]) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in range(count):
            call()

    return loop


def _over_matrices(records: Records, batch: int = BATCHES[1]) -> float | None:
    ours, matrices = (first(records, batch=batch, how=how) for how in (BOTH, MATRICES))
    return None if ours is None or matrices is None else matrices.best_ns / ours.best_ns


def _tables(records: Records) -> list[TableData]:
    rows = []
    hows = (NUMPY, FORWARD, TRIVIAL, BOTH, MATRICES)
    for batch in BATCHES:
        found = {r.how: r for r in records if r.batch == batch}
        if found:
            times = (show_ns(found[how].best_ns if how in found else None) for how in hows)
            error = show_error(found[BOTH].error) if BOTH in found else "-"
            rows.append((f"{batch:,}", *times, show_ratio(_over_matrices(records, batch)), error))
    caption = (
        f"{FUNCTION} of {ROBOT}, float64, one thread, time of one call; backward to q, qd and tau; by"
        " matrices: forward_dynamics_gradient, then Torch's products; errors of gradients against those"
    )
    return [TableData("calls from Torch", ("batch", *hows, "ratio of the last", "error"), rows, 1, caption)]


GOALS = (Goal("call and backward of 1,024 states, below that by matrices", 2.0, "x", _over_matrices),)
SECTION = Section(NAME, _jobs, _tables, GOALS)
