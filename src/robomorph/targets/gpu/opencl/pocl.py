"""PoCL on a CPU that is younger than the LLVM it was built with.

PoCL asks its LLVM for the name of the CPU. An LLVM that does not know it says "generic", which Clang refuses
on x86-64, so that no program builds (`unknown target CPU 'generic'`). PoCL 3.0, the newest on PyPI (LLVM 14),
knows neither Zen 4 nor Zen 5 of AMD, and has no setting for it. The name is a C string in PoCL's record of
the device, behind that of the target's triple (`x86_64-...`); here it is exchanged for the name of an older
CPU whose instructions this one has too.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from itertools import takewhile
from typing import Any

import llvmlite.binding as llvm

from robomorph.errors import TargetError

_UNKNOWN = b"generic\0"
_TRIPLE = b"x86_64-"
_RECORD_BYTES = 2048  # where it is looked for: PoCL 3.0 has 1,032 for a device, then other memory begins
# Names that LLVM 14 knows, each with instructions that its code may contain beyond those of the one before.
_CPUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("x86-64", ("sse2",)),
    ("haswell", ("avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe", "popcnt", "cx16")),
    ("skylake-avx512", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "adx", "aes", "pclmul")),
)

_named: set[int] = set()
_lock = threading.Lock()


def name_the_cpu(device: Any) -> None:
    """Give a PoCL device the name of a CPU that its compiler knows, where it found none itself."""
    version = str(device.version).strip()
    if "pocl" not in version.lower() or not version.endswith("-generic") or "x86_64" not in version:
        return
    with _lock:
        record = int(device.int_ptr)
        if record in _named:
            return
        slot = find_name(record)
        if slot is None:
            raise TargetError(
                f'target "opencl": PoCL {device.driver_version} does not know this CPU ({device.name}) and '
                'builds nothing for it: install another OpenCL for it, or use target="cpu"'
            )
        ctypes.c_uint64.from_address(slot).value = _c_string(known_cpu(dict(llvm.get_host_cpu_features())))
        _named.add(record)


def known_cpu(features: dict[str, bool]) -> str:
    """The most able of the CPUs known to LLVM 14 whose instructions are all among `features`."""
    able = takewhile(lambda cpu: all(features.get(name) for name in cpu[1]), _CPUS)
    return [_CPUS[0][0], *(name for name, _ in able)][-1]


def find_name(record: int) -> int | None:
    """Where a record in this process's memory points to the string "generic", next after one that points to a
    target's triple: the address of that pointer.

    None if there is no such pair, or more than one: memory behind the record has pointers of others. Memory
    is read through the kernel, which refuses addresses that are none, where reading them directly would end
    the process.
    """
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY)
    except OSError:
        return None
    try:
        words = _read(memory, record, _RECORD_BYTES)
        pointers = [pointer for (pointer,) in struct.iter_unpack("<Q", words[: len(words) // 8 * 8])]
        found = [
            record + 8 * k
            for k in range(1, len(pointers))
            if _read(memory, pointers[k], len(_UNKNOWN)) == _UNKNOWN
            and _read(memory, pointers[k - 1], len(_TRIPLE)) == _TRIPLE
        ]
    finally:
        os.close(memory)
    return found[0] if len(found) == 1 else None


def _read(memory: int, address: int, size: int) -> bytes:
    if not 4096 <= address < 1 << 47:
        return b""
    try:
        return os.pread(memory, size, address)
    except OSError:
        return b""


def _c_string(text: str) -> int:
    """A copy of `text` as C's allocator makes it, so that whoever owns the record may free it."""
    library = ctypes.CDLL(None)
    library.strdup.restype = ctypes.c_void_p
    library.strdup.argtypes = [ctypes.c_char_p]
    address = library.strdup(text.encode())
    if not address:
        raise MemoryError
    return int(address)
