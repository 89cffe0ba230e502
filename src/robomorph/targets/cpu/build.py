"""From LLVM text to machine code, and from machine code to addresses that can be called."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

import llvmlite.binding as llvm

from robomorph.errors import TargetError
from robomorph.targets.cpu.host import host

_serial = itertools.count()
_jit: Any = None


def compile_object(text: str, level: int = 2) -> bytes:
    """Native object code of an LLVM module."""
    _initialise()
    try:
        # A context of its own, which goes with the module: the global one would keep its constants and types.
        module = llvm.parse_assembly(text, llvm.create_context())
        return bytes(_machine(level).emit_object(module))
    except RuntimeError as error:
        raise TargetError(f"LLVM refused generated code (a defect in robomorph): {error}") from error


def linkable_object(text: str, shown: Collection[str], level: int = 2) -> bytes:
    """Object code for the system's linker, in which only the functions named in `shown` are seen."""
    _initialise()
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        machine = _machine(level)
        module.triple, module.data_layout = host().triple, str(machine.target_data)
        for function in module.functions:
            if not function.is_declaration and function.name not in shown:
                function.linkage = "internal"
        return bytes(machine.emit_object(module))
    except RuntimeError as error:
        raise TargetError(f"LLVM refused generated code (a defect in robomorph): {error}") from error


def assembly(text: str, level: int = 2) -> str:
    """Assembly listing of an LLVM module, for people."""
    _initialise()
    return str(_machine(level).emit_assembly(llvm.parse_assembly(text)))


def compile_objects(texts: Sequence[str]) -> list[bytes]:
    """Object code of several modules, one after the other: llvmlite lets one thread at a time into LLVM."""
    return [compile_object(text) for text in texts]


class LoadedCode:
    """Object code in executable memory; keep it alive as long as its address is used."""

    def __init__(self, code: bytes | Sequence[bytes], symbol: str, *more: str) -> None:
        """`symbol` is the one at `address`; further ones are found by `address_of`."""
        _initialise()
        library = llvm.JITLibraryBuilder()
        for name in (symbol, *more):
            library.export_symbol(name)
        for image in [code] if isinstance(code, bytes) else code:
            library.add_object_img(image)
        try:
            self._tracker = library.link(_lljit(), f"robomorph_{next(_serial)}")
            self.address = self.address_of(symbol)
        except RuntimeError as error:
            raise TargetError(f"cannot load compiled code for {symbol}: {error}") from error

    def address_of(self, symbol: str) -> int:
        return int(self._tracker[symbol])


def _machine(level: int) -> Any:
    cpu = host()
    target = llvm.Target.from_triple(cpu.triple)
    return target.create_target_machine(
        cpu=cpu.cpu, features=cpu.features, opt=level, reloc="pic", codemodel="small"
    )


def _lljit() -> Any:
    """With LLVM's newer linker, which puts all sections of an object side by side. The older one asks for
    memory section by section, and ends the process where two come to lie more than 2 GiB apart, as among the
    many libraries of a process that has loaded Torch or JAX."""
    global _jit
    if _jit is None:
        _jit = llvm.create_lljit_compiler(_machine(2), use_jit_link=True, suppress_errors=False)
    return _jit


_ready = False


def _initialise() -> None:
    global _ready
    if not _ready:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _ready = True
