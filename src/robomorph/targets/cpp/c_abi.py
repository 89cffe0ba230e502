"""The C interface: a header any language can bind to, and the one file that defines it."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.errors import ArgumentError
from robomorph.targets.cpp import spelling
from robomorph.targets.cpp.data import c_declarations, c_definitions
from robomorph.targets.cpp.package import CppFunction, CppPackage, Routine
from robomorph.targets.templates import fill

# dtype -> C type and suffix of the functions' names.
KINDS = {"float64": ("double", ""), "float32": ("float", "_f32")}


def symbol(package: str, function: str, dtype: str, *, batch: bool = False) -> str:
    """The name a function has in the library."""
    return f"{package}_{function}{'_batch' if batch else ''}{KINDS[dtype][1]}"


def check_symbols(package: str, functions: Sequence[str], dtypes: Sequence[str]) -> None:
    """ArgumentError if two functions, with their versions for batches and float32, share a name in C."""
    if package in (*functions, "configuration"):
        raise ArgumentError(f"name: {package!r} is also a header of the export: choose another by --name")
    taken: dict[str, str] = {}
    for function in (*functions, "integrate", "difference"):
        for dtype in dtypes:
            for batch in (False, True):
                name = symbol(package, function, dtype, batch=batch)
                if taken.setdefault(name, function) != function:
                    raise ArgumentError(
                        f"functions: {taken[name]} and {function} would both define {name}: export them into "
                        "different folders, with different names"
                    )


def c_header(package: CppPackage) -> str:
    parts = [_declarations(package, function) for function in package.routines]
    words = {"declarations": "\n\n".join(parts), "data": c_declarations(package)}
    return fill("cpp", "c_abi.h.in", _names(package) | words)


def c_source(package: CppPackage) -> str:
    includes = [f'#include "{package.name}/{f.name}.hpp"' for f in package.functions]
    parts = [c_definitions(package), *(_definitions(package, function) for function in package.routines)]
    words = {"includes": "\n".join(includes), "definitions": "\n\n".join(parts)}
    return fill("cpp", "c_abi.cpp.in", _names(package) | words)


def _names(package: CppPackage) -> dict[str, str]:
    upper = package.name.upper()
    sizes = {**package.constants, "joints": len(package.data.joints)}
    constants = [f"#define {upper}_{key.upper()} {value}" for key, value in sizes.items()]
    return {
        "name": package.name,
        "upper": upper,
        "robot": package.robot,
        "version": package.version,
        "constants": "\n".join(constants),
    }


def _arrays(function: CppFunction | Routine, kind: str) -> list[str]:
    inputs = [spelling.array_parameter(p, f"const {kind}") for p in function.inputs]
    return inputs + [spelling.array_parameter(p, kind) for p in function.outputs]


def _flat(function: CppFunction | Routine, kind: str) -> list[str]:
    flat = [f"const {kind} *{p.name}" for p in function.inputs]
    return ["size_t count", *flat, *(f"{kind} *{p.name}" for p in function.outputs)]


def _signatures(package: CppPackage, function: CppFunction | Routine, dtype: str) -> tuple[str, str]:
    kind = KINDS[dtype][0]
    single = symbol(package.name, function.name, dtype)
    batch = symbol(package.name, function.name, dtype, batch=True)
    return (
        f"void {single}({', '.join(_arrays(function, kind))})",
        f"void {batch}({', '.join(_flat(function, kind))})",
    )


def _declarations(package: CppPackage, function: CppFunction | Routine) -> str:
    lines = [f"/* {function.title}"]
    for port in function.ports:
        lines.append(f" * {port.name}: {spelling.shape_text(port)}; {function.notes[port.name]}")
    lines.append(" */")
    for dtype in package.dtypes:
        lines += [f"{signature};" for signature in _signatures(package, function, dtype)]
    return "\n".join(lines)


def _definitions(package: CppPackage, function: CppFunction | Routine) -> str:
    names = ", ".join(port.name for port in function.ports)
    parts = []
    for dtype in package.dtypes:
        const = f"const {KINDS[dtype][0]}"
        rows = [spelling.as_rows(p, const, p.name) for p in function.inputs]
        call = ", ".join([*rows, *(port.name for port in function.outputs)])
        single, batch = _signatures(package, function, dtype)
        parts.append(f"{single} {{\n  {package.name}::{function.name}({call});\n}}")
        parts.append(f"{batch} {{\n  {package.name}::{function.name}_batch(count, {names});\n}}")
    return "\n\n".join(parts)
