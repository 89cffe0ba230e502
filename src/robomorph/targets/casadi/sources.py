"""Callees as C++ for a user's own compiler: the C++ target prints kernels, and CasADi's interface is here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.targets.casadi.callee import Argument, Callee
from robomorph.targets.cpp.check import numbers
from robomorph.targets.cpp.function import function_header
from robomorph.targets.cpp.package import Array, CppFunction, CppPackage, comment_text, string_literal
from robomorph.targets.cpp.project import SUPPORT
from robomorph.targets.templates import fill, source_file

# What CasADi asks a library for beside a function, by the function's name and one of these.
_ASKED = (
    *("n_in", "n_out", "name_in", "name_out", "sparsity_in", "sparsity_out", "default_in", "work"),
    *("work_bytes", "incref", "decref", "alloc_mem", "init_mem", "free_mem", "checkout", "release", "config"),
)


def check_functions(names: Sequence[str]) -> None:
    """ArgumentError if one is called as CasADi would ask about another: it would take it for the answer."""
    for name in names:
        for asked in _ASKED:
            if f"{name}_{asked}" in names:
                raise ArgumentError(
                    f"functions: {name}_{asked} is how CasADi asks for {asked!r} of {name}: export them into "
                    "different folders, with different names"
                )


@dataclass(frozen=True)
class CasadiPackage:
    """Functions for CasADi, with their derivatives up to an order: `package` has the program of each callee.

    mains: the callees that are functions themselves, in the user's order."""

    package: CppPackage
    callees: tuple[Callee, ...]
    mains: tuple[Callee, ...]
    order: int

    @property
    def name(self) -> str:
        return self.package.name

    @property
    def functions(self) -> tuple[CppFunction, ...]:
        return self.package.functions

    @property
    def left_out(self) -> Mapping[str, str]:
        return self.package.left_out

    def order_of(self, main: Callee) -> int:
        """Functions that are gradients themselves have values alone."""
        return self.order if any(callee.name == f"jac_{main.name}" for callee in self.callees) else 0


def casadi_files(exported: CasadiPackage) -> dict[str, str]:
    """Text by path in the exported folder."""
    package = exported.package
    include = f"include/{package.name}"
    words = _words(exported)
    files = {f"{include}/{f.name}.hpp": function_header(package, f) for f in package.functions}
    files |= {
        f"{include}/support/{name}": source_file("cpp", f"templates/support/{name}")
        for name in SUPPORT
        if name != "manifold.hpp"
    }
    files[f"src/{package.name}.cpp"] = fill("casadi", "interface.cpp.in", words | _interface(exported))
    files["test/self_check.cpp"] = fill("casadi", "self_check.cpp.in", words | _checks(exported))
    files["example/problem.py"] = fill("casadi", "problem.py.in", words)
    for name in ("CMakeLists.txt", "README.md"):
        files[name] = fill("casadi", f"{name}.in", words)
    return files


_DERIVATIVES = (
    "The library has values alone: CasADi refuses to differentiate them.",
    "CasADi finds their Jacobians in the library. It has no second derivatives (CasADi says so when they "
    'are asked for): let IPOPT approximate them (`{"ipopt.hessian_approximation": "limited-memory"}`), '
    "or export with `--derivatives 2`.",
    "CasADi finds their Jacobians, and the exact Hessians of whatever they are used in, in the library.",
)


def _words(exported: CasadiPackage) -> dict[str, str]:
    package = exported.package
    orders = {callee.name: exported.order_of(callee) for callee in exported.mains}
    derivatives = _DERIVATIVES[max(orders.values())]
    if min(orders.values()) < max(orders.values()):
        bare = ", ".join(f"`{name}`" for name, order in orders.items() if not order)
        derivatives += f" Not those of {bare}: derivatives themselves, they have values alone."
    return {
        "name": package.name,
        "namespace": package.name,
        "upper": package.name.upper(),
        "robot": package.robot,
        "version": package.version,
        "function": exported.mains[0].name,
        "names": ", ".join(f'("{name}", {order})' for name, order in orders.items()) + ",",
        "derivatives": derivatives,
        "joint_list": ", ".join(f"`{comment_text(name)}`" for name in package.data.coordinates),
        "gravity": ", ".join(f"{x:g}" for x in package.data.gravity),
        "function_table": "\n".join(_row(exported, callee) for callee in exported.mains),
        "left_out": "".join(
            f"Not exported: `{n}`: {comment_text(why)}\n" for n, why in package.left_out.items()
        ),
    }


