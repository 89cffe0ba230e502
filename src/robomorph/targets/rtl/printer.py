"""The netlist as SystemVerilog. Declarations come first, as the standard wants; registers that load under the
same condition share a block; bits that nothing reads are said to be unused."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from robomorph.errors import TargetError
from robomorph.targets.rtl.expressions import Expression, Literal, Operation, Signal, Slice, Target, place
from robomorph.targets.rtl.netlist import Assign, Case, Instance, Item, Module, Register

_TEMPLATES = {
    "&": "{0} & {1}",
    "|": "{0} | {1}",
    "+": "{0} + {1}",
    "==": "{0} == {1}",
    "~": "~{0}",
    "any": "|{0}",
    "choose": "{0} ? {1} : {2}",
    "extend": "{width}'($signed({0}))",
}
_LINE = 118  # characters, of instances
_CLOCKS = {False: "@(posedge clk_i)", True: "@(posedge clk_i or negedge rst_ni)"}


def print_module(module: Module) -> str:
    """The module's text. TargetError if some of its signals have no driver."""
    if missing := module.undriven():
        names = ", ".join(sorted({place(part)[0].name for part in missing}))
        raise TargetError(f"netlist: {module.name}: nothing drives {names}")
    inside = [s for name, s in module.signals.items() if name not in module.directions]
    lines = [*(f"// {line}" for line in module.about), f"module {module.name} ("]
    lines += [*_ports(module), ");", *(f"  {_declared(s)};" for s in inside), ""]
    for number, item in enumerate(module.items):
        if number in module.comments:
            lines.append(f"  // {module.comments[number]}")
        lines += _item(item)
    lines += _registers(module)
    if unread := module.unread():
        lines += ["  logic unused;", f"  assign unused = ^{{{', '.join(map(text, unread))}}};"]
    return "\n".join([*lines, "endmodule", ""])


def text(expression: Expression, *, inner: bool = False) -> str:
    """An expression; as an operand (`inner`), in parentheses if it needs any."""
    if isinstance(expression, Signal):
        return expression.name
    if isinstance(expression, Slice):
        one = f"{expression.signal.name}[{expression.low}"
        return f"{one}]" if expression.width == 1 else f"{one} +: {expression.width}]"
    if isinstance(expression, Literal):
        return _number(expression)
    assert isinstance(expression, Operation)
    if expression.op == "join":
        return f"{{{', '.join(text(part) for part in expression.operands)}}}"
    operands = [text(operand, inner=expression.op != "extend") for operand in expression.operands]
    made = _TEMPLATES[expression.op].format(*operands, width=expression.width)
    return f"({made})" if inner and expression.op != "extend" else made


def _number(literal: Literal) -> str:
    value, width = literal.value & ((1 << literal.width) - 1), literal.width
    if width == 1:
        return f"1'b{value}"
    return f"{width}'d{value}" if width <= 8 else f"{width}'h{value:x}"


def _declared(signal: Signal) -> str:
    kind = "logic signed" if signal.signed else "logic"
    return f"{kind} {signal.name}" if signal.width == 1 else f"{kind} [{signal.width - 1}:0] {signal.name}"


def _ports(module: Module) -> Iterator[str]:
    last = len(module.directions) - 1
    for number, (name, direction) in enumerate(module.directions.items()):
        signal = module.signals[name]
        line = f"  {direction:6} {_declared(signal)}{',' if number < last else ''}"
        yield f"{line}  // {signal.about}" if signal.about else line


def _item(item: Item) -> list[str]:
    if isinstance(item, Assign):
        return [f"  assign {text(item.target)} = {text(item.value)};"]
    if isinstance(item, Case):
        return _case(item)
    return _instance(item) if isinstance(item, Instance) else []


def _case(case: Case) -> list[str]:
    lines = ["  always_comb begin", f"    case ({text(case.subject)})"]
    for numbers, value in case.choices:
        label = ", ".join(_number(Literal(number, case.subject.width)) for number in numbers)
        lines.append(f"      {label}: {_blocking(case.target, value)}")
    return [*lines, f"      default: {_blocking(case.target, case.other)}", "    endcase", "  end"]


def _blocking(target: Target, value: Expression) -> str:
    return f"{text(target)} = {text(value)};"


def _instance(one: Instance) -> list[str]:
    values = ", ".join(
        f".{name}({_number(value) if isinstance(value, Literal) else value})"
        for name, value in one.parameters.items()
    )
    wires = ", ".join(_connected(port, wire) for port, wire in one.wires.items())
    head = f"  {one.of.name}{f' #({values})' if values else ''} {one.name} ("
    if len(head) + len(wires) < _LINE:
        return [f"{head}{wires});"]
    return [head, *(f"    {line}" for line in wrap(wires, _LINE - 4, break_long_words=False)), "  );"]


def _connected(port: str, wire: Expression) -> str:
    """A port's connection; a wire of its own name need not be said."""
    same = isinstance(wire, Signal) and wire.name == port
    return f".{port}" if same else f".{port}({text(wire)})"


def _registers(module: Module) -> list[str]:
    """A block per condition, and per way to reset."""
    blocks: dict[tuple[Expression | None, bool], list[Register]] = {}
    for register in module.registers():
        blocks.setdefault((register.enable, register.reset is not None), []).append(register)
    return [line for (enable, reset), group in blocks.items() for line in _block(enable, reset, group)]


def _block(enable: Expression | None, reset: bool, group: list[Register]) -> list[str]:
    loads = [f"{r.target.name} <= {text(r.value)};" for r in group]
    lines = [f"  always_ff {_CLOCKS[reset]} begin"]
    if reset:
        lines.append("    if (!rst_ni) begin")
        lines += [
            f"      {r.target.name} <= {_number(Literal(r.reset or 0, r.target.width))};" for r in group
        ]
        lines.append("    end else begin" if enable is None else f"    end else if ({text(enable)}) begin")
    elif enable is not None:
        lines.append(f"    if ({text(enable)}) begin")
    nested = reset or enable is not None
    lines += [f"{'      ' if nested else '    '}{load}" for load in loads]
    return [*lines, *(["    end"] if nested else []), "  end"]
