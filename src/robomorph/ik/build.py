"""Compiled programs in lane order, through the disk cache, for the native driver to call."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass

from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.ir.program import Program
from robomorph.ir.text import to_text
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime.cache import default_cache
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host


@dataclass(frozen=True)
class LaneCode:
    """Machine code of a program for a number of lanes; arrays are (size, lanes). Keep it alive while used."""

    code: LoadedCode
    workspace: int  # bytes
    note: int  # a number stored with the code (entries of the Jacobian that are computed)

    @property
    def address(self) -> int:
        return self.code.address


def lane_code(key: str, program: Callable[[], tuple[Program, int]], lanes: int) -> LaneCode:
    """Code for the program that `key` names; `program` gives it and its note if the cache does not."""
    full_key = f"ik|{source_fingerprint()}|{key}|{lanes}|{host().fingerprint}"
    stored = default_cache().get(full_key)
    if stored is None:
        stored = _compile(*program(), lanes)
        default_cache().put(full_key, stored)
    (size,) = struct.unpack_from("<I", stored)
    header = json.loads(stored[4 : 4 + size])
    code = LoadedCode(stored[4 + size :], header["symbol"])
    return LaneCode(code, header["workspace"], header["note"])


def program_code(program: Program, lanes: int) -> LaneCode:
    """Code for a program, found by what the program is and not by a name for it."""
    digest = hashlib.sha256(to_text(program).encode()).hexdigest()
    return lane_code(f"program|{digest}", lambda: (program, 0), lanes)


def _compile(program: Program, note: int, lanes: int) -> bytes:
    cpu = host()
    scheduled = run_passes(program, SCHEDULE)
    emitted = emit(scheduled, "float64", lanes, fma=cpu.fma, vector_bits=cpu.vector_bits, rows=False)
    header = json.dumps(
        {
            "symbol": emitted.symbol,
            "workspace": emitted.workspace,
            "note": note,
        }
    ).encode()
    return struct.pack("<I", len(header)) + header + compile_object(emitted.text)
