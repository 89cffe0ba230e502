"""Kernels as files for a user's own project: C++, CUDA, OpenCL and SystemVerilog."""

from robomorph.export.package import (
    DTYPES,
    FunctionSpec,
    build_shared,
    check_names,
    default_functions,
    export,
    frame_functions,
    make_package,
    reference_states,
)

__all__ = [
    "DTYPES",
    "FunctionSpec",
    "build_shared",
    "check_names",
    "default_functions",
    "export",
    "frame_functions",
    "make_package",
    "reference_states",
]
