"""Exported GPU kernels: the CUDA example compiles and links, the OpenCL one runs and checks its results."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from robomorph.cli.main import main
from robomorph.export import export
from tests.targets.gpu.robots import robot
from tests.targets.gpu.toolchains import needs_nvcc, needs_opencl

FUNCTIONS = ["jacobian:lbr_iiwa_link_7", "energy"]


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_the_folder_is_complete(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    command = ["export", "iiwa14", "--target", target, "--functions", "mass_matrix,energy", "-o", str(folder)]
    assert main(command) == 0
    assert "mass_matrix" in capsys.readouterr().out
    suffix, example = ("cu", "check.cu") if target == "cuda" else ("cl", "check.c")
    names = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    kernels = {
        f"kernels/{f}_{d}_{m}.{suffix}"
        for f in ("mass_matrix", "energy")
        for m in ("thread", "group")
        for d in ("f32", "f64")
    }
    known = {"CMakeLists.txt", "README.md", "kernels.h", "reference.h", "robomorph.json", example}
    assert names == kernels | known
    readme = (folder / "README.md").read_text()
    assert "| `mass_matrix_f64_group` | q [7] | mass [7, 7] |" in readme
    assert "@" not in readme + (folder / "CMakeLists.txt").read_text()
    assert main(command) == 0  # over an earlier export


@needs_nvcc
def test_cuda_compiles_and_links_without_warnings(tmp_path: Path) -> None:
    export(robot("iiwa14"), tmp_path, target="cuda", functions=FUNCTIONS, dtypes=["float32"])
    sources = [str(p) for p in sorted((tmp_path / "kernels").glob("*.cu"))]
    flags = ["-std=c++17", "--fmad=false", "-arch=sm_80", "-Werror=all-warnings", "-I", str(tmp_path)]
    command = ["nvcc", *flags, str(tmp_path / "check.cu"), *sources, "-o", str(tmp_path / "check")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(tmp_path / "check")], capture_output=True, text=True, timeout=60, check=False)
    if "driver version is insufficient" in ran.stderr or "no CUDA-capable device" in ran.stderr:
        assert ran.returncode == 2  # nothing is reported as right that was not computed
    else:
        assert ran.returncode == 0, ran.stdout + ran.stderr


def opencl_library() -> Path | None:
    """The OpenCL loader that pyopencl brings with it."""
    spec = find_spec("pyopencl")
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    found = [
        p
        for root in roots
        for p in [*root.glob(".libs/libOpenCL*"), *root.glob("../pyopencl.libs/libOpenCL*")]
    ]
    return found[0] if found else None


def compile_example(folder: Path) -> None:
    library = opencl_library()
    assert library is not None
    headers = Path(__file__).with_name("opencl_headers")
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{headers}", f"-I{folder}", "-Dmain=run"]
    links = [str(library), "-lm", f"-Wl,-rpath,{library.parent}", "-shared", "-fPIC"]
    command = ["gcc", *flags, str(folder / "check.c"), "-o", str(folder / "check.so"), *links]
    subprocess.run(command, check=True, timeout=120)


@needs_opencl
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on the path")
@pytest.mark.skipif(opencl_library() is None, reason="pyopencl was built against a system's OpenCL library")
@pytest.mark.parametrize("broken", [False, True])
def test_the_opencl_example_runs(broken: bool, tmp_path: Path) -> None:
    export(robot("iiwa14"), tmp_path, target="opencl", functions=FUNCTIONS, dtypes=["float32", "float64"])
    if broken:  # a wrong result must be seen
        kernel = tmp_path / "kernels" / "energy_f64_thread.cl"
        kernel.write_text(kernel.read_text().replace("kinetic[0] = ", "kinetic[0] = 1.001 * "))
    compile_example(tmp_path)
    # pyopencl shows its loader where the drivers are, and robomorph tells PoCL the CPU's name if it must,
    # so the example runs in a process that has both.
    code = (
        "import ctypes, sys; from robomorph.targets.gpu.opencl.device import open_device; open_device(); "
        "sys.exit(ctypes.CDLL('./check.so').run())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 8, done.stdout + done.stderr
    wrong = [line.split()[0] for line in lines if line.endswith("WRONG")]
    assert wrong == (["energy_f64_thread"] if broken else [])
    assert done.returncode == (1 if broken else 0)
