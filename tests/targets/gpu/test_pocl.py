"""PoCL on CPUs that its compiler does not know: the name it goes by is exchanged, or the error says so."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, field

import pytest

from robomorph.errors import TargetError
from robomorph.targets.gpu.opencl import pocl

UNKNOWN = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-generic"
TRIPLE = b"x86_64-unknown-linux-gnu"


@pytest.fixture(autouse=True)
def nothing_named_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pocl, "_named", set())  # records of tests die, and others come to lie in their place


@dataclass
class Record:
    """What PoCL keeps of a device: numbers, addresses that are none, strings."""

    strings: tuple[bytes, ...]
    version: str = UNKNOWN
    name: str = "pthread-some CPU"
    driver_version: str = "3.0"
    keep: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        texts = [ctypes.create_string_buffer(s) for s in self.strings]
        words = [0, 1, 2**64 - 1, 0xDEAD_0000, 2**46 + 8, *(ctypes.addressof(t) for t in texts)]
        self.memory = ctypes.create_string_buffer(struct.pack(f"<{len(words)}Q", *words), pocl._RECORD_BYTES)
        self.keep += texts

    @property
    def int_ptr(self) -> int:
        return ctypes.addressof(self.memory)

    def string(self, k: int) -> bytes:
        pointer = struct.unpack_from("<Q", self.memory.raw, 8 * (5 + k))[0]
        return ctypes.string_at(pointer)


def test_the_name_is_exchanged_and_nothing_else() -> None:
    strings = (b"pthread", TRIPLE, b"generic", b"generic-64", b"generic", TRIPLE)  # the last two are others'
    record = Record(strings)
    pocl.name_the_cpu(record)
    names = [name for name, _ in pocl._CPUS]
    assert record.string(2).decode() in names
    assert [record.string(k) for k in (0, 1, 3, 4, 5)] == [*strings[:2], *strings[3:]]
    before = bytes(record.memory.raw)
    pocl.name_the_cpu(record)  # again: it goes by a name now
    assert record.memory.raw == before


@pytest.mark.parametrize(
    "strings", [(b"pthread",), (b"generic",), (TRIPLE, b"pthread"), (TRIPLE, b"generic", TRIPLE, b"generic")]
)
def test_no_single_name_is_an_error_with_the_mend(strings: tuple[bytes, ...]) -> None:
    record = Record(strings)
    before = bytes(record.memory.raw)
    with pytest.raises(TargetError, match=r"does not know this CPU.*pthread-some CPU.*target=\"cpu\""):
        pocl.name_the_cpu(record)
    assert record.memory.raw == before


@pytest.mark.parametrize(
    "version",
    [
        "OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3",
        "OpenCL 3.0 PoCL HSTR: pthread-aarch64-unknown-linux-gnu-generic",  # where Clang knows the name
        "OpenCL 3.0 (Build 0) x86_64-generic",
    ],
)
def test_devices_that_are_well_are_left_alone(version: str) -> None:
    record = Record((b"generic",), version=version)
    pocl.name_the_cpu(record)
    assert record.string(0) == b"generic"


def test_a_cpu_has_what_its_name_stands_for() -> None:
    everything = {feature: True for _, needed in pocl._CPUS for feature in needed}
    assert pocl.known_cpu(everything) == "skylake-avx512"
    assert pocl.known_cpu({**everything, "avx512vl": False}) == "haswell"
    assert pocl.known_cpu({**everything, "fma": False}) == "x86-64"
    assert pocl.known_cpu({"sse2": True, "avx": True}) == "x86-64"
    assert pocl.known_cpu({}) == "x86-64"
