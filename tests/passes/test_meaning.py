"""Every pass, and every pipeline, keeps programs legal and what it promises of their meaning."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np
import pytest

import robomorph
from robomorph.compiler.specialise import make_request
from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Node, Program
from robomorph.passes.chunk import chunk
from robomorph.passes.layout import plan_layout
from robomorph.passes.order import order
from robomorph.passes.pad import pad
from robomorph.passes.pipeline import PASSES, SCHEDULE, SIMPLIFY, Keeps, run_passes
from robomorph.passes.trigonometry import split_trigonometry
from tests.passes.promises import check, programs

Pass = Callable[[Program], Program]
PIPELINES = {"SIMPLIFY": SIMPLIFY, "SIMPLIFY + SCHEDULE": SIMPLIFY + SCHEDULE}


def padded(program: Program) -> Program:
    """Padded, then looked up again where every result must be; zeros elsewhere."""
    port = program.outputs[0]
    larger = (port.shape[0] + 2, port.shape[1] + 3)
    made = pad(program, port.name, larger)
    assert [p.shape for p in made.outputs] == [larger, *(p.shape for p in program.outputs[1:])]
    places = np.arange(larger[0] * larger[1]).reshape(larger)
    inside = places[: port.shape[0], : port.shape[1]].ravel().tolist()
    for k in set(places.ravel().tolist()) - set(inside):
        assert made.nodes[made.results[k]] == Node(CONST, (), 0.0)
    results = [made.results[k] for k in inside] + list(made.results[places.size :])
    return program.with_nodes(made.nodes, results)


def through_slots(program: Program) -> Program:
    """Every argument from an earlier chunk replaced by what its slot holds by then."""
    cut = chunk(order(program), whole=1, piece=3)
    plan = plan_layout(cut)
    holds: dict[int, int] = {}
    nodes: list[Node] = []
    for part in plan.chunks:
        for i in part:
            node = cut.nodes[i]
            leaves = [cut.nodes[a].op in (CONST, INPUT) for a in node.args]
            args = [
                a if leaf or a in part else holds[plan.slots[a]]
                for a, leaf in zip(node.args, leaves, strict=True)
            ]
            nodes.append(Node(node.op, tuple(args), node.value))
            if i in plan.slots:
                assert plan.slots[i] < plan.slot_count
                holds[plan.slots[i]] = i
    return cut.with_nodes(nodes, cut.results)


def joined(program: Program) -> Program:
    """Host and chip in one program again."""
    host, chip = split_trigonometry(program)
    assert not {"sin", "cos"} & set(chip.counts())
    nodes, place = list(host.nodes), []
    for node in chip.nodes:
        if node.op is INPUT and node.value >= program.input_size:
            place.append(host.results[int(node.value) - program.input_size])
        else:
            nodes.append(Node(node.op, tuple(place[a] for a in node.args), node.value))
            place.append(len(nodes) - 1)
    return program.with_nodes(nodes, [place[r] for r in chip.results])


# Those that are not from a program to one with the same ports.
FORMS: dict[str, Pass] = {"pad": padded, "layout": through_slots, "trigonometry": joined}


def transform_of(name: str) -> Pass:
    if name in PIPELINES:
        return lambda program: run_passes(program, PIPELINES[name])
    if name in FORMS:
        return FORMS[name]
    found: Pass = getattr(importlib.import_module(f"robomorph.passes.{name}"), name)
    return found


def promise_of(name: str) -> Keeps:
    """A pipeline keeps what the weakest of its passes does."""
    names = [step.__name__ for step in PIPELINES[name]] if name in PIPELINES else [name]
    return max((PASSES[n] for n in names), key=list(Keeps).index)


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_a_pass_keeps_what_it_promises(name: str) -> None:
    keeps = promise_of(name)
    found = check(transform_of(name), keeps)
    assert found.broken is None, f"{name} keeps {keeps.value}, it is said: {found.broken}"
    assert found.compared > (2_000 if keeps is Keeps.SUMS else 30_000)
    assert found.sharp > 500 or keeps in (Keeps.BITS, Keeps.NUMBERS)


@pytest.mark.parametrize("name", [n for n in PASSES if PASSES[n] is not Keeps.BITS])
def test_a_promise_is_not_smaller_than_need_be(name: str) -> None:
    """The next larger promise would be broken: the table says what is so, not what is safe to say."""
    larger = {Keeps.NUMBERS: Keeps.BITS, Keeps.FUSED: Keeps.BITS, Keeps.SUMS: Keeps.FUSED}[PASSES[name]]
    assert check(transform_of(name), larger).broken is not None


def test_programs_hold_every_operation() -> None:
    from robomorph.ir.ops import OPS

    used = {node.op.name for program in programs() for node in program.nodes}
    assert used == set(OPS)


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_the_result_only_depends_on_the_program(name: str) -> None:
    program = robot_program()
    if name in FORMS:
        program = programs()[0]
    assert transform_of(name)(program) == transform_of(name)(program)


@pytest.mark.parametrize("name", [*(s.__name__ for s in dict.fromkeys(SIMPLIFY)), "SIMPLIFY"])
def test_simplification_never_costs(name: str) -> None:
    transform = transform_of(name)
    for program in programs():
        # A negation may be split off a shared product, but never more than one per operation.
        assert transform(program).cost() <= 2 * program.cost()
    program = robot_program()
    assert transform(program).cost() <= program.cost()


def robot_program() -> Program:
    robot = robomorph.load("iiwa14")
    return robot.specialiser.specialise(make_request(robot.model, "inverse_dynamics")).program