def _row(exported: CasadiPackage, callee: Callee) -> str:
    title = next(f.title for f in exported.functions if f.name == callee.name)
    sides = [", ".join(f"`{_size(a)}`" for a in side) for side in (callee.inputs, callee.outputs)]
    return f"| `{callee.name}` | {title} | {sides[0]} | {sides[1]} | {callee.program.cost():,} |"


def _size(argument: Argument) -> str:
    pattern = argument.pattern
    few = "" if len(pattern.entries) == pattern.size else f", {len(pattern.entries)} nonzero"
    return f"{argument.name} ({pattern.rows}, {pattern.columns}{few})"


# --- the interface -------------------------------------------------------------------------------------


def _interface(exported: CasadiPackage) -> dict[str, str]:
    package = exported.package
    titles = {f.name: f.title for f in package.functions}
    sizes = [len(c.inputs[k].pattern.entries) for c in exported.callees for k in c.used_inputs]
    return {
        "includes": "\n".join(f'#include "{package.name}/{f.name}.hpp"' for f in package.functions),
        "most": str(max(sizes, default=1)),
        "functions": "\n".join(_function(package, c, titles[c.name]) for c in exported.callees),
    }


def _function(package: CppPackage, callee: Callee, title: str) -> str:
    arguments = [f"arg[{k}] ? arg[{k}] : robomorph::zeros" for k in callee.used_inputs]
    scratch = 0
    for k in callee.used_outputs:
        arguments.append(f"res[{k}] ? res[{k}] : w + {scratch}")
        scratch += len(callee.outputs[k].pattern.entries)
    sides = (("in", callee.inputs), ("out", callee.outputs))
    return fill(
        "casadi",
        "function.cpp.in",
        {
            "title": title,
            "namespace": package.name,
            "function": callee.name,
            "patterns": "\n".join(
                _pattern(f"{callee.name}_{side}{k}", a) for side, all_ in sides for k, a in enumerate(all_)
            ),
            "inputs": _matrices(callee, "in", callee.inputs),
            "outputs": _matrices(callee, "out", callee.outputs),
            "n_in": str(len(callee.inputs)),
            "n_out": str(len(callee.outputs)),
            "arguments": ",\n      ".join(arguments),
            "unused": ("" if callee.used_inputs else "(void)arg;\n  ")
            + ("" if callee.used_outputs else "(void)res;\n  (void)w;\n  "),
            "work": str(scratch),
        },
    )


def _pattern(name: str, argument: Argument) -> str:
    values = argument.pattern.compressed
    lines = [", ".join(map(str, values[k : k + 24])) for k in range(0, len(values), 24)]
    return f"const casadi_int {name}[{len(values)}] = {{" + ",\n    ".join(lines) + "};"


def _matrices(callee: Callee, side: str, arguments: Sequence[Argument]) -> str:
    return ", ".join(
        f"{{{string_literal(a.name)}, {callee.name}_{side}{k}}}" for k, a in enumerate(arguments)
    )


# --- the check -----------------------------------------------------------------------------------------


def _checks(exported: CasadiPackage) -> dict[str, str]:
    reference = {f.name: f.reference for f in exported.functions}
    parts, calls = [], []
    for callee in exported.callees:
        known = reference[callee.name]
        states = len(next(iter(known.values())))
        for state in range(states):
            sides = [
                ",\n     ".join(_vector(known, a, state) for a in side)
                for side in (callee.inputs, callee.outputs)
            ]
            parts.append(
                f"bool check_{callee.name}_{state}() {{\n"
                f'  return check("{callee.name}", {callee.name}, {callee.name}_work,\n'
                f"    {{{sides[0]}}},\n    {{{sides[1]}}});\n}}"
            )
            calls.append(f"  ok &= check_{callee.name}_{state}();")
    return {
        "declarations": "\n".join(f"DECLARE({callee.name})" for callee in exported.callees),
        "checks": "\n\n".join(parts),
        "calls": "\n".join(calls),
    }


def _vector(known: Mapping[str, Array], argument: Argument, state: int) -> str:
    values = known[argument.name][state] if argument.pattern.entries else np.zeros(0)
    return "{" + numbers(values, 5, "      ") + "}"
