"""Generated code says which step of its algorithm, and which link, its lines belong to."""

from __future__ import annotations

import re

import pytest

import robomorph
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.export import make_package
from robomorph.targets.cpp.function import function_header
from robomorph.targets.cpp.package import CppFunction


def exported(name: str, algorithm: str) -> tuple[robomorph.Robot, CppFunction, str]:
    robot = robomorph.load(name)
    package = make_package(robot, [algorithm])
    return robot, package.functions[0], function_header(package, package.functions[0])


def test_newton_euler_reads_as_its_sweeps() -> None:
    """Velocities and the rest link by link outward, then torques inward."""
    robot, _, text = exported("iiwa14", "inverse_dynamics")
    links = [body.name for body in robot.model.bodies]
    found = re.findall(r"^  // ([a-z ]+): (\S+)$", text, re.MULTILINE)
    velocities = [links.index(link) for sweep, link in found if sweep == "velocities"]
    torques = [links.index(link) for sweep, link in found if sweep == "torques"]
    assert len(velocities) >= 5
    assert velocities == sorted(velocities)
    assert len(torques) >= 4
    assert torques == sorted(torques, reverse=True)


@pytest.mark.parametrize("algorithm", ["forward_dynamics_gradient", "center_of_mass_jacobian"])
def test_comments_name_steps_and_links_that_exist(algorithm: str) -> None:
    robot, function, _ = exported("hyq", algorithm)
    parts = {p.name for parts in ALGORITHMS[algorithm].formulations.values() for p in parts}
    links = {body.name for body in robot.model.bodies}
    for comment in function.comments.values():
        part, _, rest = comment.partition(": ")
        assert part in parts | {"joint transforms"}
        assert not rest or re.sub(r" by degree of freedom \d+$", "", rest) in links


def test_every_block_begins_with_what_it_does() -> None:
    _, _, text = exported("hyq", "forward_dynamics_gradient")
    blocks = text.split("// Block ")[1:]
    assert len(blocks) > 3
    for block in blocks:
        head, _, body = block.partition("noexcept {\n")
        assert "Reads" in head or "Completes" in head
        assert body.startswith("  // ")


def test_completed_results_are_named() -> None:
    _, _, text = exported("iiwa14", "inverse_dynamics")
    assert "// Completes tau." in text
    assert "tau[0] = " in text
