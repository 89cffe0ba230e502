"""Compiling an exported package with a C++ compiler found here, and calling it through its C interface."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError, TargetError
from robomorph.targets.cpp.c_abi import symbol
from robomorph.targets.cpp.package import Array, CppFunction, CppPackage, Routine

DEFAULT_FLAGS = ("-O2", "-march=native")


def find_compiler(name: str | None = None) -> str:
    """The path of a C++ compiler: the one named, $CXX, or the first of c++, g++, clang++."""
    names = [name] if name else [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    for candidate in filter(None, names):
        path = shutil.which(candidate)
        if path:
            return path
    raise TargetError(
        f"no C++ compiler found (looked for {', '.join(filter(None, names))}): install g++ or clang++"
    )


def compile_shared(
    package: CppPackage, folder: Path, *, compiler: str | None = None, flags: Sequence[str] = DEFAULT_FLAGS
) -> SharedLibrary:
    """Compile the package exported into `folder` and load the result."""
    library = folder / "build" / f"lib{package.name}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    source = str(folder / "src" / "c_abi.cpp")
    common = ["-std=c++17", "-ffp-contract=off", "-shared", "-fPIC", f"-I{folder / 'include'}"]
    run_compiler([find_compiler(compiler), *flags, *common, source, "-o", str(library)])
    return SharedLibrary(package, library)


def run_compiler(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TargetError(f"the C++ compiler failed: {' '.join(command)}\n{done.stderr[:4000]}")


def _loaded(path: Path) -> ctypes.CDLL:
    """By a name that no other library had: the loader knows libraries by their paths, and would give what
    was built there before."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".so") as copy:
        shutil.copyfile(path, copy.name)
        return ctypes.CDLL(copy.name)


class SharedLibrary:
    """A compiled package. `library[name]` or `library[name, "float32"]` is a callable function."""

    def __init__(self, package: CppPackage, path: Path) -> None:
        self.package, self.path = package, path
        self._functions = {f.name: f for f in package.routines}
        self._library = _loaded(path)

    def __getitem__(self, key: str | tuple[str, str]) -> SharedFunction:
        name, dtype = key if isinstance(key, tuple) else (key, self.package.dtypes[0])
        if name not in self._functions or dtype not in self.package.dtypes:
            known = ", ".join(self._functions)
            raise ArgumentError(f"{self.package.name} has no {name!r} in {dtype}: expected one of {known}")
        return SharedFunction(self._library, self.package.name, self._functions[name], dtype)


class SharedFunction:
    """One compiled function on NumPy arrays."""

    def __init__(
        self, library: ctypes.CDLL, package: str, function: CppFunction | Routine, dtype: str
    ) -> None:
        self.function, self.dtype = function, np.dtype(dtype)
        self._one = getattr(library, symbol(package, function.name, dtype))
        self._batch = getattr(library, symbol(package, function.name, dtype, batch=True))

    def __call__(self, *args: Any) -> dict[str, Array]:
        """One state: arguments of the ports' shapes."""
        inputs, outputs = self._arrays(args, ())
        self._one(*_pointers(inputs), *_pointers(outputs.values()))
        return outputs

    def batch(self, *args: Any) -> dict[str, Array]:
        """Arguments (count, *port.shape)."""
        count = len(args[0])
        inputs, outputs = self._arrays(args, (count,))
        self._batch(ctypes.c_size_t(count), *_pointers(inputs), *_pointers(outputs.values()))
        return outputs

    def _arrays(self, args: Sequence[Any], lead: tuple[int, ...]) -> tuple[list[Array], dict[str, Array]]:
        ports = self.function.inputs
        if len(args) != len(ports):
            raise ArgumentError(f"{self.function.name}: expected {len(ports)} arguments, found {len(args)}")
        inputs = [np.ascontiguousarray(a, self.dtype) for a in args]
        for port, array in zip(ports, inputs, strict=True):
            if array.shape != (*lead, *port.shape):
                raise ArgumentError(
                    f"{port.name}: expected shape {(*lead, *port.shape)}, found {array.shape}"
                )
        outputs = {p.name: np.empty((*lead, *p.shape), self.dtype) for p in self.function.outputs}
        return inputs, outputs


def _pointers(arrays: Any) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]
