"""Machine code for native drivers: what they need to call a kernel without Python."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass

from robomorph.ir.program import Program
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime.cache import default_cache
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host


@dataclass(frozen=True)
class NativeHandle:
    """A function ``void f(const T* const* in, T* const* out, void* workspace)`` in this process's memory.

    address: of the function. lanes: states of one call. in, out: a pointer per port, in the program's order,
    to an array (size, lanes) in lane order (entry k of lane l at k * lanes + l), aligned to whole vectors
    (64 bytes are always enough). workspace: bytes, aligned alike, for this call alone; threads need one
    each. T is float or double. The function allocates nothing, keeps nothing, throws nothing and may run on
    any thread. It lives as long as this object: whoever keeps the address keeps the handle.
    note: a number that was stored with the code.
    """

    code: LoadedCode
    workspace: int
    lanes: int
    dtype: str
    note: int

    @property
    def address(self) -> int:
        return self.code.address


def lane_handle(key: str, program: Callable[[], tuple[Program, int]], dtype: str, lanes: int) -> NativeHandle:
    """Code for the program that `key` names; `program` gives it and its note if the cache does not."""
    full_key = f"lanes|{key}|{dtype}|{lanes}|{host().fingerprint}"
    stored = default_cache().get(full_key)
    if stored is None:
        stored = _compile(*program(), dtype, lanes)
        default_cache().put(full_key, stored)
    (size,) = struct.unpack_from("<I", stored)
    header = json.loads(stored[4 : 4 + size])
    code = LoadedCode(stored[4 + size :], header["symbol"])
    return NativeHandle(code, header["workspace"], lanes, dtype, header["note"])


def _compile(program: Program, note: int, dtype: str, lanes: int) -> bytes:
    cpu = host()
    scheduled = run_passes(program, SCHEDULE)
    emitted = emit(scheduled, dtype, lanes, fma=cpu.fma, vector_bits=cpu.vector_bits, rows=False)
    facts = {"symbol": emitted.symbol, "workspace": emitted.workspace, "note": note}
    header = json.dumps(facts).encode()
    return struct.pack("<I", len(header)) + header + compile_object(emitted.text)
