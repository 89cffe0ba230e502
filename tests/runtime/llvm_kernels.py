"""Small kernels for the launcher's tests, made with llvmlite: functions over a fixed number of rows."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from robomorph.runtime._native import NativeKernel

Array = NDArray[Any]
Pair = namedtuple("Pair", ["scaled", "total"])

_LLVM_TYPE = {"float64": "double", "float32": "float"}


class Code:
    """Machine code for a module of LLVM IR, alive as long as this object."""

    def __init__(self, text: str) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=1)
        module = llvm.parse_assembly(text)
        library = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(module))
        for function in module.functions:
            if not function.is_declaration:
                library.export_symbol(function.name)
        self._engine = llvm.create_lljit_compiler(machine, use_jit_link=True)
        self._tracker = library.link(self._engine, "code")

    def address(self, name: str) -> int:
        return int(self._tracker[name])


class _Body:
    """Lines of one function, with element-wise loads and stores: no alignment beyond the element's."""

    def __init__(self, dtype: str) -> None:
        self.type = _LLVM_TYPE[dtype]
        self.lines: list[str] = []
        self._count = 0

    def emit(self, operation: str) -> str:
        self._count += 1
        self.lines.append(f"  %v{self._count} = {operation}")
        return f"%v{self._count}"

    def pointer(self, table: str, index: int) -> str:
        slot = self.emit(f"getelementptr ptr, ptr %{table}, i64 {index}")
        return self.emit(f"load ptr, ptr {slot}")

    def load(self, base: str, index: int) -> str:
        at = self.emit(f"getelementptr {self.type}, ptr {base}, i64 {index}")
        return self.emit(f"load {self.type}, ptr {at}")

    def store(self, value: str, base: str, index: int, volatile: str = "") -> None:
        at = self.emit(f"getelementptr {self.type}, ptr {base}, i64 {index}")
        self.lines.append(f"  store {volatile} {self.type} {value}, ptr {at}")

    def through_workspace(self, value: str, index: int) -> str:
        """Writes a value to the workspace and reads it back: threads sharing one would spoil each other's."""
        self.store(value, "%workspace", index, "volatile")
        at = self.emit(f"getelementptr {self.type}, ptr %workspace, i64 {index}")
        return self.emit(f"load volatile {self.type}, ptr {at}")

    def function(self, name: str) -> str:
        head = f"define void @{name}(ptr %in, ptr %out, ptr %workspace) {{"
        return "\n".join([head, *self.lines, "  ret void", "}"])


def axpy(name: str, dtype: str, rows: int, count: int, factor: float) -> str:
    """z = factor * x + y over `rows` rows of `count` elements."""
    body = _Body(dtype)
    x, y, z = body.pointer("in", 0), body.pointer("in", 1), body.pointer("out", 0)
    for i in range(rows * count):
        product = body.emit(f"fmul {body.type} {factor:e}, {body.load(x, i)}")
        product = body.through_workspace(product, i)
        body.store(body.emit(f"fadd {body.type} {product}, {body.load(y, i)}"), z, i)
    return body.function(name)


def scale_and_total(name: str, dtype: str, rows: int, count: int) -> str:
    """scaled = x * s and total = the sum of scaled, left to right, for each row."""
    body = _Body(dtype)
    x, s = body.pointer("in", 0), body.pointer("in", 1)
    scaled, total = body.pointer("out", 0), body.pointer("out", 1)
    for row in range(rows):
        factor, running = body.load(s, row), ""
        for i in range(row * count, (row + 1) * count):
            value = body.emit(f"fmul {body.type} {body.load(x, i)}, {factor}")
            body.store(value, scaled, i)
            running = body.emit(f"fadd {body.type} {running}, {value}") if running else value
        body.store(running, total, row)
    return body.function(name)


def sum_of_lanes(name: str, dtype: str, rows: int) -> str:
    """Every row gets the sum over all rows of the block: shows what a tail was padded with."""
    body = _Body(dtype)
    x, z = body.pointer("in", 0), body.pointer("out", 0)
    total = body.load(x, 0)
    for row in range(1, rows):
        total = body.emit(f"fadd {body.type} {total}, {body.load(x, row)}")
    for row in range(rows):
        body.store(total, z, row)
    return body.function(name)


class Recorder(NativeKernel):
    """A kernel that notes which of its Python methods the launcher called."""

    def __init__(self, code: Code, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.code = code
        self.slow: list[tuple[tuple[object, ...], object]] = []
        self.prepared: list[int] = []
        self.nonfinite: list[tuple[object, ...]] = []

    def _slow_call(self, args: tuple[object, ...], out: object = None, /) -> Any:
        self.slow.append((args, out))
        return "slow"

    def _prepare(self, batch: int, /) -> None:
        self.prepared.append(batch)
        self.set_lane_fn(self.code.address("lane"))
        self.set_single_fn(self.code.address("single"))

    def _report_bad_values(self, args: tuple[object, ...], /) -> None:
        self.nonfinite.append(args)
        raise ArithmeticError("not finite")


def axpy_kernel(
    dtype: Any = "float64", lanes: int = 4, shape: tuple[int, ...] = (3,), lazy: bool = False, **keywords: Any
) -> Recorder:
    count = int(np.prod(shape))
    code = Code(axpy("lane", dtype, lanes, count, 2.5) + axpy("single", dtype, 1, count, 2.5))
    if not lazy:
        keywords |= {"lane_fn": code.address("lane"), "single_fn": code.address("single")}
    workspace = lanes * count * np.dtype(dtype).itemsize
    return Recorder(
        code,
        in_shapes=(shape, shape),
        out_shapes=(shape,),
        dtype=dtype,
        lanes=lanes,
        workspace=workspace,
        **keywords,
    )


def pair_kernel(dtype: Any = "float64", lanes: int = 8, **keywords: Any) -> Recorder:
    code = Code(scale_and_total("lane", dtype, lanes, 6) + scale_and_total("single", dtype, 1, 6))
    return Recorder(
        code,
        lane_fn=code.address("lane"),
        single_fn=code.address("single"),
        in_shapes=((2, 3), ()),
        out_shapes=((2, 3), ()),
        dtype=dtype,
        lanes=lanes,
        result_type=Pair,
        **keywords,
    )


def axpy_expected(x: Array, y: Array) -> Array:
    result: Array = x.dtype.type(2.5) * x + y
    return result


def pair_expected(x: Array, s: Array) -> Pair:
    scaled = x * s[..., None, None]
    columns = scaled.reshape(*s.shape, 6)
    total = columns[..., 0]
    for i in range(1, 6):
        total = total + columns[..., i]
    return Pair(scaled, total)
