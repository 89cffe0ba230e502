"""The native solver of control problems as headers of an exported controller.

The very sources of `native/mpc` are taken, so that there is one solver. What changes: functions become
inline, so that headers may be included anywhere; the namespace becomes the export's own, so that exports of
several versions live side by side; memory comes from the controller (`memory.h` has another version), and of
the versions for vector instructions the compiler's flags choose one.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from robomorph.errors import TargetError
from robomorph.targets.templates import fill

# What an exported controller has no use for: batches, other forms of problems, choices at run time. Of memory
# it has a version of its own.
LEFT_OUT = re.compile(
    r"solver\.(h|cpp)|form\.cpp|(rows|sweep)_best\.cpp|sweep_problems\w*_body\.h|ddp_\w+\.(h|cpp)|"
    r"forward_form\.(h|cpp)"
)
REPLACED = "memory.h"
_VERSION = re.compile(r"_(plain|avx2|avx512)\.cpp$")
# What begins a line without being the definition of a function or variable.
_NO_DEFINITION = re.compile(
    r"(?:namespace|using|typedef|struct|class|enum|template|inline|friend|static_assert|INLINED|UNROLLED|#|//|\}|\s|$)"
)


def solver_headers(namespace: str) -> dict[str, str]:
    """Headers by name, for a folder of their own; `solver.hpp` includes all."""
    place = native_sources()
    made: dict[str, str] = {}
    for name in taken_sources():
        text = (place / name).read_text(encoding="utf-8")
        if name.endswith((".cpp", "_body.h")):
            text = _inline(text, name.partition(".")[0])
        if name.endswith(".cpp"):
            text = f"#pragma once\n\n{text}"
        made[_renamed(name)] = _moved(text, namespace)
    words = {
        "namespace": namespace,
        "forget": "\n".join(f"#undef {name}" for name in _macros(made)),
        "sources": "\n".join(f'#include "{_renamed(name)}"' for name in taken_sources() if _is_plain(name)),
    }
    for name in (REPLACED, "best.hpp", "solver.hpp"):
        made[name] = fill("cpp", f"mpc/{name}.in", words)
    return made


def taken_sources() -> list[str]:
    """Names of the files of native/mpc that an export has."""
    names = sorted(path.name for path in native_sources().iterdir() if path.suffix in (".h", ".cpp"))
    return [name for name in names if name != REPLACED and not LEFT_OUT.fullmatch(name)]


def native_sources() -> Path:
    """Where the sources are: with the package, or in the repository that it is used from."""
    installed = Path(str(resources.files("robomorph"))) / "native" / "mpc"
    checkout = Path(__file__).parents[3] / "native" / "mpc"
    for place in (checkout, installed):
        if (place / "bundle.cpp").is_file():
            return place
    raise TargetError(f"export: the solver's sources are missing in {installed}: install robomorph anew")


def _is_plain(name: str) -> bool:
    """Definitions, but for those of one set of vector instructions."""
    return name.endswith(".cpp") and not _VERSION.search(name)


def _renamed(name: str) -> str:
    return name.replace(".cpp", ".hpp")


def _macros(headers: dict[str, str]) -> list[str]:
    """All that headers define, to be forgotten at their end."""
    found = (re.findall(r"^#define (\w+)", text, re.MULTILINE) for text in headers.values())
    return sorted({name for names in found for name in names})


def _moved(text: str, namespace: str) -> str:
    """All in one folder, in the export's namespace, and without sweeps of several problems."""
    text = re.sub(r'#include "mpc/sweep_problems\w*_body\.h"\n', "", text)
    text = re.sub(r"sweep_of_problems(<\w+>)?", "nullptr", text)
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
        elif line.startswith("#define "):
            line = line.replace("static inline", "inline")
        elif line.startswith("static "):
            line = line.replace("static inline ", "inline ").replace("static ", "inline ", 1)
        elif not _NO_DEFINITION.match(line):
            line = f"inline {line}"
        lines.append(line)
    return "\n".join(lines) + "\n"
