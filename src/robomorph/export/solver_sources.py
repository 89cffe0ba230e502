"""The native solver of control problems as headers of an exported controller.

The very sources of `native/mpc` are taken, so that there is one solver. What changes: functions become inline, so
that headers may be included anywhere; the namespace becomes the export's own, so that exports of several versions
live side by side; memory comes from the controller (`memory.h` has another version), and of the versions for vector
instructions the compiler's flags choose one.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from robomorph.errors import TargetError

_HEADERS = ("shape", "terms", "problem", "rows", "progress", "sweep", "sweep_versions", "form", "work")
_BODIES = ("rows", "sweep", "sweep_vectors", "sweep_pull", "sweep_nodes_room", "sweep_nodes_tiles")
_MORE_BODIES = ("sweep_nodes_matrices", "sweep_nodes", "sweep_problems_room", "sweep_problems_tiles")
_LAST_BODIES = ("sweep_problems_node", "sweep_problems")
_VERSIONS = tuple(
    f"{part}_{version}" for part in ("rows", "sweep") for version in ("plain", "avx2", "avx512")
)
_BUNDLE = ("", "_elastic", "_finish", "_judge", "_relax", "_report", "_search", "_shift", "_start")
_SOURCES = ("rows", "sweep", "work", "inverse_form", *(f"bundle{part}" for part in _BUNDLE))
# What begins a line without being the definition of a function or variable.
_NO_DEFINITION = re.compile(
    r"(?:namespace|using|typedef|struct|class|enum|template|inline|constexpr|friend|#|//|\}|\s|$)"
)


def solver_headers(namespace: str) -> dict[str, str]:
    """Headers by name, for a folder of their own; `solver.hpp` includes all."""
    place = _native()
    headers = [f"{name}.h" for name in (*_HEADERS, "inverse_form", "bundle")]
    bodies = [f"{name}_body.h" for name in (*_BODIES, *_MORE_BODIES, *_LAST_BODIES)]
    sources = [f"{name}.cpp" for name in (*_VERSIONS, *_SOURCES)]
    made: dict[str, str] = {}
    for name in (*headers, *bodies, *sources):
        text = (place / name).read_text()
        if not name.endswith(".h") or name.endswith("_body.h"):
            text = _inline(text, name.partition(".")[0])
        if name.endswith(".cpp"):
            text = f"#pragma once\n\n{text}"
        made[_renamed(name)] = _moved(text, namespace)
    return made


def source_names() -> list[str]:
    """The headers that hold definitions, but for those of vector instructions."""
    return [f"{name}.hpp" for name in _SOURCES]


def _native() -> Path:
    """Where the sources are: with the package, or in the repository that it is used from."""
    installed = Path(str(resources.files("robomorph"))) / "native" / "mpc"
    checkout = Path(__file__).parents[3] / "native" / "mpc"
    for place in (installed, checkout):
        if (place / "bundle.cpp").is_file():
            return place
    raise TargetError(f"export: the solver's sources are missing in {installed}: install robomorph anew")


def _renamed(name: str) -> str:
    return name.replace(".cpp", ".hpp")


def _moved(text: str, namespace: str) -> str:
    """All in one folder, and in the export's namespace."""
    text = re.sub(r'#include "mpc/([\w.]+)"', lambda found: f'#include "{_renamed(found[1])}"', text)
    return text.replace("namespace robomorph::mpc", f"namespace {namespace}::mpc")


def _inline(text: str, stem: str) -> str:
    """Definitions for a header: inline, and with a name where only their own file knew them."""
    lines = []
    for line in text.splitlines():
        if line == "namespace {":
            line = f"namespace only_{stem} {{"
        elif line == "}  // namespace":
            line = f"}}  // namespace only_{stem}\nusing namespace only_{stem};"
        elif line.startswith("static "):
            line = line.replace("static inline ", "inline ").replace("static ", "inline ", 1)
        elif not _NO_DEFINITION.match(line):
            line = f"inline {line}"
        elif line.startswith("constexpr "):
            line = f"inline {line}"
        lines.append(line)
    return "\n".join(lines) + "\n"
