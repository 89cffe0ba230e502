"""A small robot with a revolute, a continuous, a prismatic and a mimic joint, fit for a floating base."""

from __future__ import annotations

from tests.model.samples import joint, link, robot

CRANE = robot(
    link("ground"),
    link("boom"),
    link("trolley"),
    link("hook"),
    link("counterweight"),
    joint("slew", "ground", "boom", "continuous", axis="0 0.6 0.8"),
    joint("run", "boom", "trolley", "prismatic", axis="1 0 0"),
    joint("swing", "trolley", "hook", axis="0 1 0"),
    joint(
        "balance",
        "boom",
        "counterweight",
        "prismatic",
        axis="1 0 0",
        extra='<mimic joint="run" multiplier="-0.7" offset="0.2"/>',
    ),
    name="crane",
)
