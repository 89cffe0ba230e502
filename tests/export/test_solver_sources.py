"""The solver's sources as headers: every file of native/mpc is taken or left out on purpose."""

from __future__ import annotations

import re
from pathlib import Path

from robomorph.export.solver_sources import LEFT_OUT, REPLACED, native_sources, solver_headers, taken_sources

BUILD = Path(__file__).parents[2] / "CMakeLists.txt"


def test_no_header_wants_a_file_that_is_left_out() -> None:
    """A new file of native/mpc is taken by itself; one that is left out must not be needed."""
    made = solver_headers("arm")
    for name, text in made.items():
        for wanted in re.findall(r'#include "([^"]+)"', text):
            assert wanted in made, (
                f"{name} wants {wanted}, which LEFT_OUT of export/solver_sources.py leaves out"
            )


def test_every_definition_is_included() -> None:
    made = solver_headers("arm")
    included = set(re.findall(r'#include "([^"]+)"', made["solver.hpp"] + made["best.hpp"]))
    definitions = {name for name in made if name.endswith(".hpp")}
    assert definitions - included <= {"solver.hpp"}


def test_what_the_module_is_built_from_is_known() -> None:
    built = set(re.findall(r"native/mpc/(\w+\.cpp)", BUILD.read_text()))
    known = {*taken_sources(), *(name for name in built if LEFT_OUT.fullmatch(name))}
    assert built - known == set()
    assert "bundle.cpp" in taken_sources() and REPLACED not in taken_sources()


def test_nothing_stays_private_to_a_file_or_in_our_namespace() -> None:
    for name, text in solver_headers("arm").items():
        assert not re.search(r"^namespace \{|^static |robomorph::mpc", text, re.MULTILINE), name


def test_macros_are_forgotten() -> None:
    made = solver_headers("arm")
    defined = {name for text in made.values() for name in re.findall(r"^#define (\w+)", text, re.MULTILINE)}
    forgotten = set(re.findall(r"^#undef (\w+)", made["best.hpp"], re.MULTILINE))
    assert defined <= forgotten
    assert "WIDTH" in defined


def test_sources_are_found() -> None:
    assert (native_sources() / "bundle.cpp").is_file()
