"""The netlist: how it is printed, what follows from it, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robomorph.errors import TargetError
from robomorph.targets.rtl.cell_table import ADD, FIFO, MEMORY, MULTIPLY, ROUND
from robomorph.targets.rtl.chip import source_files
from robomorph.targets.rtl.expressions import Literal, Signal, choose, join, sign_extend, zero_extend
from robomorph.targets.rtl.hierarchy import cells, count, memory_bits, modules, register_bits
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.printer import print_module, text
from tests.targets.rtl.accelerators import PAPERS, accelerator


def counter() -> Module:
    """Counts up to 9 while enabled, and tells when it starts again."""
    m = Module("counter", ("Counts.",))
    m.input("clk_i")
    m.input("rst_ni")
    en = m.input("en_i", about="counts")
    out = m.output("count_o", 4)
    last = m.signal("last")
    m.assign(last, out.equals(9))
    m.register(out, choose(last, Literal(0, 4), out + Literal(1, 4)), enable=en, reset=0)
    m.assign(m.output("wrap_o"), last & en)
    return m


COUNTER = """\
// Counts.
module counter (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic en_i,  // counts
  output logic [3:0] count_o,
  output logic wrap_o
);
  logic last;

  assign last = count_o == 4'd9;
  assign wrap_o = last & en_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_o <= 4'd0;
    end else if (en_i) begin
      count_o <= last ? 4'd0 : (count_o + 4'd1);
    end
  end
