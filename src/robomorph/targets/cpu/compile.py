"""Compiled variants of a program for this CPU, through the disk cache."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from robomorph.ir.program import Program
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime.cache import default_cache
from robomorph.targets.cpu.build import LoadedCode, compile_objects
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.writer import Emitted

_CHUNKS_OF_A_LONG_PROGRAM = 16


@dataclass(frozen=True)
class CompiledVariant:
    """Code for one number of lanes, in memory."""

    code: LoadedCode
    workspace: int
    flops: int  # arithmetic of one call, all lanes together
    seconds: float
    from_cache: bool
    several: int = 0  # address of a function for `blocks` calls at once, 0 if there is none
    blocks: int = 1

    @property
    def address(self) -> int:
        return self.code.address


def emit_for_host(program: Program, dtype: str, lanes: int) -> Emitted:
    """LLVM text of a simplified program for this machine."""
    cpu = host()
    scheduled = run_passes(program, SCHEDULE)
    return emit(scheduled, dtype, lanes, fma=cpu.fma, vector_bits=cpu.vector_bits)


def compile_variant(
    key: str | None, emit_lanes: Callable[[int], Emitted], dtype: str, lanes: int
) -> CompiledVariant:
    """Code for `lanes` rows at a time. `key` names everything the code is made from; it is only emitted when
    the cache has no entry. Without a key nothing is looked up or kept."""
    start = time.perf_counter()
    full_key = _variant_key(key, dtype, lanes)
    cache = default_cache()
    stored = cache.get(full_key) if key is not None else None
    if stored is None:
        emitted = emit_lanes(lanes)
        stored = _pack(emitted, compile_objects(emitted.modules(_module_count(emitted))))
        if key is not None:
            cache.put(full_key, stored)
        fresh = True
    else:
        fresh = False
    header, objects = _unpack(stored)
    more = header["several"]
    loaded = LoadedCode(objects, header["symbol"], *more)
    return CompiledVariant(
        loaded,
        header["workspace"],
        header["flops"],
        time.perf_counter() - start,
        not fresh,
        loaded.address_of(more[0]) if more else 0,
        header["blocks"],
    )


def is_stored(key: str | None, dtype: str, lanes: int) -> bool:
    """Would `compile_variant` find its code in the cache?"""
    return key is not None and default_cache().get(_variant_key(key, dtype, lanes)) is not None


def _variant_key(key: str | None, dtype: str, lanes: int) -> str:
    return f"{key}|{dtype}|{lanes}|{host().fingerprint}"


def _module_count(emitted: Emitted) -> int:
    """A long program is compiled in two halves, so that LLVM never holds all of it in memory."""
    return 2 if len(emitted.chunks) >= _CHUNKS_OF_A_LONG_PROGRAM else 1


def _pack(emitted: Emitted, objects: list[bytes]) -> bytes:
    facts = {
        "symbol": emitted.symbol,
        "workspace": emitted.workspace,
        "flops": emitted.flops,
        "several": [emitted.several] if emitted.blocks > 1 else [],
        "blocks": emitted.blocks,
        "sizes": [len(code) for code in objects],
    }
    header = json.dumps(facts).encode()
    return struct.pack("<I", len(header)) + header + b"".join(objects)


def _unpack(payload: bytes) -> tuple[dict[str, Any], list[bytes]]:
    (size,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + size])
    objects, at = [], 4 + size
    for length in header["sizes"]:
        objects.append(payload[at : at + length])
        at += length
    return header, objects
