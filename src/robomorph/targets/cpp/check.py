"""The self-check that travels with the code: states, the results the interpreter gives, and a comparison."""

from __future__ import annotations

import numpy as np

from robomorph.ir.program import Port
from robomorph.targets.cpp import spelling
from robomorph.targets.cpp.c_abi import KINDS
from robomorph.targets.cpp.package import Array, CppFunction, CppPackage, Routine
from robomorph.targets.templates import fill


def self_check(package: CppPackage) -> str:
    """The text of ``test/self_check.cpp``."""
    kinds = [KINDS[dtype][0] for dtype in package.dtypes]
    calls = [f"  ok &= check_{f.name}<{kind}>();" for f in package.routines for kind in kinds]
    return fill(
        "cpp",
        "self_check.cpp.in",
        {
            "robot": package.robot,
            "version": package.version,
            "name": package.name,
            "checks": "\n\n".join(_check(package, function) for function in package.routines),
            "calls": "\n".join(calls),
        },
    )


def numbers(values: Array, per_line: int = 5, indent: str = "    ") -> str:
    """Numbers that read back to the same bits."""
    texts = [repr(float(x)) for x in np.ravel(values)]
    rows = [", ".join(texts[k : k + per_line]) for k in range(0, len(texts), per_line)]
    return f",\n{indent}".join(rows)


def _check(package: CppPackage, function: CppFunction | Routine) -> str:
    states = len(function.reference[function.inputs[0].name])
    data = [_data(function, port) for port in function.ports]
    lines = ["template <class T> bool check_" + function.name + "() {"]
    lines += [f"  constexpr std::size_t states = {states};"]
    lines += [f"  static T {p.name}[states * {p.size}];" for p in function.inputs]
    lines += [
        f"  static T {p.name}[states * {p.size}], {p.name}_one[states * {p.size}];" for p in function.outputs
    ]
    lines += [f"  copy({function.name}_data::{p.name}, {p.name});" for p in function.inputs]
    names = ", ".join(p.name for p in function.ports)
    lines.append(f"  {package.name}::{function.name}_batch(states, {names});")
    singles = [_one(p, p.name) for p in function.inputs]
    singles += [_one(p, f"{p.name}_one") for p in function.outputs]
    lines.append("  for (std::size_t i = 0; i < states; ++i) {")
    lines.append(f"    {package.name}::{function.name}({', '.join(singles)});")
    lines.append("  }")
    lines.append("  bool ok = true;")
    for p in function.outputs:
        label = f'"{function.name}: {p.name}"'
        lines.append(f"  ok &= compare({label}, {function.name}_data::{p.name}, {p.name}, {p.name}_one);")
    return "\n".join([*data, *lines, "  return ok;", "}"])


def _data(function: CppFunction | Routine, port: Port) -> str:
    values = function.reference[port.name]
    text = numbers(values)
    return (
        f"namespace {function.name}_data {{\nconst double {port.name}[{values.size}] = {{\n    {text}}};\n}}"
    )


def _one(port: Port, name: str) -> str:
    """State i of a flat array, as the function's parameter."""
    return spelling.as_rows(port, "T", f"{name} + i * {port.size}")
