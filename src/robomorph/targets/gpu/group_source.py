"""Source of the thread-group mapping: a few loops over the instruction tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError
from robomorph.ir.program import Program
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.launch import SHARED_LIMIT, LaunchPlan
from robomorph.targets.gpu.schedule import group_threads, schedule
from robomorph.targets.gpu.signature import heading, kernel_lines, load_lines, output_names, parameters
from robomorph.targets.gpu.tables import (
    MAX_SLOTS,
    NEGATE_ADDEND,
    NEGATE_PRODUCT,
    STORE,
    USE_ACCUMULATOR,
    GroupTables,
    make_tables,
)

BLOCK_THREADS = 128
OPT_IN_SHARED = 99 * 1024  # bytes a block can ask for on every CUDA device since sm_80

ROUNDS = """\
    // Phases, a barrier after each. In a phase all threads step through the same rounds; each takes the
    // operands of its own instruction: +-a b +- c, stored or kept for the next round.
    for (unsigned phase = 0; phase < {phases}; ++phase) {{
        {t} kept = {zero};
        {guard}for (unsigned round = bounds[phase]; round < bounds[phase + 1]; ++round) {{
            const {pair} step = steps[round * {threads} + lane];
            const unsigned a = step.x & 0xffff, b = step.x >> 16, c = step.y & 0xffff, d = step.y >> 16;
            const {t} factor = a & {neg_a:#x} ? -own[a & {mask:#x}] : own[a & {mask:#x}];
            const {t} addend = c & {acc:#x} ? kept : own[c & {mask:#x}];
            kept = {fma}(factor, own[b & {mask:#x}], c & {neg_c:#x} ? -addend : addend);
            if (b >> 14) kept = b >> 14 == 1 ? {one} / kept : b >> 14 == 2 ? {sin}(kept) : {cos}(kept);
            if (d & {store:#x}) own[d & {mask:#x}] = kept;
        }}
        {barrier};
    }}
"""


def group_plan(
    program: Program,
    dialect: GpuDialect,
    dtype: str,
    *,
    threads: int | None = None,
    max_barriers: int | None = None,
    shared_limit: int = OPT_IN_SHARED,
) -> LaunchPlan:
    """The thread-group kernel of a fused program. Small groups are packed, several to a warp and block.

    shared_limit: bytes that the device gives a block.
    """
    tables = make_tables(schedule(program, threads or group_threads(program), max_barriers))
    itemsize = int(np.dtype(dtype).itemsize)
    limit = min(OPT_IN_SHARED, shared_limit)
    if tables.stride * itemsize > limit:
        raise TargetError(
            f"{program.name}: one evaluation needs {tables.stride * itemsize} bytes of shared memory, a "
            f'block has {limit}: use mapping="thread"'
        )
    group = tables.schedule.threads
    room = max(1, min(SHARED_LIMIT, limit) // (tables.stride * itemsize))
    evaluations = max(1, min(BLOCK_THREADS // group, room))
    return LaunchPlan(
        mapping="group",
        symbol=f"{program.name}_group",
        source=_source(program, tables, dialect, dtype, evaluations),
        dtype=dtype,
        inputs=program.inputs,
        outputs=program.outputs,
        tables=(
            ("steps", step_words(tables)),
            ("bounds", phase_bounds(tables)),
            ("places", tables.places.astype(np.uint32)),
            ("constants", tables.constants.astype(dtype)),
        ),
        block_threads=group * evaluations,
        evaluations=evaluations,
        shared_bytes=evaluations * tables.stride * itemsize,
        barriers=phase_count(tables) + 1,
        instructions=tables.schedule.rounds,
        flops=program.cost(),
        threads=group,
    )


def phase_count(tables: GroupTables) -> int:
    """A program of constants and arguments alone has one empty phase: compilers warn of a loop over none."""
    return max(1, len(tables.schedule.phases))


def phase_bounds(tables: GroupTables) -> npt.NDArray[np.uint32]:
    return tables.bounds if tables.schedule.phases else np.zeros(2, np.uint32)


def step_words(tables: GroupTables) -> npt.NDArray[np.uint32]:
    """Instructions as pairs of words; one that is never read if there are none, as no memory is empty."""
    if not tables.steps.size:
        return np.zeros(2, np.uint32)
    return np.ascontiguousarray(tables.steps).view(np.uint32).reshape(-1)


def _source(program: Program, tables: GroupTables, dialect: GpuDialect, dtype: str, evaluations: int) -> str:
    value = dialect.arithmetic(dtype).value
    group = tables.schedule.threads
    block = group * evaluations
    about = [
        f"{group} threads per evaluation, {evaluations} evaluations per block of {block} threads",
        f"{phase_count(tables)} phases, {phase_count(tables) + 1} barriers, "
        f"{tables.schedule.rounds} rounds, {tables.slots} values in shared memory per evaluation",
    ]
    table_types = [
        (dialect.pair, "steps"),
        ("unsigned", "bounds"),
        ("unsigned", "places"),
        (value, "constants"),
    ]
    lines = heading(program, dialect, dtype, about)
    lines += kernel_lines(
        dialect, f"{program.name}_group", block, parameters(program, dialect, value, table_types)
    )
    lines += _locals(tables, dialect, value, evaluations)
    constants = len(tables.constants)
    lines += [
        f"    for (unsigned k = thread; k < {evaluations * constants}; k += {block})",
        f"        pool[k / {constants} * {tables.stride} + k % {constants}] = constants[k % {constants}];",
    ]
    lines += load_lines(
        program.inputs, evaluations=evaluations, threads=block, stride=tables.stride, first=constants
    )
    lines += [f"    {dialect.barrier};", round_lines(phase_count(tables), group, dialect, dtype)]
    lines += _store_lines(program, tables, evaluations, block)
    return "\n".join([*lines, "}"]) + "\n"


def _locals(tables: GroupTables, dialect: GpuDialect, value: str, evaluations: int) -> list[str]:
    size = evaluations * tables.stride
    group = tables.schedule.threads
    own = dialect.share_write.format(t=value)
    return [
        f"    {dialect.shared.format(t=value, size=size)}",
        f"    const unsigned thread = {dialect.thread};",
        f"    const unsigned lane = thread % {group};",
        f"    const unsigned first = {dialect.block} * {evaluations};",
        f"    {own} own = pool + thread / {group} * {tables.stride};",
    ]


def round_lines(phases: int | str, threads: int, dialect: GpuDialect, dtype: str, guard: str = "") -> str:
    """Loops that carry out tables of so many phases and threads, over the names `own`, `steps`, `bounds` and
    `lane`. A `guard` keeps threads that are not of the group from the work, not from the barriers."""
    arithmetic = dialect.arithmetic(dtype)
    return ROUNDS.format(
        guard=guard,
        t=arithmetic.value,
        zero=arithmetic.literal(0.0),
        one=arithmetic.literal(1.0),
        phases=phases,
        threads=threads,
        pair=dialect.pair,
        mask=MAX_SLOTS - 1,
        neg_a=NEGATE_PRODUCT,
        neg_c=NEGATE_ADDEND,
        acc=USE_ACCUMULATOR,
        store=STORE,
        fma=dialect.math("fma", dtype),
        sin=dialect.math("sin", dtype),
        cos=dialect.math("cos", dtype),
        barrier=dialect.barrier,
    )


def _store_lines(program: Program, tables: GroupTables, evaluations: int, block: int) -> list[str]:
    """Copy results out, neighbouring threads writing neighbouring addresses."""
    lines: list[str] = []
    at = 0
    for port, name in zip(program.outputs, output_names(program), strict=True):
        slot = f"places[{at} + k % {port.size}]"
        lines += [
            f"    for (unsigned k = thread; k < {evaluations * port.size}; k += {block})",
            f"        if (first + k / {port.size} < n)",
            f"            {name}[(size_t)first * {port.size} + k] ="
            f" pool[k / {port.size} * {tables.stride} + {slot}];",
        ]
        at += port.size
    return lines
