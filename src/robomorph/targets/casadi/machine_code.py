"""A callee as machine code: the kernel for single states, and around it what CasADi looks for by name.

CasADi calls ``int f(const double** arg, double** res, long long* iw, double* w, int mem)``. A missing
argument counts as zeros, a result may be unwanted, and `w` is the call's own memory; so any number of threads
may call. `f_n_in`, `f_name_in`, `f_sparsity_in`, `f_work` and their likes tell the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.targets.casadi.callee import Argument, Callee
from robomorph.targets.cpu.build import linkable_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.writer import Emitted

_LONG = 16  # chunks: such programs run as fast with level 1, and take LLVM half the time
ENTRIES = ("", "_n_in", "_n_out", "_name_in", "_name_out", "_sparsity_in", "_sparsity_out", "_work")


def object_code(callee: Callee) -> bytes:
    """An object file that defines the callee for this machine's CPU, and shows nothing else to a linker."""
    cpu = host()
    program = run_passes(callee.program, SCHEDULE)
    kernel = emit(program, "float64", 1, fma=cpu.fma, vector_bits=cpu.vector_bits, rows=False)
    text = "\n\n".join([kernel.text, *_interface(callee, kernel)]) + "\n"
    shown = {f"{callee.name}{ending}" for ending in ENTRIES}
    return linkable_object(text, shown, 1 if len(kernel.chunks) >= _LONG else 2)


def _interface(callee: Callee, kernel: Emitted) -> list[str]:
    name = callee.name
    scratch = sum(len(callee.outputs[k].pattern.entries) for k in callee.used_outputs)
    work = (len(callee.inputs), len(callee.outputs), 0, scratch + kernel.workspace // 8)
    return [
        _call(callee, kernel),
        _number(f"{name}_n_in", len(callee.inputs)),
        _number(f"{name}_n_out", len(callee.outputs)),
        *_tables(name, "in", callee.inputs),
        *_tables(name, "out", callee.outputs),
        _work(f"{name}_work", work),
    ]


def _call(callee: Callee, kernel: Emitted) -> str:
    """The function itself: pointers to what is missing lead to zeros, or to scratch memory."""
    used, given = callee.used_inputs, callee.used_outputs
    most = max((len(callee.inputs[k].pattern.entries) for k in used), default=1)
    lines = [
        f"@{callee.name}.zeros = private constant [{most} x double] zeroinitializer",
        "",
        f"define i32 @{callee.name}(ptr %arg, ptr %res, ptr %iw, ptr %w, i32 %mem) #0 {{",
        f"  %in = alloca [{max(1, len(used))} x ptr]",
        f"  %out = alloca [{max(1, len(given))} x ptr]",
    ]
    for port, place in enumerate(used):
        lines += _pointer("arg", "in", port, place, f"@{callee.name}.zeros")
    scratch = 0
    for port, place in enumerate(given):
        lines.append(f"  %spare{port} = getelementptr double, ptr %w, i64 {scratch}")
        lines += _pointer("res", "out", port, place, f"%spare{port}")
        scratch += len(callee.outputs[place].pattern.entries)
    lines += [
        f"  %ws = getelementptr double, ptr %w, i64 {scratch}",
        f"  call void @{kernel.symbol}(ptr %in, ptr %out, ptr %ws)",
        "  ret i32 0",
        "}",
    ]
    return "\n".join(lines)


def _pointer(source: str, to: str, port: int, place: int, instead: str) -> list[str]:
    """The pointer at a place of CasADi's array into ours; another where it is null."""
    x = f"%{source}{port}"
    return [
        f"  {x}a = getelementptr ptr, ptr %{source}, i64 {place}",
        f"  {x}g = load ptr, ptr {x}a",
        f"  {x}n = icmp eq ptr {x}g, null",
        f"  {x}p = select i1 {x}n, ptr {instead}, ptr {x}g",
        f"  {x}t = getelementptr ptr, ptr %{to}, i64 {port}",
        f"  store ptr {x}p, ptr {x}t",
    ]


# --- what CasADi asks ------------------------------------------------------------------------------------


def _number(name: str, value: int) -> str:
    return f"define i64 @{name}() #0 {{\n  ret i64 {value}\n}}"


def _tables(name: str, side: str, arguments: Sequence[Argument]) -> list[str]:
    names = [_text(argument.name) for argument in arguments]
    patterns = [_integers(argument.pattern.compressed) for argument in arguments]
    return [*_table(f"{name}_name_{side}", names), *_table(f"{name}_sparsity_{side}", patterns)]


def _table(name: str, constants: Sequence[str]) -> list[str]:
    """A function that gives the address of one of several constants; null beyond the last."""
    items = [f"@{name}.{k} = private constant {text}" for k, text in enumerate(constants)]
    count = len(constants)
    pointers = ", ".join(f"ptr @{name}.{k}" for k in range(count))
    lines = [
        *items,
        f"@{name}.all = private constant [{count} x ptr] [{pointers}]",
        f"define ptr @{name}(i64 %i) #0 {{",
        f"  %known = icmp ult i64 %i, {count}",
        "  br i1 %known, label %yes, label %no",
        "yes:",
        f"  %place = getelementptr ptr, ptr @{name}.all, i64 %i",
        "  %found = load ptr, ptr %place",
        "  ret ptr %found",
        "no:",
        "  ret ptr null",
        "}",
    ]
    return ["\n".join(lines)]


def _text(text: str) -> str:
    data = text.encode()
    return f'[{len(data) + 1} x i8] c"{"".join(f"{chr(92)}{byte:02X}" for byte in data)}{chr(92)}00"'


def _integers(values: Sequence[int]) -> str:
    return f"[{len(values)} x i64] [{', '.join(f'i64 {value}' for value in values)}]"


def _work(name: str, sizes: Sequence[int]) -> str:
    """Sizes of the arrays of arguments, results, integers and numbers; any of the pointers may be null."""
    lines = [f"define i32 @{name}(ptr %p0, ptr %p1, ptr %p2, ptr %p3) #0 {{", "  br label %ask0"]
    for k, size in enumerate(sizes):
        lines += [
            f"ask{k}:",
            f"  %none{k} = icmp eq ptr %p{k}, null",
            f"  br i1 %none{k}, label %ask{k + 1}, label %tell{k}",
            f"tell{k}:",
            f"  store i64 {size}, ptr %p{k}",
            f"  br label %ask{k + 1}",
        ]
    return "\n".join([*lines, f"ask{len(sizes)}:", "  ret i32 0", "}"])
