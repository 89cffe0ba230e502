"""All files of an exported package: headers, C interface, CMake, example, self-check, README."""

from __future__ import annotations

from robomorph.ir.program import Port
from robomorph.passes.layout import plan_layout
from robomorph.targets.cpp import spelling
from robomorph.targets.cpp.c_abi import KINDS, c_header, c_source, symbol
from robomorph.targets.cpp.check import numbers, self_check
from robomorph.targets.cpp.data import cpp_arrays
from robomorph.targets.cpp.function import function_header
from robomorph.targets.cpp.manifold import cpp_calls
from robomorph.targets.cpp.package import Array, CppFunction, CppPackage, Routine, comment_text
from robomorph.targets.templates import fill, source_file

SUPPORT = ("scalar.hpp", "lanes.hpp", "lanes_vector.hpp", "lanes_portable.hpp", "manifold.hpp")


def project_files(package: CppPackage) -> dict[str, str]:
    """Text by path in the exported folder."""
    include = f"include/{package.name}"
    files = {f"{include}/{f.name}.hpp": function_header(package, f) for f in package.functions}
    files |= {
        f"{include}/support/{name}": source_file("cpp", f"templates/support/{name}") for name in SUPPORT
    }
    common = _common(package)
    files[f"{include}/{package.name}.hpp"] = fill("cpp", "robot.hpp.in", common)
    files[f"{include}/configuration.hpp"] = fill(
        "cpp", "configuration.hpp.in", common | _configuration(package)
    )
    files[f"{include}/c_abi.h"] = c_header(package)
    files["src/c_abi.cpp"] = c_source(package)
    files["CMakeLists.txt"] = fill("cpp", "CMakeLists.txt.in", common)
    files[f"cmake/{package.name}Config.cmake"] = fill("cpp", "Config.cmake.in", common)
    files["example/main.cpp"] = fill("cpp", "example.cpp.in", common | _example(package))
    files["example/main.c"] = fill("cpp", "example.c.in", common | _example(package))
    files["test/self_check.cpp"] = self_check(package)
    files["README.md"] = fill("cpp", "README.md.in", common | _example(package))
    return files


def _common(package: CppPackage) -> dict[str, str]:
    constants = [f"constexpr int {key} = {value};" for key, value in package.constants.items()]
    return {
        "name": package.name,
        "upper": package.name.upper(),
        "robot": package.robot,
        "version": package.version,
        "constants": "\n".join(constants),
        "joint_list": ", ".join(f"`{comment_text(name)}`" for name in package.data.coordinates),
        "gravity": ", ".join(f"{x:g}" for x in package.data.gravity),
        "includes": "\n".join(f'#include "{f.name}.hpp"' for f in package.functions),
        "function_table": "\n".join(_table_row(f) for f in package.routines),
        "left_out": "".join(
            f"Not exported: `{n}`: {comment_text(why)}\n" for n, why in package.left_out.items()
        ),
        "kinds": " and ".join(f"`{KINDS[d][0]}`" for d in package.dtypes),
        "stack": str(max(plan_layout(f.program).slot_count for f in package.functions)),
    }


def _configuration(package: CppPackage) -> dict[str, str]:
    calls = cpp_calls(package.data.places) if package.manifold else ("", "")
    words = dict(zip(("integrate", "difference"), calls, strict=True))
    manifold = fill("cpp", "manifold.hpp.in", words) if package.manifold else ""
    return {"data": cpp_arrays(package.data), "manifold": manifold}


def _table_row(function: CppFunction | Routine) -> str:
    def listed(ports: tuple[Port, ...]) -> str:
        return ", ".join(f"`{p.name}{spelling.extents(p.shape)}`" for p in ports)

    cost = f"{function.program.cost():,}" if isinstance(function, CppFunction) else ""
    return (
        f"| `{function.name}` | {function.title} | {listed(function.inputs)} | {listed(function.outputs)} "
        f"| {cost} |"
    )


def _example(package: CppPackage) -> dict[str, str]:
    """The first function at its first reference state."""
    function, dtype = package.functions[0], package.dtypes[0]
    program, kind = function.program, KINDS[dtype][0]
    first = program.outputs[0]
    shapes = {p.name: spelling.extents(p.shape) for p in function.ports}
    inputs = [f"  const {kind} {p.name}{shapes[p.name]} = {_braces(function, p)};" for p in program.inputs]
    outputs = [f"  {kind} {p.name}{shapes[p.name] or '[1]'};" for p in program.outputs]
    return {
        "function": function.name,
        "struct": function.struct,
        "kind": kind,
        "symbol": symbol(package.name, function.name, dtype),
        "state": ",\n".join(f"      {_braces(function, p)}  /* {p.name} */" for p in program.inputs),
        "prints": "\n".join(_print(p, "out.") for p in program.outputs),
        "spread": "\n".join(_spread(p) for p in program.inputs),
        "varied": f"many.{_varied(program.inputs)}",
        "first_result": f"{first.name}{'[0]' * len(first.shape)}",
        "c_state": "\n".join([*inputs, *outputs]),
        "arguments": ", ".join(_c_argument(p) for p in program.inputs)
        + ", "
        + ", ".join(p.name for p in program.outputs),
        "c_prints": "\n".join(_print(p, "") for p in program.outputs),
    }


def _varied(inputs: tuple[Port, ...]) -> str:
    """An entry that may be changed alone (not one of a quaternion), and on which results depend."""
    return spelling.entry(inputs[-1], 0 if len(inputs) > 1 else inputs[0].size // 2)


def _braces(function: CppFunction, port: Port) -> str:
    return _nested(function.reference[port.name][0])


def _nested(values: Array) -> str:
    if values.ndim < 2:
        return "{" + numbers(values, 5, "       ") + "}"
    return "{" + ",\n       ".join(_nested(row) for row in values) + "}"


def _c_argument(port: Port) -> str:
    flat = spelling.is_flat(port, "const ")
    return f"&{port.name}{'[0]' * len(port.shape)}" if flat else port.name


def _rows_and_columns(port: Port) -> tuple[int, int]:
    columns = port.shape[-1] if port.shape else 1
    return port.size // columns, columns


def _print(port: Port, owner: str) -> str:
    rows, columns = _rows_and_columns(port)
    # In C a result without a shape is an array of one.
    first = "[0]" * (len(port.shape) if owner else max(1, len(port.shape)))
    return f'  print("{port.name}", &{owner}{port.name}{first}, {rows}, {columns});'


def _spread(port: Port) -> str:
    first = f"{port.name}{'[0]' * len(port.shape)}"
    return f"  robomorph::load_rows(&in.{first}, {port.size}, 1, &many.{first});"