endmodule
"""


def test_a_module_is_printed() -> None:
    assert print_module(counter()) == COUNTER


def odometer(digits: int) -> Module:
    """Counters in a row: a loop in Python, each digit counting when the one before it wraps."""
    digit, m = counter(), Module("odometer")
    m.input("clk_i")
    m.input("rst_ni")
    enable: Signal = m.input("en_i")
    made = []
    for k in range(digits):
        made.append(m.new_outputs(f"d{k}", digit))
        m.instance(f"u_d{k}", digit, {**m.named("clk_i", "rst_ni"), "en_i": enable, **made[k]})
        enable = made[k]["wrap_o"]
    m.assign(m.output("count_o", 4 * digits), join(*(one["count_o"] for one in reversed(made))))
    return m


def test_modules_in_modules() -> None:
    top = odometer(5)
    assert [module.name for module in modules(top)] == ["counter", "odometer"]
    assert count(top, "counter") == 5 and register_bits(top) == 20
    assert list(source_files(top)) == ["counter.sv", "odometer.sv"]
    assert "  counter u_d1 (.clk_i, .rst_ni, .en_i(d0_wrap_o), .count_o(d1_count_o)" in print_module(top)


def test_the_example_of_the_page_runs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "rtl.md").read_text(encoding="utf-8")
    block = page.split("Modules are put into modules by\nloops in Python:\n\n```python\n")[1].split("```")[0]
    made: dict[str, Any] = {}
    exec(compile(block, "rtl.md", "exec"), made)
    assert count(made["top"], "digit") == 5 and register_bits(made["top"]) == 20


def small() -> Module:
    m = Module("small")
    m.input("clk_i")
    m.input("a_i", 8)
    return m


def test_expressions_know_width_and_operands() -> None:
    m = small()
    a, b = m["a_i"], m.signal("b", 8)
    shown = {
        "a_i[3]": a.bits(3),
        "a_i[2 +: 4]": a.bits(2, 4),
        "a_i": a.bits(0, 8),
        "~(a_i & b)": ~(a & b),
        "|a_i": a.any(),
        "|(a_i | b)": (a | b).any(),
        "{a_i, b[0]}": join(a, b.bits(0)),
        "12'($signed(a_i))": sign_extend(a, 12),
        "{4'd0, a_i}": zero_extend(a, 12),
        "8'd255": Literal(-1, 8),
        "12'h7ff": Literal(2047, 12),
        "1'b1": Literal(1, 1),
        "b == 8'd7": b.equals(7),
    }
    assert {key: text(value) for key, value in shown.items()} == {key: key for key in shown}
    assert join(a, b.bits(0)).width == 9 and a.equals(b).width == 1 and sign_extend(a, 12).width == 12


def test_bits_that_nothing_reads_are_known_and_said_to_be_unused() -> None:
    m = small()
    m.assign(m.output("b_o", 3), m["a_i"].bits(2, 3))
    m.assign(m.signal("idle"), m["a_i"].bits(6))
    assert [text(part) for part in m.unread()] == ["clk_i", "a_i[0 +: 2]", "a_i[5]", "a_i[7]", "idle"]
    assert "  assign unused = ^{clk_i, a_i[0 +: 2], a_i[5], a_i[7], idle};" in print_module(m)


def test_used_cells_and_those_inside_them() -> None:
    m = small()
    m.input("rst_ni")
    wires = {
        **m.named("clk_i", "rst_ni"),
        "data_i": m["a_i"],
        "valid_i": Literal(1, 1),
        "ready_i": Literal(1, 1),
    }
    m.instance("u_queue", FIFO, {**wires, **m.new_outputs("queue", FIFO, W=8, Depth=4)}, W=8, Depth=4)
    assert [cell.name for cell in cells(m)] == ["rm_fifo", "rm_memory"]
    assert list(source_files(m)) == ["rm_fifo.sv", "rm_memory.sv", "small.sv"]
    assert memory_bits(m) == 32
    lines = print_module(m).splitlines()
    start = lines.index("  rm_fifo #(.W(8), .Depth(4)) u_queue (")
    assert lines[start + 1].startswith("    .clk_i, .rst_ni, .data_i(a_i), .valid_i(1'b1), .ready_i(1'b1),")
    assert max(map(len, lines)) < 120 and "  );" in lines


def test_the_last_choice_needs_no_test_and_equal_ones_share_a_label() -> None:
    m = small()
    out, a, b = m.output("y_o", 4), m["a_i"].bits(0, 4), m["a_i"].bits(4, 4)
    m.select(out, m.input("phase_i", 3), {0: a, 1: b, 2: a, 5: Literal(3, 4)})
    lines = [line.strip() for line in print_module(m).splitlines()]
    start = lines.index("case (phase_i)")
    assert lines[start + 1 : start + 4] == [
        "3'd0, 3'd2: y_o = a_i[0 +: 4];",
        "3'd1: y_o = a_i[4 +: 4];",
        "default: y_o = 4'd3;",
    ]


def _foreign(m: Module) -> None:
    m.assign(m.signal("b", 4), counter()["count_o"])


def _twice(m: Module) -> None:
    b = m.signal("b", 8)
    m.assign(b.bits(0, 4), m["a_i"].bits(0, 4))
    m.assign(b, m["a_i"])


def _wires(m: Module, **more: Any) -> dict[str, Any]:
    made = {"a_i": m["a_i"], "b_i": m["a_i"], "y_o": m.signal("y", 8), "overflow_o": m.signal("v")}
    return {**made, **more}


REFUSED: dict[str, tuple[Callable[[Module], object], str]] = {
    "undeclared": (lambda m: m["b"], "small has no signal 'b': declare it first"),
    "of another module": (_foreign, "count_o is not a signal of small"),
    "name taken": (lambda m: m.signal("a_i"), "small has two things named a_i"),
    "name of an instance taken": (
        lambda m: m.instance("a_i", ADD, _wires(m), W=8),
        "small has two things named a_i",
    ),
    "name that the printer uses": (lambda m: m.signal("unused"), "small has two things named unused"),
    "odd name": (lambda m: m.signal("a b"), "expected a name of letters and digits, found 'a b'"),
    "no bits": (lambda m: m.signal("b", 0), "small.b: expected at least one bit, found 0"),
    "width of a value": (
        lambda m: m.assign(m.signal("b", 4), m["a_i"]),
        "small.b: expected 4 bits, found a value of 8",
    ),
    "width of a choice": (
        lambda m: m.select(m.signal("b", 8), m["a_i"], {0: m["a_i"], 1: m["clk_i"]}),
        "small.b: expected 8 bits, found a value of 1",
    ),
    "width of a register": (
        lambda m: m.register(m.signal("b"), m["a_i"]),
        "small.b: expected 1 bits, found a value of 8",
    ),
    "width of an enable": (
        lambda m: m.register(m.signal("b", 8), m["a_i"], enable=m["a_i"]),
        "small.b: an enable is one bit, not 8",
    ),
    "width of operands": (
        lambda m: m["a_i"] & m["clk_i"],
        "& of a_i, clk_i: expected equal widths, found 8 and 1 bits",
    ),
    "width of a port": (
        lambda m: m.instance("u_b", ADD, _wires(m, b_i=m["clk_i"]), W=8),
        r"small.u_b \(rm_add\): b_i has 8 bits, found 1",
    ),
    "bits that are not there": (lambda m: m["a_i"].bits(6, 3), "a_i has bits 0 to 7, found 6 to 8"),
    "number too large": (lambda m: m["a_i"].equals(256), "256 does not fit into 8 bits"),
    "label too large": (
        lambda m: m.select(m.signal("b", 8), m.signal("c", 2), {4: m["a_i"]}),
        "4 does not fit into 2 bits",
    ),
    "narrower extension": (lambda m: sign_extend(m["a_i"], 4), "8 bits cannot be extended to 4"),
    "driven twice": (_twice, "small.b is driven twice"),
    "input driven": (lambda m: m.assign(m["a_i"], Literal(0, 8)), "small.a_i is driven twice"),
    "no such port": (
        lambda m: m.instance("u_b", ADD, _wires(m, c_i=m["a_i"]), W=8),
        "port c_i is not one of a_i, b_i, y_o, overflow_o",
    ),
    "port left open": (
        lambda m: m.instance("u_b", ROUND, {"x_i": m["a_i"]}, InW=8, Shift=0, OutW=8),
        "port y_o is not connected",
    ),
    "output to an expression": (
        lambda m: m.instance("u_b", ADD, _wires(m, y_o=~m["a_i"]), W=8),
        "the output y_o must drive a signal",
    ),
    "no such parameter": (
        lambda m: m.instance("u_b", ADD, _wires(m), W=8, Wide=1),
        "rm_add has no parameter Wide: it has W, AShift",
    ),
    "parameter missing": (
        lambda m: m.instance("u_b", MEMORY, {}, W=8),
        "rm_memory needs the parameter Depth",
    ),
    "reset without rst_ni": (
        lambda m: m.register(m.signal("b", 8), m["a_i"], reset=0),
        "small has no signal 'rst_ni'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    build, said = REFUSED[case]
    with pytest.raises(TargetError, match=said):
        build(small())


def test_a_module_that_was_refused_something_is_as_before() -> None:
    m = small()
    with pytest.raises(TargetError):
        _foreign(m)
    with pytest.raises(TargetError):
        m.assign(m["b"], m["a_i"].bits(0, 3))
    m.assign(m["b"], m["a_i"].bits(0, 4))
    assert print_module(m).count("assign b") == 1


def test_undriven_signals_are_refused_when_printed() -> None:
    m = small()
    b = m.signal("b", 8)
    m.assign(b.bits(0, 4), m["a_i"].bits(0, 4))
    m.output("c_o")
    assert [text(part) for part in m.undriven()] == ["b[4 +: 4]", "c_o"]
    with pytest.raises(TargetError, match="small: nothing drives b, c_o"):
        print_module(m)


def test_two_modules_of_one_name_and_modules_inside_themselves_are_refused() -> None:
    top = odometer(2)
    other = small()
    other.name = "counter"
    top.instance("u_other", other, {"clk_i": top["clk_i"], "a_i": top["count_o"]})
    with pytest.raises(TargetError, match="two modules are named counter"):
        modules(top)
    m = small()
    m.instance("u_self", m, m.named("clk_i", "a_i"))
    with pytest.raises(TargetError, match="small is inside itself"):
        modules(m)
    named = small()
    named.name = "rm_add"
    named.instance("u_b", ADD, _wires(named), W=8)
    with pytest.raises(TargetError, match="named like the cell rm_add"):
        source_files(named)


DESIGNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "flat": ("iiwa14", "forward_dynamics_gradient", {**PAPERS, "interval": 24}),
    "units": ("chain:4", "inverse_dynamics_gradient", {"structure": "units", "interval": 24, "queue": 16}),
    "pipelines": ("chain:3", "forward_dynamics", {"interval": 16, "bits": 20, "pipelines": 3}),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_netlist_has_what_the_schedule_model_says(name: str) -> None:
    robot, algorithm, options = DESIGNS[name]
    design = accelerator(robot, algorithm, **options).design
    top, stats = design.netlist, design.stats
    assert count(top, MULTIPLY.name) == stats.multipliers
    assert count(top, ADD.name) == stats.adders
    assert count(top, "rm_scale") == stats.constant_multipliers
    assert count(top, "rm_recip") == stats.reciprocal_units
    assert count(top, "rm_rotate") == stats.rotate_units
    assert memory_bits(top) == stats.memory_bits
    buffers = design.pipelines * sum(stream.buffer_bits for stream in design.streams)
    values = sum(
        count(top, m.name) * sum(r.target.width for r in m.registers() if r.enable is not None)
        for m in modules(top)[:-1]
        if m.name not in (f"{design.name}_pipeline", f"{design.name}_unqueued")
    )
    assert values == stats.flip_flops - buffers
    assert not any(m.undriven() for m in modules(top))
