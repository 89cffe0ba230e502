"""Compiled variants of a program for this CPU, through the disk cache."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from robomorph.ir.program import Program
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime.cache import default_cache
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.emit import Emitted, emit
from robomorph.targets.cpu.host import host


@dataclass(frozen=True)
class CompiledVariant:
    """Code for one number of lanes, in memory."""

    code: LoadedCode
    workspace: int
    seconds: float
    from_cache: bool

    @property
    def address(self) -> int:
        return self.code.address


def emit_for_host(program: Program, dtype: str, lanes: int) -> Emitted:
    """LLVM text of a simplified program for this machine."""
    cpu = host()
    scheduled = run_passes(program, SCHEDULE)
    return emit(scheduled, dtype, lanes, fma=cpu.fma, vector_bits=cpu.vector_bits)


def compile_variant(key: str, program: Callable[[], Program], dtype: str, lanes: int) -> CompiledVariant:
    """Code for `lanes` rows at a time. `key` names everything the program was made from; the program
    itself is only asked for when the cache has no entry."""
    start = time.perf_counter()
    full_key = f"{key}|{dtype}|{lanes}|{host().fingerprint}"
    cache = default_cache()
    stored = cache.get(full_key)
    if stored is None:
        emitted = emit_for_host(program(), dtype, lanes)
        stored = _pack(emitted, compile_object(emitted.text))
        cache.put(full_key, stored)
        fresh = True
    else:
        fresh = False
    symbol, workspace, code = _unpack(stored)
    loaded = LoadedCode(code, symbol)
    return CompiledVariant(loaded, workspace, time.perf_counter() - start, not fresh)


def _pack(emitted: Emitted, code: bytes) -> bytes:
    header = json.dumps({"symbol": emitted.symbol, "workspace": emitted.workspace}).encode()
    return struct.pack("<I", len(header)) + header + code


def _unpack(payload: bytes) -> tuple[str, int, bytes]:
    (size,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + size])
    return header["symbol"], header["workspace"], payload[4 + size :]
