"""Every error and warning that robomorph raises on purpose."""

from __future__ import annotations


class RobomorphError(Exception):
    """Base of all errors raised by robomorph."""


class ModelError(RobomorphError, ValueError):
    """A robot description cannot be used; the message names the place and the mend."""

    finding = ""  # what was expected and found, without the place, where one place is at fault


class MeshError(RobomorphError, ValueError):
    """A mesh file cannot be used; the message names it, what was expected and what was found."""


class ModelWarning(UserWarning):
    """A robot description is usable but suspicious."""


class ArgumentError(RobomorphError, ValueError):
    """An argument has the wrong shape, dtype, name or value."""


class ProgramError(RobomorphError):
    """A traced program breaks a rule of the IR: a defect in robomorph itself."""


class OverflowWarning(UserWarning):
    """Some operation of a fixed-point computation saturated: the results of those states are wrong."""


class TargetError(RobomorphError):
    """A target cannot compile or run here; the message says what is missing."""


class ScaleoutError(RobomorphError):
    """A large run cannot start or go on; the message names the folder, what is missing and how to go on."""


class MissingPackageError(TargetError, ImportError):
    """A part of robomorph needs a package that is not installed; the message says how to install it."""


class DerivativeError(RobomorphError, TypeError):
    """A derivative was asked for that is not available; the message names the function and the way round."""


class FallbackWarning(UserWarning):
    """Something works by a slower way than it should; the message says why."""
