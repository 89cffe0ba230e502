"""Roots, choices and the arc tangent in exported C++: every compiler, lanes as registers and as loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robomorph.ir.interpret import interpret
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.targets.cpp.build import compile_shared
from robomorph.targets.cpp.package import CppFunction, CppPackage, RobotData
from robomorph.targets.cpp.project import project_files
from tests.export.tools import COMPILERS, STRICT, need
from tests.ir.test_choices import FUNCTIONS, numbers, traced


def package() -> CppPackage:
    functions = []
    for name in FUNCTIONS:
        program = run_passes(traced(name), SCHEDULE)
        arguments = {k: np.array([1.5, -0.5]) for k in "xyz"}
        with np.errstate(invalid="ignore"):
            reference = arguments | interpret(program, arguments)
        functions.append(
            CppFunction(f"f_{name}", name, program, dict.fromkeys(("x", "y", "z", "value"), ""), reference)
        )
    one = ("joint",)
    data = RobotData(one, one, one, (0.0,), (1.0,), (1.0,), (1.0,), (0.0, 0.0, -9.81))
    return CppPackage("choices", "none", "0", tuple(functions), data=data)


@pytest.mark.parametrize("lanes", ["vector", "portable"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_exported_code_means_the_same(tmp_path: Path, compiler: str, lanes: str) -> None:
    need(compiler)
    made = package()
    for path, text in project_files(made).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    flags = ("-O1", "-march=native", *STRICT)
    portable = ("-DROBOMORPH_PORTABLE_LANES",) if lanes == "portable" else ()
    library = compile_shared(made, tmp_path, compiler=compiler, flags=(*flags, *portable))
    for name, (_, meaning) in FUNCTIONS.items():
        for dtype in made.dtypes:
            arguments = numbers(dtype)
            found = library[f"f_{name}", dtype].batch(*arguments)["value"]
            with np.errstate(invalid="ignore"):
                expected = meaning(*arguments)
            tolerance = 3.0 * float(np.finfo(dtype).eps) if name == "atan2" else 0.0
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0, err_msg=f"{name} {dtype}")
