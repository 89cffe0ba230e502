"""Each pass does its own job: programs that would keep their cost if the pass did nothing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import robomorph.passes
from robomorph.ir.ops import ADD, CONST, COS, FMA, FMS, FNMA, INPUT, MUL, NEG, RECIP, SIN, SUB, Op
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.verify import verify
from robomorph.passes.chunk import chunk
from robomorph.passes.cse import cse
from robomorph.passes.dce import dce
from robomorph.passes.fold import fold
from robomorph.passes.fuse import fuse
from robomorph.passes.order import order
from robomorph.passes.pipeline import PASSES, SCHEDULE, SIMPLIFY, run_passes
from robomorph.passes.simplify import simplify

Entry = tuple[Op, tuple[int, ...]] | float


def program(*entries: Entry, results: Sequence[int] = (-1,)) -> Program:
    """Three inputs as %0, %1, %2, then the entries: a constant or (operation, arguments). Results count from
    the end if negative."""
    nodes = [Node(INPUT, (), float(k)) for k in range(3)]
    nodes += [Node(CONST, (), e) if isinstance(e, float) else Node(*e) for e in entries]
    places = [r % len(nodes) for r in results]
    made = Program("p", (Port("x", (3,)),), (Port("y", (len(places),)),), tuple(nodes), tuple(places))
    verify(made)
    return made


def result(made: Program) -> Node:
    return made.nodes[made.results[0]]


def test_dce_drops_what_no_result_needs() -> None:
    made = dce(program((MUL, (0, 1)), (SIN, (2,)), (ADD, (0, 3)), results=(3,)))
    assert made.counts() == {"mul": 1}
    assert made.inputs[0].size == 3, "inputs keep their place"


def test_fold_computes_constants() -> None:
    made = fold(program(2.0, 3.0, (MUL, (3, 4)), (SIN, (5,)), (NEG, (6,))))
    assert result(made).op is CONST
    assert result(made).value == pytest.approx(0.27941549819892586, abs=1e-16)  # -sin 6


def test_fold_leaves_a_division_by_zero_alone() -> None:
    made = fold(program(0.0, (RECIP, (3,))))
    assert result(made).op is RECIP


def test_cse_computes_the_same_once() -> None:
    made = dce(
        cse(program((MUL, (0, 1)), (MUL, (1, 0)), (ADD, (3, 4)), (SIN, (0,)), (SIN, (0,)), results=(5, 6, 7)))
    )
    assert made.counts() == {"mul": 1, "add": 1, "sin": 1}


def test_cse_knows_opposite_differences() -> None:
    made = dce(cse(program((SUB, (0, 1)), (SUB, (1, 0)), results=(3, 4))))
    assert made.counts() == {"sub": 1, "neg": 1}


IDENTITIES: dict[str, tuple[Program, dict[str, int]]] = {
    "x + 0": (program(0.0, (ADD, (0, 3))), {}),
    "0 - x": (program(0.0, (SUB, (3, 0))), {"neg": 1}),
    "x - x": (program((SUB, (0, 0))), {}),
    "1 x": (program(1.0, (MUL, (3, 0))), {}),
    "0 x": (program(0.0, (MUL, (0, 3))), {}),
    "-1 x": (program(-1.0, (MUL, (0, 3))), {"neg": 1}),
    "--x": (program((NEG, (0,)), (NEG, (3,))), {}),
    "x + (-y)": (program((NEG, (1,)), (ADD, (0, 3))), {"sub": 1}),
    "(-x) + y": (program((NEG, (0,)), (ADD, (3, 1))), {"sub": 1}),
    "x - (-y)": (program((NEG, (1,)), (SUB, (0, 3))), {"add": 1}),
    "(-x) - (-y)": (program((NEG, (0,)), (NEG, (1,)), (SUB, (3, 4))), {"sub": 1}),
    "(-x)(-y)": (program((NEG, (0,)), (NEG, (1,)), (MUL, (3, 4))), {"mul": 1}),
    "z + (-x) y": (program((NEG, (0,)), (MUL, (3, 1)), (ADD, (2, 4))), {"mul": 1, "sub": 1}),
    "z + (-2) y": (program(-2.0, (MUL, (3, 1)), (ADD, (2, 4))), {"mul": 1, "sub": 1}),
    "(-x) + (-y)": (program((NEG, (0,)), (NEG, (1,)), (ADD, (3, 4))), {"add": 1, "neg": 1}),
}


@pytest.mark.parametrize("case", IDENTITIES)
def test_simplify_knows(case: str) -> None:
    before, counts = IDENTITIES[case]
    assert dce(simplify(before)).counts() == counts


FUSED: dict[str, tuple[Program, Op, tuple[int, ...]]] = {
    "z + x y": (program((MUL, (0, 1)), (ADD, (2, 3))), FMA, (0, 1, 2)),
    "x y + z": (program((MUL, (0, 1)), (ADD, (3, 2))), FMA, (0, 1, 2)),
    "x y - z": (program((MUL, (0, 1)), (SUB, (3, 2))), FMS, (0, 1, 2)),
    "z - x y": (program((MUL, (0, 1)), (SUB, (2, 3))), FNMA, (0, 1, 2)),
}


@pytest.mark.parametrize("case", FUSED)
def test_fuse_joins(case: str) -> None:
    before, op, args = FUSED[case]
    made = fuse(before)
    assert made.counts() == {op.name: 1}
    assert tuple(int(made.nodes[a].value) for a in result(made).args) == args


def test_fuse_leaves_a_shared_product_alone() -> None:
    made = fuse(program((MUL, (0, 1)), (ADD, (2, 3)), (SUB, (2, 3)), results=(4, 5)))
    assert made.counts() == {"mul": 1, "add": 1, "sub": 1}
    made = fuse(program((MUL, (0, 1)), (ADD, (2, 3)), results=(3, 4)))
    assert made.counts() == {"mul": 1, "add": 1}


def test_order_puts_trigonometry_first_and_keeps_all_nodes() -> None:
    before = program((MUL, (0, 1)), (ADD, (3, 2)), (SIN, (0,)), (ADD, (4, 5)), (COS, (0,)), (MUL, (6, 7)))
    made = order(before)
    assert sorted(n.op.name for n in made.nodes) == sorted(n.op.name for n in before.nodes)
    trig = [i for i, n in enumerate(made.nodes) if n.op in (SIN, COS)]
    others = [i for i, n in enumerate(made.nodes) if n.args and n.op not in (SIN, COS)]
    assert max(trig) < min(others)


def long_program(length: int) -> Program:
    entries: list[Entry] = [(SIN, (0,)), *((ADD, (1, 3 + k)) for k in range(length))]
    return program(*entries)


def test_chunk_leaves_a_short_program_whole_after_its_trigonometry() -> None:
    made = chunk(long_program(100))
    verify(made)
    assert made.cuts == (4, 104)


def test_chunk_cuts_a_long_program_evenly() -> None:
    made = chunk(long_program(1000), whole=500, piece=100)
    verify(made)
    sizes = [b - a for a, b in zip(made.cuts, made.cuts[1:], strict=False)]
    assert made.cuts[0] == 4 and len(sizes) == 10 and set(sizes) == {100}
    assert made.nodes == long_program(1000).nodes


def test_chunk_of_nothing() -> None:
    empty = Program("empty", (), (), (), ())
    assert chunk(empty).cuts == ()


# --- the pipeline ----------------------------------------------------------------------------------


def test_every_pass_is_in_the_table() -> None:
    listed = {step.__name__ for step in SIMPLIFY + SCHEDULE}
    found = {m.name for m in pkgutil.iter_modules(robomorph.passes.__path__)} - {"pipeline", "rewrite"}
    assert found == set(PASSES) and listed <= found
    for name in listed:
        step: Callable[..., Any] = getattr(importlib.import_module(f"robomorph.passes.{name}"), name)
        first = next(iter(inspect.signature(step).parameters.values()))
        assert first.annotation == "Program"


def test_the_order_matters_where_it_must() -> None:
    assert SIMPLIFY[-1] is dce, "nothing dead reaches a target"
    assert SCHEDULE[-1] is chunk, "any later pass would drop the cuts"
    names = [step.__name__ for step in SIMPLIFY + SCHEDULE]
    assert names.index("fold") < names.index("simplify") < names.index("cse") < names.index("fuse")
    assert names.index("fuse") < names.index("order"), "fusing makes nodes that must be placed"


def test_the_pipeline_reaches_what_no_single_pass_does() -> None:
    """(2 - 1) x - (-y) z - y z = x: by folding, then simplifying, then sharing."""
    before = program(
        2.0, 1.0, (SUB, (3, 4)), (MUL, (5, 0)), (NEG, (1,)), (MUL, (7, 2)), (MUL, (2, 1)), (ADD, (8, 9)),
        (ADD, (6, 10)),
    )  # fmt: skip
    made = run_passes(before, SIMPLIFY)
    for step in SIMPLIFY:
        assert step(before).cost() > made.cost()
    assert made.cost() <= 3
