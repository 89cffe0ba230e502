"""The C interface: a header any language can bind to, and the one file that defines it."""

from __future__ import annotations

from robomorph.targets.cpp import spelling
from robomorph.targets.cpp.fill import fill
from robomorph.targets.cpp.package import CppFunction, CppPackage

# dtype -> C type and suffix of the functions' names.
KINDS = {"float64": ("double", ""), "float32": ("float", "_f32")}


def symbol(package: str, function: str, dtype: str, *, batch: bool = False) -> str:
    """The name a function has in the library."""
    return f"{package}_{function}{'_batch' if batch else ''}{KINDS[dtype][1]}"


def c_header(package: CppPackage) -> str:
    parts = [_declarations(package, function) for function in package.functions]
    return fill("c_abi.h.in", {**_names(package), "declarations": "\n\n".join(parts)})


def c_source(package: CppPackage) -> str:
    includes = [f'#include "{package.name}/{f.name}.hpp"' for f in package.functions]
    parts = [_definitions(package, function) for function in package.functions]
    return fill(
        "c_abi.cpp.in",
        {**_names(package), "includes": "\n".join(includes), "definitions": "\n\n".join(parts)},
    )


def _names(package: CppPackage) -> dict[str, str]:
    upper = package.name.upper()
    constants = [f"#define {upper}_{key.upper()} {value}" for key, value in package.constants.items()]
    return {
        "name": package.name,
        "upper": upper,
        "robot": package.robot,
        "version": package.version,
        "constants": "\n".join(constants),
    }


def _arrays(function: CppFunction, kind: str) -> list[str]:
    program = function.program
    inputs = [spelling.array_parameter(p, f"const {kind}") for p in program.inputs]
    return inputs + [spelling.array_parameter(p, kind) for p in program.outputs]


def _flat(function: CppFunction, kind: str) -> list[str]:
    program = function.program
    flat = [f"const {kind} *{p.name}" for p in program.inputs]
    return ["size_t count", *flat, *(f"{kind} *{p.name}" for p in program.outputs)]


def _signatures(package: CppPackage, function: CppFunction, dtype: str) -> tuple[str, str]:
    kind = KINDS[dtype][0]
    single = symbol(package.name, function.name, dtype)
    batch = symbol(package.name, function.name, dtype, batch=True)
    return (
        f"void {single}({', '.join(_arrays(function, kind))})",
        f"void {batch}({', '.join(_flat(function, kind))})",
    )


def _declarations(package: CppPackage, function: CppFunction) -> str:
    lines = [f"/* {function.title}"]
    for port in function.ports:
        lines.append(f" * {port.name}: {spelling.shape_text(port)}; {function.notes[port.name]}")
    lines.append(" */")
    for dtype in package.dtypes:
        lines += [f"{signature};" for signature in _signatures(package, function, dtype)]
    return "\n".join(lines)


def _definitions(package: CppPackage, function: CppFunction) -> str:
    names = ", ".join(port.name for port in function.ports)
    parts = []
    for dtype in package.dtypes:
        single, batch = _signatures(package, function, dtype)
        parts.append(f"{single} {{\n  {package.name}::{function.name}({names});\n}}")
        parts.append(f"{batch} {{\n  {package.name}::{function.name}_batch(count, {names});\n}}")
    return "\n\n".join(parts)
