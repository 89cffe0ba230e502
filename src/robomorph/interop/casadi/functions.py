"""The face of the bridge: `casadi.Function` objects of one robot."""

from __future__ import annotations

import hashlib
import threading
import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.compiler.recipe import robot_recipe
from robomorph.compiler.specialise import Request, make_request
from robomorph.errors import ArgumentError, FallbackWarning
from robomorph.interop.bridge import require_robot
from robomorph.interop.casadi.expressions import expression_function
from robomorph.interop.casadi.libraries import library, make_known
from robomorph.interop.casadi.programs import check_order, make_callees
from robomorph.interop.functions import FUNCTIONS, function_named
from robomorph.interop.packages import require
from robomorph.naming import hint
from robomorph.targets.casadi.linking import find_linker
from robomorph.targets.cpp.package import identifier
from robomorph.targets.cpu.host import host

if TYPE_CHECKING:
    from robomorph.robot import Robot

KINDS = ("machine code", "expressions")
_LONGEST = 100  # of what a name tells, so that files can have it


class Functions:
    """CasADi functions of a robot, made when they are first asked for.

    `functions.forward_dynamics` is a casadi.Function of (q, qd, tau); what is about a frame is made by its
    name, `functions.jacobian("tool0")`. Arguments are columns; f_ext (6, n) has a column [force, moment] for
    each link; a stack of matrices, as of link_poses, stands side by side. q are free coordinates: quaternions
    and (cos, sin) pairs are normalised first, and derivatives are those of the function with that.

    f_ext: links whose wrenches are an argument of the functions that know them (True: all). derivatives:
    their highest order (2: exact Hessians; 1: first derivatives, for Hessians that a solver approximates).
    kind: "machine code", linked by a C compiler found here into a shared library, or "expressions", which SX
    can look into; None: machine code if it can be linked. folder: for the libraries, else in the cache.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        f_ext: bool | Sequence[str] = False,
        derivatives: int = 2,
        kind: str | None = None,
        folder: str | Path | None = None,
    ) -> None:
        if kind not in (None, *KINDS):
            raise ArgumentError(f"kind: expected None, {' or '.join(map(repr, KINDS))}, found {kind!r}")
        check_order(derivatives)
        self.robot, self.derivatives = require_robot(robot), int(derivatives)
        self.f_ext = _links(f_ext)
        self.folder = None if folder is None else Path(folder).absolute()
        self.kind = kind or _best_kind()
        self._made: dict[Request, Any] = {}
        self._lock = threading.Lock()

    def function(
        self, algorithm: str, *, frame: str | None = None, outputs: Sequence[str] | None = None
    ) -> Any:
        """The casadi.Function of an algorithm; outputs: only these results, which saves work."""
        wrenches = self.f_ext if function_named(algorithm).wrenches else False
        request = make_request(self.robot.model, algorithm, outputs=outputs, frame=frame, f_ext=wrenches)
        with self._lock:
            if request not in self._made:
                self._made[request] = self._make(request)
            return self._made[request]

    def _make(self, request: Request) -> Any:
        casadi = require("casadi")
        specialiser = self.robot.specialiser
        key = robot_recipe(specialiser, request, "float64").key
        name = self._name(request, key)
        if self.kind == "expressions":
            (value,) = make_callees(specialiser, request, name, 0)
            return expression_function(casadi, value)
        path = library(
            name,
            lambda: make_callees(specialiser, request, name, self.derivatives),
            self.folder,
            keep=key is not None,
        )
        make_known(path)
        return casadi.external(name, str(path))

    def _name(self, request: Request, key: str | None) -> str:
        """Tells robot and function, then by a digest all that the code is made from: functions of several
        robots, or of several versions of one, never share a name in code that CasADi generates. No key: made
        from code of the user's own, which nothing names, so no two are taken for one, in no process."""
        about = f"{self.robot.name}_{request.algorithm}"
        about = f"{about}_{request.frame}" if request.frame else about
        made_from = (key or f"own {uuid.uuid4()}", self.kind, self.derivatives, host().fingerprint)
        digest = hashlib.sha256(repr(made_from).encode("utf-8", "surrogatepass")).hexdigest()
        return f"{identifier(about)[:_LONGEST].rstrip('_')}_{digest[:16]}"

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"Functions has no function {name!r}: {hint(name, list(FUNCTIONS))}")
        if FUNCTIONS[name].frame:
            return _AboutFrame(self, name)
        return self.function(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FUNCTIONS})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.robot, self.f_ext, self.derivatives, self.kind, self.folder)

    def __repr__(self) -> str:
        return f"Functions({self.robot.name!r}, {self.kind}, derivatives up to {self.derivatives})"


def _restored(robot: Robot, f_ext: Any, derivatives: int, kind: str, folder: Path | None) -> Functions:
    return Functions(robot, f_ext=f_ext, derivatives=derivatives, kind=kind, folder=folder)


class _AboutFrame:
    """A function about a frame that is still to be named."""

    def __init__(self, functions: Functions, algorithm: str) -> None:
        self._functions, self._algorithm = functions, algorithm

    def __call__(self, frame: str) -> Any:
        if not isinstance(frame, str):
            raise ArgumentError(
                f"{self._algorithm}: it is about a frame: expected the name of a link or tool frame, as in "
                f"functions.{self._algorithm}('tool0')(q), found {type(frame).__name__}"
            )
        return self._functions.function(self._algorithm, frame=frame)


def _links(f_ext: Any) -> bool | tuple[str, ...]:
    if isinstance(f_ext, bool):
        return f_ext
    names = (f_ext,) if isinstance(f_ext, str) else f_ext
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        raise ArgumentError(
            "f_ext: expected True, False or names of links, whose wrenches are then an argument of the "
            f"functions, found {type(f_ext).__name__}"
        )
    return tuple(names)


def _best_kind() -> str:
    if find_linker() is not None:
        return "machine code"
    warnings.warn(
        "robomorph.casadi: no C compiler to link machine code with ($CC, cc, gcc, clang): using CasADi's "
        "expressions, which give the same results more slowly: install gcc or clang, or ask for "
        "kind='expressions'",
        FallbackWarning,
        stacklevel=3,
    )
    return "expressions"
