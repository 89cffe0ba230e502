"""Machine code for native drivers: what they need to call a kernel without Python."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass

from robomorph.ir.program import Program
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime.cache import default_cache
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.writer import Emitted

_LONG = 16  # chunks


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


def stored_handle(key: str, dtype: str, lanes: int) -> NativeHandle | None:
    """The code that the cache has under `key`, loaded."""
    stored = default_cache().get(_full_key(key, dtype, lanes))
    return None if stored is None else _load(stored, dtype, lanes)


def compile_handle(key: str, program: Program, note: int, dtype: str, lanes: int) -> NativeHandle:
    """Code for a simplified program, left in the cache under `key`."""
    cpu = host()
    scheduled = run_passes(program, SCHEDULE)
    emitted = emit(scheduled, dtype, lanes, fma=cpu.fma, vector_bits=cpu.vector_bits, rows=False)
    return compile_emitted(key, emitted, note, dtype, lanes)


def compile_emitted(key: str, emitted: Emitted, note: int, dtype: str, lanes: int) -> NativeHandle:
    """Code in lane order, whatever its numbers are inside, left in the cache under `key`."""
    facts = {"symbol": emitted.symbol, "workspace": emitted.workspace, "note": note}
    header = json.dumps(facts).encode()
    # A long program in short pieces runs as fast with level 1, and takes LLVM half the time.
    level = 1 if len(emitted.chunks) >= _LONG else 2
    stored = struct.pack("<I", len(header)) + header + compile_object(emitted.text, level)
    default_cache().put(_full_key(key, dtype, lanes), stored)
    return _load(stored, dtype, lanes)


def _full_key(key: str, dtype: str, lanes: int) -> str:
    return f"lanes|{key}|{dtype}|{lanes}|{host().fingerprint}"


def _load(stored: bytes, dtype: str, lanes: int) -> NativeHandle:
    (size,) = struct.unpack_from("<I", stored)
    header = json.loads(stored[4 : 4 + size])
    code = LoadedCode(stored[4 + size :], header["symbol"])
    return NativeHandle(code, header["workspace"], lanes, dtype, header["note"])
