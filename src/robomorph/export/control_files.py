"""The files of an exported controller: solver, kernels, problem, check, example."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from robomorph.export.control_package import ROWS, TORQUE, ControlPackage
from robomorph.export.control_terms import QUANTITIES, ControlTerm
from robomorph.export.solver_sources import solver_headers
from robomorph.mpc.layout import SYMBOLS
from robomorph.targets.cpp.package import CppFunction, CppPackage, string_literal
from robomorph.targets.templates import fill

Array = npt.NDArray[np.float64]
_ADAPTERS = {TORQUE: "torque_kernel", ROWS: "row_kernel"}


def control_files(package: CppPackage, control: ControlPackage, files: dict[str, str]) -> dict[str, str]:
    """`files` of the package with those of the controller beside them."""
    words = _words(package, control)
    place = f"include/{package.name}/mpc"
    out = dict(files)
    for name, text in solver_headers(package.name).items():
        out[f"{place}/solver/{name}"] = text
    for name in ("problem", "kernels", "references", "controller"):
        out[f"{place}/{name}.hpp"] = fill("cpp", f"mpc/{name}.hpp.in", words)
    out["test/controller_check.cpp"] = fill("cpp", "mpc/check.cpp.in", words)
    out["example/control_loop.cpp"] = fill("cpp", "mpc/loop.cpp.in", words)
    for name in ("README.md", "CMakeLists.txt"):
        out[name] = files[name] + fill("cpp", f"mpc/{name}.in", words)
    return out


def _words(package: CppPackage, control: ControlPackage) -> dict[str, str]:
    return {
        "name": package.name,
        "namespace": package.name,
        "robot": package.robot,
        "version": package.version,
        "title": control.title,
        **_sizes(control),
        **_kernel_words(control),
        **_term_words(control),
        "arrays": _arrays(control),
        "samples": _samples(control),
        "given": _given(control),
        "setters": "\n".join(_setters(k, term) for k, term in enumerate(control.terms.terms)),
        "setter_table": "\n".join(row for term in control.terms.terms for row in _table(term)),
        "expected": ",\n".join(_expected(control)),
        "check_iterations": str(control.check_iterations),
    }


def _sizes(control: ControlPackage) -> dict[str, str]:
    controller, layout = control.controller, control.controller._layout
    iterations = controller.iterations or 0
    return {
        "nv": str(layout.nv),
        "horizon": str(layout.horizon),
        "dt": _number(layout.dt),
        "period": _number(controller.period),
        "tolerance": _number(controller.tolerance),
        "iterations": str(iterations),
        "iterations_words": f"{iterations} by default" if iterations else "by default until it is optimal",
        "cap": str(controller._settings.cap),
        "rows": str(layout.rows),
        "references": str(layout.references),
        "row_velocity": _flag(layout.row_velocity),
        "jerk": _flag(layout.jerk),
        "gravity": _flag(bool(layout.gravity)),
        "posture": _flag(layout.posture),
        "memory": str(control.memory),
    }


# --- kernels -------------------------------------------------------------------------------------------


def _kernel_words(control: ControlPackage) -> dict[str, str]:
    rows = any(kernel.name == ROWS for kernel in control.kernels)
    return {
        "kernel_includes": "\n".join(f'#include "../{kernel.name}.hpp"' for kernel in control.kernels),
        "adapters": "\n".join(_adapter(kernel) for kernel in control.kernels),
        "row_kernel": "    p.row_kernel.fn = row_kernel;" if rows else "",
    }


def _adapter(kernel: CppFunction) -> str:
    def move(verb: str, side: str, k: int, name: str, shape: tuple[int, ...]) -> str:
        first = f"&{side}.{name}{'[0]' * len(shape)}"
        size = math.prod(shape)
        places = f"in[{k}], first, {size}, {first}" if verb == "load" else f"{first}, first, {size}, out[{k}]"
        return f"    lanes::{verb}({places});"

    words = {
        "title": kernel.title,
        "adapter": _ADAPTERS[kernel.name],
        "struct": kernel.struct,
        "function": kernel.name,
        "loads": "\n".join(move("load", "from", k, p.name, p.shape) for k, p in enumerate(kernel.inputs)),
        "stores": "\n".join(move("store", "to", k, p.name, p.shape) for k, p in enumerate(kernel.outputs)),
    }
    return fill("cpp", "mpc/adapter.hpp.in", words)


# --- data ----------------------------------------------------------------------------------------------


def _term_words(control: ControlPackage) -> dict[str, str]:
    terms = control.terms
    return {
        "term_count": str(len(terms.terms)),
        "terms": ",\n".join(_term(term) for term in terms.terms),
        "number_count": str(max(1, terms.count)),
        "weight_count": str(max(1, terms.weights.size)),
    }


def _term(one: ControlTerm) -> str:
    term = one.term
    flags = (
        one.is_bound,
        one.running is not None,
        one.terminal is not None,
        getattr(term, "moves", False),
        one.gravity,
        term.reference is not None,
        one.takes_reference,
        len(one.own) > 1,
    )
    places = [
        one.places[key] for key in ("joints_at", "numbers_at", "rows_at", "own_at", "weights_at", "bounds_at")
    ]
    fields = [
        string_literal(term.name),
        str(QUANTITIES.index(term.subject.symbol)),
        *map(_flag, flags),
        str(term.subject.numbers),
        str(term.subject.rows),
        *map(str, places),
    ]
    return f"    {{{', '.join(fields)}}}"


def _arrays(control: ControlPackage) -> str:
    """All that does not change, and what references and weights are at first."""
    layout, terms = control.controller._layout, control.terms
    tables = control.controller._bind(()).tables.arrays
    nv = layout.nv
    bounded = [f"{symbol}_lower" in tables for symbol in SYMBOLS]
    costs = [f"{symbol}_weight" in tables for symbol in SYMBOLS]
    soft = [tables.get(f"{symbol}_soft", np.full(nv, np.inf)) for symbol in SYMBOLS]
    scale = [tables.get(f"{symbol}_scale", np.ones(nv)) for symbol in SYMBOLS]
    rows = {
        name: np.ravel(tables.get(f"row_{name}", np.zeros(0))) for name in ("lower", "upper", "soft", "scale")
    }
    lines = [
        f"inline constexpr bool costs[joint_quantities] = {{{', '.join(map(_flag, costs))}}};",
        f"inline constexpr bool bounded[joint_quantities] = {{{', '.join(map(_flag, bounded))}}};",
        "inline constexpr bool moves[joint_quantities] = "
        f"{{{', '.join(_flag(layout.moves(symbol)) for symbol in SYMBOLS)}}};",
        f"inline constexpr bool rows_bounded = {_flag('row_lower' in tables)};",
        f"inline constexpr int joints[] = {{{', '.join(map(str, terms.joints or (0,)))}}};",
        _array("numbers", terms.numbers),
        _array("weights", terms.weights),
        _array("bounds", terms.bounds),
        *(_array(f"row_{name}", values) for name, values in rows.items()),
    ]
    for name, values in (("soft", soft), ("scale", scale)):
        inner = ",\n    ".join("{" + _listed(row) + "}" for row in values)
        lines.append(f"inline constexpr double {name}[joint_quantities][nv] = {{\n    {inner}}};")
    return "\n".join(lines)


def _samples(control: ControlPackage) -> str:
    lines = [_array("start_q", control.q), _array("start_qd", control.qd)]
    for one in control.terms.terms:
        if one.term.name in control.samples:
            lines.append(_array(f"sample_{one.name}", control.samples[one.term.name]))
    return "\n".join(lines)


def _given(control: ControlPackage) -> str:
    """Statements that set references which the problem has not."""
    names = [one.name for one in control.terms.terms if one.term.name in control.samples]
    return "\n".join(f"  controller.set_{name}(problem::sample_{name});" for name in names)


def _expected(control: ControlPackage) -> Iterable[str]:
    for step in control.steps:
        plan = step.plan
        parts = [
            "{" + _listed(np.concatenate([step.q, step.qd])) + "}",
            str(int(plan.iterations)),
            _number(float(plan.cost)),
            _number(float(plan.violation)),
            *("{" + _listed(values) + "}" for values in (plan.tau, plan.qdd, plan.torques, plan.gains)),
        ]
        yield "    {" + ",\n     ".join(parts) + "}"


# --- setters -------------------------------------------------------------------------------------------


def _setters(index: int, one: ControlTerm) -> str:
    """Functions of the controller that set references and weights of one term."""
    name, count, rows = one.name, one.term.subject.numbers, one.term.subject.rows
    lines = [f"  // {one.about}"] if one.takes_reference or one.weights else []
    if one.takes_reference:

        def setter(suffix: str, node: str, places: str, each: bool) -> str:
            call = f"references_.set({index}, numbers, {places}, {_flag(each)})"
            return f"  bool set_{name}{suffix}({node}const double* numbers) noexcept {{ return {call}; }}"

        lines += [
            f"  /// The reference ({count}) at all nodes.",
            setter("", "", "0, problem::horizon", False),
            setter("_at", "int node, ", "node, node", False),
            f"  /// (nodes, {count}): one for each node.",
            setter("_nodes", "", "0, problem::horizon", True),
        ]
    if one.term.subject.symbol == "torque" and one.gravity:
        lines.append(f"  void set_{name}_to_gravity() noexcept {{ references_.take_gravity({index}); }}")
    for word, weight, flag in (("", one.running, "false"), ("terminal_", one.terminal, "true")):
        if weight is not None:
            lines += [
                f"  /// Weights ({rows}) {'at the last node' if word else 'at every node but the last'}.",
                f"  bool set_{word}weight_{name}(const double* weights) noexcept "
                f"{{ return references_.set_weight({index}, weights, {flag}); }}",
            ]
    return "\n".join([*lines, ""] if lines else lines)


def _table(one: ControlTerm) -> Iterable[str]:
    about, subject = one.about.replace("|", "/"), one.term.subject
    if one.takes_reference:
        yield f"| `set_{one.name}` | {subject.numbers} | reference of {about} |"
    if one.running is not None:
        yield f"| `set_weight_{one.name}` | {subject.rows} | weights at every node but the last |"
    if one.terminal is not None:
        yield f"| `set_terminal_weight_{one.name}` | {subject.rows} | weights at the last node |"


# --- spelling ------------------------------------------------------------------------------------------


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return "HUGE_VAL" if value > 0 else "-HUGE_VAL"


def _listed(values: Array) -> str:
    texts = [_number(float(x)) for x in np.ravel(values)]
    return ",\n     ".join(", ".join(texts[k : k + 5]) for k in range(0, len(texts), 5))


def _array(name: str, values: Array) -> str:
    """At least one number: C++ has no empty arrays."""
    numbers = np.ravel(values) if np.size(values) else np.zeros(1)
    return f"inline constexpr double {name}[{numbers.size}] = {{{_listed(numbers)}}};"
