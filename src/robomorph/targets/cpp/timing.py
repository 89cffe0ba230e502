"""Loops that time exported functions from C++, compiled beside them for benchmarks."""

from __future__ import annotations

from robomorph.targets.cpp.c_abi import KINDS, symbol
from robomorph.targets.cpp.fill import fill
from robomorph.targets.cpp.package import CppFunction, CppPackage


def timing_source(package: CppPackage) -> str:
    parts = [_loop(package, f, dtype) for f in package.functions for dtype in package.dtypes]
    return fill("timing.cpp.in", {"name": package.name, "loops": "\n\n".join(parts)})


def _loop(package: CppPackage, function: CppFunction, dtype: str) -> str:
    kind, name = KINDS[dtype][0], symbol(package.name, function.name, dtype)
    program = function.program
    parameters = [f"const {kind} *{p.name}" for p in program.inputs]
    parameters += [f"{kind} *{p.name}" for p in program.outputs]
    arguments = [_argument(p.name, p.shape, f"const {kind}") for p in program.inputs]
    arguments += [_argument(p.name, p.shape, kind) for p in program.outputs]
    return (
        f"double {name}_time(size_t repeats, {', '.join(parameters)}) {{\n"
        f"  return seconds(repeats, [&] {{ {name}({', '.join(arguments)}); }});\n}}"
    )


def _argument(name: str, shape: tuple[int, ...], kind: str) -> str:
    if len(shape) < 2:
        return name
    return f"reinterpret_cast<{kind} (*)[{shape[1]}]>({name})"
