"""What the parts of an MJCF model are called here, also where the file gives no names.

| part | name |
|---|---|
| body | its own, else `body_<id>` with MuJoCo's number of it; the world body is `world` |
| joint | its own, else `<body>_joint`, or `<body>_joint_<n>` with n from 0 if the body has several |
| link between two joints of a body | `<body>@<joint>`, after the joint that moves it |
| site | its own; `<site>_site` if a link is called so; sites without a name are left out |

A name that is taken already gets `_2`, `_3`, ... at its end.
"""

from __future__ import annotations

from .mjcf_arrays import Arrays


class Names:
    """The names of one model's bodies, joints and sites (empty where they are left out), by MuJoCo's ids."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.model = _model_name(arrays) or "robot"
        self._links = {name for i in range(arrays.count("nbody")) if (name := arrays.name("body", i))}
        self._joints = {name for i in range(arrays.count("njnt")) if (name := arrays.name("jnt", i))}
        self._links.add("world")
        self.bodies = ["world", *(self._body(i) for i in range(1, arrays.count("nbody")))]
        self.joints = [self._joint(i) for i in range(arrays.count("njnt"))]
        self.between = {i: self._between(i) for i in range(arrays.count("njnt"))}
        self.sites = [self._site(i) for i in range(arrays.count("nsite"))]

    def _body(self, body: int) -> str:
        return self._arrays.name("body", body) or _free(f"body_{body}", self._links)

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
        return _free(f"{self.bodies[body]}@{self.joints[joint]}", self._links)

    def _site(self, site: int) -> str:
        name = self._arrays.name("site", site)
        if not name:
            return ""
        if name in self._links:
            return _free(f"{name}_site", self._links)
        self._links.add(name)
        return name


def _model_name(arrays: Arrays) -> str:
    """It is the first of all names."""
    return bytes(arrays.model.names).split(b"\0", 1)[0].decode("utf-8", "replace")


def _free(name: str, taken: set[str]) -> str:
    """`name`, or it with a number that is not taken; taken from now on."""
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    taken.add(made)
    return made
