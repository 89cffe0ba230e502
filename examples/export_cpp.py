"""Kernels as C++ for a project of your own: the folder is written, compiled and checked.

Without a C++ compiler it stops after the folder and says so.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import robomorph
from robomorph.export import export

robot = robomorph.load("iiwa14")
compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))), None)

with tempfile.TemporaryDirectory() as place:
    folder = Path(place) / "arm"
    export(robot, folder, functions=["inverse_dynamics", "jacobian:lbr_iiwa_link_7"], name="arm")
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    print(f"{len(files)} files, among them:")
    for name in files:
        if name.startswith(("include/arm/inverse", "include/arm/jacobian", "example", "test", "CMakeLists")):
            print(" ", name)
    if compiler is None:
        print("not compiled: no C++ compiler found (c++, g++ or clang++; CXX names another)")
    else:
        check = folder / "self_check"
        source = folder / "test" / "self_check.cpp"
        options = ["-std=c++17", "-O1", f"-I{folder / 'include'}"]
        subprocess.run([compiler, *options, source, "-o", check], check=True)
        result = subprocess.run([check], check=True, capture_output=True, text=True)
        print(f"{Path(compiler).name} compiled its self-check, which says:")
        print(result.stdout.strip())
