"""The one manifest of every export: who made it, for which robot, what it holds, and which files it has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import robomorph
from robomorph.targets.cpp.package import CppPackage

MANIFEST = "robomorph.json"


def manifest(target: str, robot: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """What every export says first, then what is known about this one."""
    return {"made_by": f"robomorph {robomorph.__version__}", "target": target, "robot": robot, **about}


def manifest_text(known: Mapping[str, Any], files: Iterable[str], path: str) -> str:
    """The manifest as it lies at `path` of a folder of `files`, itself among them."""
    return json.dumps({**known, "files": sorted({*files, path})}, indent=2) + "\n"


def is_manifest(found: Mapping[str, Any]) -> bool:
    """Whether robomorph wrote it; designs used to have "generator"."""
    return str(found.get("made_by", found.get("generator"))).startswith("robomorph")


def source_manifest(target: str, package: CppPackage) -> dict[str, Any]:
    """Of functions as sources, in whatever language."""
    data = package.data
    limits = {
        name: [x if abs(x) < float("inf") else None for x in getattr(data, name)]
        for name in ("lower", "upper", "velocity", "effort")
    }
    about = {
        "name": package.name,
        "dtypes": list(package.dtypes),
        "joints": list(data.joints),
        "coordinates": list(data.coordinates),
        "velocities": list(data.velocities),
        "limits": limits,
        "gravity": list(data.gravity),
        "left_out": dict(package.left_out),
        "constants": dict(package.constants),
        "functions": {
            f.name: {
                "title": f.title,
                "inputs": {p.name: list(p.shape) for p in f.inputs},
                "outputs": {p.name: list(p.shape) for p in f.outputs},
                "operations": f.program.cost(),
            }
            for f in package.functions
        },
    }
    return manifest(target, package.robot, about)
