"""The header of one function: structures, blocks of bounded size, the function, and its batch version."""

from __future__ import annotations

from collections.abc import Iterable

from robomorph.ir.ops import ADD, COS, FMA, FMS, FNMA, MAX, MIN, MUL, NEG, RECIP, SELECT, SIN, SQRT, SUB
from robomorph.ir.program import Port, Program
from robomorph.passes.layout import Layout, plan_layout
from robomorph.targets.c_family import Block, BlockPrinter, Dialect, Places, port_of
from robomorph.targets.cpp import spelling
from robomorph.targets.cpp.package import CppFunction, CppPackage
from robomorph.targets.templates import fill

_RESTRICT = "ROBOMORPH_RESTRICT"
# A result with at least so many entries that are always zero is cleared as a whole.
_MANY_ZEROS = 8


# S is the type of a value (a scalar or lanes), T that of its numbers.
CPP = Dialect(
    name="cpp",
    value="S",
    dtype="float64",
    spelling={
        ADD: "{a} + {b}",
        SUB: "{a} - {b}",
        MUL: "{a} * {b}",
        NEG: "-{a}",
        RECIP: "{one} / {a}",
        SQRT: "square_root({a})",
        MIN: "minimum({a}, {b})",
        MAX: "maximum({a}, {b})",
        SELECT: "select(S({a}), S({b}), S({c}))",
        FMA: "mul_add({a}, {b}, {c})",
        FMS: "mul_sub({a}, {b}, {c})",
        FNMA: "neg_mul_add({a}, {b}, {c})",
    },
    sincos="{t} {s}, {c};\nsincos({a}, {s}, {c});",
    name_inputs=False,
    cast="T",
)


def function_header(package: CppPackage, function: CppFunction) -> str:
    """The text of ``<function>.hpp``."""
    program, layout = function.program, plan_layout(function.program)
    blocks = _print_blocks(function, layout)
    guard = f"{package.name}_{function.name}_hpp".upper()
    return fill(
        "cpp",
        "function.hpp.in",
        {
            "title": function.title,
            "robot": package.robot,
            "version": package.version,
            "guard": guard,
            "namespace": package.name,
            "function": function.name,
            "struct": function.struct,
            "input_fields": _fields(function, program.inputs),
            "output_fields": _fields(function, program.outputs),
            "operations": str(program.cost()),
            "blocks": "\n\n".join(
                _block_text(program, layout, c, block, len(blocks)) for c, block in blocks.items()
            ),
            "parameters": _lines(_parameters(program, blocks.values()), 4),
            "work": f"  S work[{layout.slot_count}];\n" if layout.slot_count else "",
            "calls": "\n".join(
                [_clear(port) for port in _cleared(program)]
                + [_call(program, function.name, c, b) for c, b in blocks.items()]
            ),
            "from_structs": ", ".join(
                [_struct_argument(p, "in") for p in program.inputs]
                + [_struct_argument(p, "out") for p in program.outputs]
            ),
            "no_inputs": "" if program.inputs else "[[maybe_unused]] ",
            "no_outputs": "" if program.outputs else "[[maybe_unused]] ",
            "batch_parameters": _lines(_batch_parameters(program), 4),
            "loads": "\n".join(_move("load", p) for p in program.inputs),
            "stores": "\n".join(_move("store", p) for p in program.outputs),
        },
    )


def _lines(items: Iterable[str], indent: int) -> str:
    return (",\n" + " " * indent).join(items)


def _fields(function: CppFunction, ports: tuple[Port, ...]) -> str:
    return "\n".join(
        f"  S {port.name}{spelling.extents(port.shape)};  ///< {function.notes[port.name]}" for port in ports
    )


def _parameters(program: Program, blocks: Iterable[Block]) -> list[str]:
    """An argument on which nothing depends (q of a robot whose mass matrix is constant) says so, or compilers
    would warn of it."""
    read = _touched(program.inputs, (k for block in blocks for k in block.reads))
    inputs = [
        ("" if p in read else "[[maybe_unused]] ") + spelling.pointer(p, "const S", _RESTRICT)
        for p in program.inputs
    ]
    return inputs + [spelling.pointer(p, "S", _RESTRICT) for p in program.outputs]


def _batch_parameters(program: Program) -> list[str]:
    inputs = [f"const T* {_RESTRICT} {p.name}" for p in program.inputs]
    return inputs + [f"T* {_RESTRICT} {p.name}" for p in program.outputs]


def _struct_argument(port: Port, side: str) -> str:
    return f"{side}.{port.name}" if port.shape else f"&{side}.{port.name}"


