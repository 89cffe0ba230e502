"""Compiling CUDA source with NVRTC, which needs neither nvcc nor a GPU; results are kept in the cache."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import re
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from robomorph.errors import TargetError
from robomorph.runtime.cache import default_cache

# Multiply-adds are explicit in the source; none are made where the program has none.
FLAGS = ("--fmad=false", "--std=c++17")

_FUNCTION = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


@dataclass(frozen=True)
class CubinInfo:
    """What the assembler says about a kernel and the functions it calls."""

    registers: int
    spill_stores: int  # bytes
    spill_loads: int  # bytes
    stack: int  # bytes, of the deepest function
    code_bytes: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture."""

    code: bytes
    info: CubinInfo
    log: str


class Nvrtc:
    """The NVRTC library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check("nvrtcVersion", library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        self.version = (major.value, minor.value)

    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities it compiles for, such as 80 for sm_80."""
        count = ctypes.c_int()
        self._check("nvrtcGetNumSupportedArchs", self.library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
        found = (ctypes.c_int * count.value)()
        self._check("nvrtcGetSupportedArchs", self.library.nvrtcGetSupportedArchs(found))
        return tuple(found)

    def compile(self, source: str, architecture: int, name: str) -> Cubin:
        """Machine code for sm_`architecture`, from the cache if it was compiled before."""
        flags = (f"--gpu-architecture=sm_{architecture}", "--ptxas-options=-v", *FLAGS)
        key = f"cubin|nvrtc {self.version}|{flags}|{source}"
        stored = default_cache().get(key)
        if stored is None:
            cubin = self._compile(source, flags, name)
            default_cache().put(key, _pack(cubin))
            return cubin
        return _unpack(stored)

    def _compile(self, source: str, flags: tuple[str, ...], name: str) -> Cubin:
        lib, program = self.library, ctypes.c_void_p()
        status = lib.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), f"{name}.cu".encode(), 0, None, None
        )
        self._check("nvrtcCreateProgram", status)
        with contextlib.ExitStack() as stack:
            stack.callback(lib.nvrtcDestroyProgram, ctypes.byref(program))
            words = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
            status = lib.nvrtcCompileProgram(program, len(flags), words)
            log = self._bytes(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            if status:
                raise TargetError(f"NVRTC refused {name} ({flags[0]}):\n{log}")
            code = self._bytes(program, "CUBIN")
        return Cubin(code, _info(log, code), log)

    def _bytes(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(what, getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        self._check(what, getattr(self.library, f"nvrtcGet{what}")(program, buffer))
        return buffer.raw[: size.value]

    def _check(self, doing: str, status: int) -> None:
        if status:
            self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
            text = self.library.nvrtcGetErrorString(status)
            raise TargetError(f"NVRTC: {doing} failed: {text.decode() if text else status}")


@cache
def nvrtc() -> Nvrtc:
    """The library of the pip package, else the system's."""
    for path in _candidates():
        try:
            return Nvrtc(ctypes.CDLL(path))
        except OSError:
            continue
    raise TargetError(
        'target "cuda" compiles with NVRTC, which was not found: install it with `pip install '
        'robomorph[cuda]` or a CUDA toolkit; target="opencl" and target="cpu" work without it'
    )


def _candidates() -> Iterator[str]:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        yield from (str(p) for p in sorted(Path(root).glob("*/lib/libnvrtc.so.*")) if "alt" not in p.name)
    yield from ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


def _info(log: str, code: bytes) -> CubinInfo:
    functions = [tuple(map(int, found)) for found in _FUNCTION.findall(log)]
    return CubinInfo(
        registers=max(map(int, _REGISTERS.findall(log)), default=0),
        spill_stores=sum(f[1] for f in functions),
        spill_loads=sum(f[2] for f in functions),
        stack=max((f[0] for f in functions), default=0),
        code_bytes=code_size(code),
        warnings=tuple(line for line in log.splitlines() if "warning" in line.lower()),
    )


def code_size(elf: bytes) -> int:
    """Bytes of machine code: the sections named .text.* of an ELF file."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + k * size) for k in range(count)]
    names = headers[names_index][4]
    total = 0
    for name, _, _, _, _, length in headers:
        start = names + name
        if elf[start : elf.index(b"\0", start)].startswith(b".text"):
            total += length
    return total


def _pack(cubin: Cubin) -> bytes:
    head = json.dumps({"info": asdict(cubin.info), "log": cubin.log}).encode()
    return struct.pack("<I", len(head)) + head + cubin.code


def _unpack(payload: bytes) -> Cubin:
    (size,) = struct.unpack_from("<I", payload)
    head = json.loads(payload[4 : 4 + size])
    info = CubinInfo(**{**head["info"], "warnings": tuple(head["info"]["warnings"])})
    return Cubin(payload[4 + size :], info, head["log"])
