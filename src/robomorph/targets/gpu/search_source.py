"""Source of a search that runs on the device: a block per problem, its threads over the lengths of a step.

Residual and step are done by the block together, from instruction tables; the errors of a step's lengths as
straight-line code, a thread for each length. The loop around them is `templates/search.in`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError
from robomorph.ir.program import Port, Program
from robomorph.passes.chunk import chunk
from robomorph.passes.fuse import fuse
from robomorph.passes.layout import plan_layout
from robomorph.passes.order import order
from robomorph.targets.c_family import BlockPrinter, Places
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.group_source import (
    BLOCK_THREADS,
    OPT_IN_SHARED,
    phase_bounds,
    phase_count,
    round_lines,
    step_words,
)
from robomorph.targets.gpu.launch import LaunchPlan
from robomorph.targets.gpu.schedule import schedule
from robomorph.targets.gpu.signature import head_lines
from robomorph.targets.gpu.tables import GroupTables, make_tables
from robomorph.targets.gpu.thread_source import CHUNK
from robomorph.targets.templates import fill

Array = npt.NDArray[np.float64]

TABLE_THREADS = 32  # of a block that carry out tables: a warp, which the programs' parallelism fills in part
MOST_PASSES = 8  # at holding joints that a step takes beyond a limit
LEAST_DAMPING = 1e-11
_NO_DOF = 2**32 - 1


@dataclass(frozen=True)
class SearchPrograms:
    """What a search is made of.

    residual: (q, reference) -> (raw, jac); raw errors are the rows of the residual. step: (jac, err, bend,
    weights, mask, base, lam) -> (step, model). errors: (q, reference) -> raw.
    """

    residual: Program
    step: Program
    errors: Program


@dataclass(frozen=True)
class SearchRules:
    """Numbers that the source does not depend on, but for `dofs`.

    dofs: per coordinate the degree of freedom that adds to it, -1 where it keeps its value. lower, upper:
    (nq,). free: (nv,) 1, or 0 where a degree of freedom is held. weights, inverse_tolerance, group: per row.
    """

    dofs: tuple[int, ...]
    lower: Array
    upper: Array
    free: Array
    weights: tuple[float, ...]
    inverse_tolerance: tuple[float, ...]
    group: tuple[int, ...]
    speculations: int
    max_iterations: int


def block_threads(speculations: int) -> int:
    """Threads of a block: a power of two, one for each length of a step while there are as many."""
    threads = TABLE_THREADS
    while threads < min(speculations, BLOCK_THREADS):
        threads *= 2
    return threads


def search_plan(
    programs: SearchPrograms,
    rules: SearchRules,
    dialect: GpuDialect,
    dtype: str = "float64",
    *,
    shared_limit: int = OPT_IN_SHARED,
) -> LaunchPlan:
    """The kernel (reference, start) -> (q, iterations) for blocks of at most `shared_limit` bytes."""
    source = _Source(programs, rules, dialect, dtype)
    limit = min(OPT_IN_SHARED, shared_limit)
    shared = source.pool * int(np.dtype(dtype).itemsize)
    if shared > limit:
        raise TargetError(
            f"{source.symbol}: one problem needs {shared} bytes of shared memory, a block has {limit}: "
            'use on="cpu"'
        )
    tables = (source.residual, source.step)
    return LaunchPlan(
        mapping="search",
        symbol=source.symbol,
        source=source.text(),
        dtype=dtype,
        inputs=source.ports[0],
        outputs=source.ports[1],
        tables=source.tables(),
        block_threads=source.threads,
        evaluations=1,
        shared_bytes=shared,
        barriers=sum(map(phase_count, tables)) + 6,
        instructions=sum(t.schedule.rounds for t in tables) + sum(source.errors.counts().values()),
        flops=sum(p.cost() for p in (programs.residual, programs.step, programs.errors)),
        threads=source.threads,
    )


class _Source:
    def __init__(self, programs: SearchPrograms, rules: SearchRules, dialect: GpuDialect, dtype: str) -> None:
        self.programs, self.rules, self.dialect, self.dtype = programs, rules, dialect, dtype
        self.arithmetic = dialect.arithmetic(dtype)
        self.value = self.arithmetic.value
        self.symbol = f"{programs.step.name}_search"
        self.threads = block_threads(rules.speculations)
        self.residual, self.step = _tables(programs.residual), _tables(programs.step)
        q, reference = programs.residual.inputs
        self.ports = (reference, Port("start", q.shape)), (q, Port("iterations", (1,)))
        self.nq, self.references = q.size, reference.size
        self.rows, self.jacs = (port.size for port in programs.residual.outputs)
        self.nv = programs.step.outputs[0].size
        self.errors = chunk(order(fuse(programs.errors)), CHUNK)

    @property
    def pool(self) -> int:
        """Values of shared memory: both tables' slots, the step, costs and picks, a flag."""
        return self.residual.slots + self.step.slots + self.nv + 2 * self.threads + 1

    def tables(self) -> tuple[tuple[str, npt.NDArray[np.generic]], ...]:
        rules, both = self.rules, (self.residual, self.step)
        numbers = [t.constants for t in both]
        numbers += [rules.lower, rules.upper, rules.free]
        numbers += [np.array(rules.weights), np.array(rules.inverse_tolerance)]
        dofs = [v if v >= 0 else _NO_DOF for v in rules.dofs]
        end = rules.group[-1] + 1  # the last row ends a group
        settings = [rules.speculations, rules.max_iterations, *dofs, *rules.group, end]
        return (
            ("steps", np.concatenate([step_words(t) for t in both])),
            ("bounds", np.concatenate([phase_bounds(t) for t in both])),
            ("places", np.concatenate([t.places for t in both]).astype(np.uint32)),
            ("constants", np.concatenate(numbers).astype(self.dtype)),
            ("settings", np.array(settings, np.uint32)),
        )

    def text(self) -> str:
        about = [
            f"{self.threads} threads per problem, {TABLE_THREADS} of them on tables; {self.pool} values in "
            "shared memory"
        ]
        functions, calls = self._errors()
        values = {
            **self._words(),
            **self._numbers(),
            "functions": "\n".join(functions),
            "calls": "\n".join(f"                {line}" for line in calls),
            "rounds": self._rounds(),
            "load_reference": self._loop(
                self.references, f"q[{self.nq} + k] = reference[(size_t)problem * {self.references} + k];"
            ),
            "copy_jacobian": self._loop(self.jacs, f"jac[k] = pool[places[{self.rows} + k]];"),
        }
        head = head_lines(self.symbol, self.ports, self.dialect, self.dtype, about)
        return "\n".join(head) + fill("gpu", "search.in", values)

    def _words(self) -> dict[str, str]:
        """Words of the language and literals."""
        dialect, literal = self.dialect, self.arithmetic.literal
        return {
            "t": self.value,
            "kernel": dialect.kernel.format(n=self.threads),
            "symbol": self.symbol,
            "read_value": dialect.read.format(t=self.value),
            "write_value": dialect.write.format(t=self.value),
            "read_pair": dialect.read.format(t=dialect.pair),
            "read_unsigned": dialect.read.format(t="unsigned"),
            "own": dialect.share_write.format(t=self.value),
            "shared": dialect.shared.format(t=self.value, size=self.pool),
            "barrier": dialect.barrier,
            "thread": dialect.thread,
            "block": dialect.block,
            "zero": literal(0.0),
            "one": literal(1.0),
            "largest": literal(float(np.finfo(self.dtype).max)),
            "least_damping": literal(LEAST_DAMPING),
        }

    def _numbers(self) -> dict[str, str]:
        """Sizes and places: of step's inputs (jac, err, bend, weights, mask, base, lam) among others."""
        bends = self.programs.step.inputs[2].size
        first, second = len(self.residual.constants), len(self.step.constants)
        numbers = {
            "nq": self.nq,
            "nv": self.nv,
            "rows": self.rows,
            "jacs": self.jacs,
            "threads": self.threads,
            "constants": first + second,
            "residual_constants": first,
            "step_constants": second,
            "step_region": self.residual.slots,
            "step_inputs": self.residual.slots + second,
            "to_weights": self.rows + bends,
            "to_mask": 2 * self.rows + bends,
            "step_at": self.residual.slots + self.step.slots,
            "step_first": len(step_words(self.residual)) // 2,
            "bounds_first": phase_count(self.residual) + 1,
            "step_places": self.rows + self.jacs,
            "residual_phases": phase_count(self.residual),
            "step_phases": phase_count(self.step),
            "most_passes": MOST_PASSES,
            **{f"at_{stage}": k for k, stage in enumerate(("residual", "step", "end"))},
        }
        return {name: str(number) for name, number in numbers.items()}

    def _rounds(self) -> str:
        """The loops over either table, which have as many threads each."""
        guard = f"if (lane < {TABLE_THREADS}) "
        return round_lines("phases", TABLE_THREADS, self.dialect, self.dtype, guard).rstrip("\n")

    def _loop(self, count: int, body: str) -> str:
        """Nothing for a count of none: compilers warn of a loop that never runs."""
        return f"for (unsigned k = lane; k < {count}; k += {self.threads}) {body}" if count else ""

    def _errors(self) -> tuple[list[str], list[str]]:
        """Functions that compute the raw errors after a share of the step, and the calls of them."""
        layout = plan_layout(self.errors)
        printer = BlockPrinter(self.errors, layout, self.arithmetic, self._places())
        kinds = {
            "q": self.dialect.share_read.format(t=self.value),
            "step": self.dialect.share_read.format(t=self.value),
            "share": f"const {self.value}",
            "raw": self.dialect.private.format(t=self.value),
            "work": self.dialect.private.format(t=self.value),
        }
        functions: list[str] = []
        calls = [f"{self.value} work[{layout.slot_count}];"] if layout.slot_count else []
        for c in range(len(layout.chunks)):
            lines = printer.block(c).lines
            used = [name for name in kinds if any(re.search(rf"\b{name}\b", line) for line in lines)]
            params = ", ".join(f"{kinds[name]} {name}" for name in used)
            functions += [f"{self.dialect.function} errors{c}({params})", "{"]
            functions += [*(f"    {line}" for line in lines), "}", ""]
            calls.append(f"errors{c}({', '.join(used)});")
        return functions, calls

    def _places(self) -> Places:
        """A coordinate is where a share of the step would take it; the reference stands behind q."""
        moved = [
            f"q[{i}] + share * step[{v}]" if v >= 0 else f"q[{i}]" for i, v in enumerate(self.rules.dofs)
        ]
        given = [f"q[{self.nq + k}]" for k in range(self.references)]
        return Places([*moved, *given], [f"raw[{k}]" for k in range(self.rows)], "work")


def _tables(program: Program) -> GroupTables:
    try:
        return make_tables(schedule(fuse(program), TABLE_THREADS))
    except TargetError as error:
        reason = str(error).rpartition(":")[0]  # without the remedy for single kernels
        raise TargetError(f'{reason}: use on="cpu"') from error