def _move(verb: str, port: Port) -> str:
    """Between rows of the user's arrays and the lanes of a structure."""
    side = "in" if verb == "load" else "out"
    lanes = f"&{side}.{port.name}" + "[0]" * len(port.shape)
    rows = f"{port.name} + row * {port.size}"
    if verb == "load":
        return f"    robomorph::load_rows({rows}, {port.size}, rows, {lanes});"
    return f"    robomorph::store_rows({lanes}, {port.size}, rows, {rows});"


# --- blocks --------------------------------------------------------------------------------------------


def _print_blocks(function: CppFunction, layout: Layout) -> dict[int, Block]:
    """The blocks that do anything, by chunk."""
    program = function.program
    places = Places(_entries(program.inputs), _entries(program.outputs), "work")
    cleared = [flat for entries in _cleared(program).values() for flat in entries]
    printer = BlockPrinter(program, layout, CPP, places, frozenset(cleared), function.comments)
    blocks = {c: printer.block(c) for c in range(len(layout.chunks))}
    return {c: block for c, block in blocks.items() if block.lines}


def _entries(ports: tuple[Port, ...]) -> list[str]:
    return [spelling.entry(port, k) for port in ports for k in range(port.size)]


def _cleared(program: Program) -> dict[Port, list[int]]:
    """Results with many entries that are always zero, and those entries, flat among all outputs."""
    found: dict[Port, list[int]] = {}
    start = 0
    for port in program.outputs:
        entries = [k for k in range(start, start + port.size) if program.is_zero(program.results[k])]
        if len(entries) >= _MANY_ZEROS:
            found[port] = entries
        start += port.size
    return found


def _clear(port: Port) -> str:
    first = f"&{port.name}{'[0]' * len(port.shape)}"
    return f"  robomorph::clear({first}, {port.size});  // {port.name} has entries that are always zero"


def _touched(ports: tuple[Port, ...], flats: Iterable[int]) -> dict[Port, list[int]]:
    found: dict[Port, list[int]] = {}
    for flat in flats:
        port, k = port_of(ports, flat)
        found.setdefault(port, []).append(k)
    return found


def _block_text(program: Program, layout: Layout, c: int, block: Block, count: int) -> str:
    reads, writes = _touched(program.inputs, block.reads), _touched(program.outputs, block.writes)
    parameters = [spelling.pointer(p, "const S", _RESTRICT) for p in reads]
    parameters += [spelling.pointer(p, "S", _RESTRICT) for p in writes]
    if block.uses_slots:
        parameters.append(f"S *{_RESTRICT} work")
    lines = [*_block_comment(program, layout, c, reads, writes)]
    lines.append("template <class S, class T = robomorph::scalar_of<S>>")
    # A block that is the whole function may be inlined; several must not be, or nothing bounds their size.
    head = "inline" if count == 1 else "ROBOMORPH_BLOCK inline"
    lines.append(f"{head} void block{c}(\n    {_lines(parameters, 4)}) noexcept {{")
    lines += _body(program, block)
    return "\n".join([*lines, "}"])


def _body(program: Program, block: Block) -> list[str]:
    """The statements; an empty line after each run of finished results and before each step."""
    results = {port.name for port in program.outputs}
    lines: list[str] = []
    storing = False
    for statement in (line for lines_ in block.lines for line in lines_.split("\n")):
        stores = statement.lstrip("*").split("[")[0].split(" ")[0] in results
        if lines and ((storing and not stores) or statement.startswith("//")):
            lines.append("")
        storing = stores
        lines.append(f"  {statement}")
    return lines


def _block_comment(
    program: Program, layout: Layout, c: int, reads: dict[Port, list[int]], writes: dict[Port, list[int]]
) -> list[str]:
    nodes = [program.nodes[i] for i in layout.chunks[c]]
    angles = sum(node.op is SIN or node.op is COS for node in nodes)
    lines = [f"// Block {c}: {sum(node.op.cost for node in nodes)} operations."]
    if angles:
        lines.append("// Sines and cosines of the joint angles, kept in `work`.")
    if reads:
        lines += _wrapped("// Reads ", [spelling.ranges(p, ks) for p, ks in reads.items()])
    if writes:
        lines += _wrapped("// Completes ", [spelling.ranges(p, ks) for p, ks in writes.items()])
    elif not angles:
        lines.append("// Completes no result: its values, in `work`, feed later blocks.")
    return lines


def _wrapped(head: str, parts: list[str], width: int = 108) -> list[str]:
    lines, line = [], head
    for word in (", ".join(parts) + ".").split(" "):
        if len(line) + len(word) > width:
            lines.append(line.rstrip())
            line = "//   "
        line += word + " "
    return [*lines, line.rstrip()]


def _call(program: Program, function: str, c: int, block: Block) -> str:
    names = [p.name for p in _touched(program.inputs, block.reads)]
    names += [p.name for p in _touched(program.outputs, block.writes)]
    names += ["work"] if block.uses_slots else []
    return f"  {function}_blocks::block{c}({', '.join(names)});"
