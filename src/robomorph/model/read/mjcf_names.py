"""What the parts of an MJCF model are called here, also where the file gives no names.

| part | name |
|---|---|
| body | its own, else `body_<id>` with MuJoCo's number of it; the world body is `world` |
| joint | its own, else `<body>_joint`, or `<body>_joint_<n>` with n from 0 if the body has several |
| link between two joints of a body | `<body>@<joint>`, after the joint that moves it |
| site | its own; `<site>_site` if a body is called so; sites without a name are left out |
| what joins a body without joints to its parent | `<body>@fixed`, in messages |

A name that is taken already, or that the file gives another, gets `_2`, `_3`, ... at its end.
"""

from __future__ import annotations

from .mjcf_arrays import Arrays


class Names:
    """The names of one model's bodies, joints and sites (empty where they are left out), by MuJoCo's ids."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.model = arrays.name_at(0) or "robot"  # the first of all names is the model's
        links = {"world", *self._given("body", "nbody")}
        self._frames = {*links, *self._given("site", "nsite")}
        self._joints = {*self._given("jnt", "njnt")}
        self.bodies = ["world", *(self._body(i) for i in range(1, arrays.count("nbody")))]
        self.joints = [self._joint(i) for i in range(arrays.count("njnt"))]
        self.between = {i: self._between(i) for i in range(arrays.count("njnt"))}
        self.fixed = [_free(f"{body}@fixed", self._joints) for body in self.bodies]
        self.sites = [self._site(i, links) for i in range(arrays.count("nsite"))]

    def _given(self, which: str, count: str) -> list[str]:
        """The names that the file gives things of one kind."""
        names = (self._arrays.name(which, i) for i in range(self._arrays.count(count)))
        return [name for name in names if name]

    def _body(self, body: int) -> str:
        return self._arrays.name("body", body) or _free(f"body_{body}", self._frames)

    def _joint(self, joint: int) -> str:
        name = self._arrays.name("jnt", joint)
        if name:
            return name
        body = int(self._arrays["jnt_bodyid"][joint])
        first, several = int(self._arrays["body_jntadr"][body]), int(self._arrays["body_jntnum"][body]) > 1
        made = f"{self.bodies[body]}_joint" + (f"_{joint - first}" if several else "")
        return _free(made, self._joints)

    def _between(self, joint: int) -> str:
        body = int(self._arrays["jnt_bodyid"][joint])
        last = int(self._arrays["body_jntadr"][body] + self._arrays["body_jntnum"][body]) - 1
        if joint == last:
            return self.bodies[body]
        return _free(f"{self.bodies[body]}@{self.joints[joint]}", self._frames)

    def _site(self, site: int, links: set[str]) -> str:
        name = self._arrays.name("site", site)
        return _free(f"{name}_site", self._frames) if name in links else name


def _free(name: str, taken: set[str]) -> str:
    """`name`, or it with a number that is not taken; taken from now on."""
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    taken.add(made)
    return made
