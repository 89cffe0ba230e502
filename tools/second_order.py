"""Second derivatives of inverse dynamics beside Pinocchio's: python tools/second_order.py --eigen FOLDER

Pinocchio's wheel has no Python function for them, but the headers. So this compiles a library with g++ (some
two minutes), compares all numbers at fast random states, and times both on one thread, a batch of 128.
`--eigen`: the folder that holds `Eigen/`, such as casadi/include/eigen3 of CasADi's wheel.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.model.robots import builtin_urdf

Array = npt.NDArray[np.float64]
ROBOTS = ("iiwa14", "hyq")
BATCH, ROUNDS = 128, 60
_KINDS = ("RX", "RY", "RZ", "PX", "PY", "PZ")
_FLAGS = (
    *("-O3", "-march=native", "-DNDEBUG", "-w", "-std=c++17", "-fPIC", "-shared"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30"),
    *("-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_FUSION_INVOKE_MAX_ARITY=10"),
)


def compiled(eigen: str, folder: str) -> ctypes.CDLL:
    import pinocchio

    prefix = next(p for p in Path(pinocchio.__file__).parents if (p / "include" / "pinocchio").is_dir())
    library = Path(folder) / "second_order.so"
    source = Path(__file__).with_suffix(".cpp")
    libraries = [f"-L{prefix / 'lib'}", "-lpinocchio_default", f"-Wl,-rpath,{prefix / 'lib'}"]
    includes = [f"-I{prefix / 'include'}", f"-I{eigen}"]
    subprocess.run(["g++", *_FLAGS, str(source), "-o", str(library), *includes, *libraries], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.make.restype = ctypes.c_void_p
    return loaded


def place(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Theirs:
    """A robot of Pinocchio's with the states of ours, in its own order of joints."""

    def __init__(self, library: ctypes.CDLL, name: str, robot: robomorph.Robot) -> None:
        import pinocchio

        text = builtin_urdf(name)
        assert text is not None
        model = pinocchio.buildModelFromXML(text.decode())
        joints = range(1, model.njoints)
        kinds = np.array(
            [_KINDS.index(model.joints[i].shortname().removeprefix("JointModel")) for i in joints], np.int32
        )
        parents = np.array([model.parents[i] for i in joints], np.int32)
        spots = (model.jointPlacements[i] for i in joints)
        places = np.array([[*x.rotation.ravel(), *x.translation] for x in spots])
        inertias = np.array([model.inertias[i].toDynamicParameters() for i in joints])
        self.library, self.nv = library, model.nv
        parts = (place(parents), place(kinds), place(places), place(inertias))
        self.handle = ctypes.c_void_p(library.make(len(joints), *parts))
        self.order = np.array([model.joints[model.getJointId(j)].idx_v for j in robot.joint_names])

    def states(self, *arrays: Array) -> list[Array]:
        out = [np.zeros_like(a) for a in arrays]
        for theirs, ours in zip(out, arrays, strict=True):
            theirs[:, self.order] = ours
        return out

    def run(self, states: list[Array], out: Array | None = None) -> None:
        into = None if out is None else place(out)
        self.library.second(self.handle, ctypes.c_long(len(states[0])), *map(place, states), into)

    def tensors(self, states: list[Array]) -> dict[str, Array]:
        """In our order of joints and of indices."""
        n, o = self.nv, self.order
        out = np.zeros((len(states[0]), 4, n, n, n))
        self.run(states, out)
        own = out.transpose(0, 1, 4, 3, 2)[:, :, o][:, :, :, o][:, :, :, :, o]
        names = ("d2tau_dq_dq", "d2tau_dqd_dqd", "d2tau_dq_dqd")
        found = {name: own[:, k] for k, name in enumerate(names)}
        return found | {"d2tau_dq_dqdd": own[:, 3].swapaxes(-1, -2)}


def best(call: Callable[[], object]) -> float:
    """Seconds per state."""
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found) / BATCH


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--eigen", required=True, help="the folder that holds Eigen/")
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(parser.parse_args().eigen, folder)
        for name in ROBOTS:
            compare(library, name)


def compare(library: ctypes.CDLL, name: str) -> None:
    robot = robomorph.load(name, gravity=(0.0, 0.0, -9.81))
    theirs = Theirs(library, name, robot)
    rng = np.random.default_rng(0)
    q, qd = robot.random_state(rng, BATCH)
    states = [np.ascontiguousarray(a) for a in (q, 5.0 * qd, rng.normal(size=qd.shape))]
    kernel = robot.compile("inverse_dynamics", derivative="second", threads=1)
    ours, given = kernel(*states), theirs.states(*states)
    off = max(
        float(np.abs(getattr(ours, key) - value).max() / np.abs(value).max())
        for key, value in theirs.tensors(given).items()
    )
    out = tuple(np.zeros_like(a) for a in ours)
    mine, other = best(lambda: kernel(*states, out=out)), best(lambda: theirs.run(given))
    print(
        f"{name}: largest difference {off:.1e}; Pinocchio {other * 1e6:.2f} us, robomorph {mine * 1e6:.2f} us"
        f" per state, {other / mine:.1f}x"
    )


if __name__ == "__main__":
    main()
