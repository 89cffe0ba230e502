"""The robots that come with robomorph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import robomorph.model.robots
from robomorph.model import WORLD, builtin_robots, load_model

FACTS = {
    # name: joints, total mass of the moving links (kg), links
    "iiwa14": (7, 17.5, 8),
    "hyq": (12, 4 * (2.93 + 2.638 + 0.881), 13),
    "atlas": (30, 0.0, 31),
}


def test_the_list_names_what_can_be_loaded() -> None:
    robots = builtin_robots()
    assert list(robots) == ["iiwa14", "hyq", "atlas", "chain:N"]
    for name, line in robots.items():
        assert line and "\n" not in line
        load_model(name.replace("N", "3"), strict=True)


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("floating", [False, True])
def test_counts(name: str, floating: bool) -> None:
    joints, mass, links = FACTS[name]
    strict = not (
        floating and name == "iiwa14"
    )  # its root link "world" has no mass, which is worth a warning
    if strict:
        model = load_model(name, floating_base=floating, strict=True)
    else:
        with pytest.warns(UserWarning, match="floating link without mass"):
            model = load_model(name, floating_base=floating)
    assert len(model.bodies) == joints + floating
    assert len(model.link_names) == links
    if mass and not floating:
        assert sum(body.inertia.mass for body in model.bodies) == pytest.approx(mass, rel=1e-12)
    assert all(np.isfinite([body.limits.lower, body.limits.upper]).all() for body in model.bodies[floating:])


def test_right_angles_are_exact() -> None:
    for name in FACTS:
        for body in load_model(name, snap=0.0).bodies:
            entries = np.abs(body.placement.rotation).ravel()
            assert set(np.round(entries, 15)) <= {0.0, 1.0}


def test_iiwa_is_an_arm_and_hyq_has_four_legs() -> None:
    iiwa = load_model("iiwa14")
    assert [body.parent for body in iiwa.bodies] == [WORLD, 0, 1, 2, 3, 4, 5]
    assert iiwa.link_names[0] == "world"
    hyq = load_model("hyq", floating_base=True)
    assert [body.parent for body in hyq.bodies] == [WORLD, 0, 1, 2, 0, 4, 5, 0, 7, 8, 0, 10, 11]


def test_the_files_agree_with_themselves_when_loaded_by_path() -> None:
    folder = Path(robomorph.model.robots.__file__).parent
    for name in FACTS:
        assert load_model(folder / f"{name}.urdf").digest == load_model(name).digest


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_chains_are_as_documented(count: int) -> None:
    chain = load_model(f"chain:{count}", strict=True)
    length, radius = 1 / count, 1 / (20 * count)
    assert chain.joint_names == tuple(f"joint_{i}" for i in range(1, count + 1))
    assert chain.link_names == ("link_0", *(f"link_{i}" for i in range(1, count + 1)), "tool")
    assert [body.parent for body in chain.bodies] == list(range(-1, count - 1))
    for i, body in enumerate(chain.bodies):
        assert body.kind == "continuous"
        assert body.axis.tolist() == ([0, 1, 0] if i % 2 else [0, 0, 1])
        assert body.placement.translation.tolist() == [length if i else 0.0, 0.0, 0.0]
        assert body.inertia.mass == length
        assert body.inertia.com.tolist() == [length / 2, 0.0, 0.0]
        across = length * (3 * radius**2 + length**2) / 12
        np.testing.assert_allclose(
            body.inertia.tensor, np.diag([length * radius**2 / 2, across, across]), rtol=1e-14
        )
    tool = chain.frames[chain.frame_index("tool")]
    assert tool.body == count - 1
    assert tool.placement.translation.tolist() == [length, 0.0, 0.0]
