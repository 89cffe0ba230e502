"""robomorph: a robot description in, fast verified kernels for that one robot out."""

TYPE_CHECKING = False  # checkers take it for True. An import here would delay what catches an interrupt
if TYPE_CHECKING:
    from robomorph.public import *  # noqa: F403

__version__ = "0.2.0"

_ROOMS = ("mujoco", "planning", "viewer")  # packages with a face of their own, imported on first use
# Faces for other packages' arrays, imported on first use, too: they need the package of the same name.
_BRIDGES = ("casadi", "jax", "torch")

if not TYPE_CHECKING:  # who checks types knows every name by the import above

    def __getattr__(name: str) -> object:
        """Everything in robomorph.public, imported on first use: the command line starts without it."""
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module 'robomorph' has no attribute {name!r}")
        from importlib import import_module

        if name in (*_ROOMS, *_BRIDGES):
            return import_module(f"robomorph.{name}")
        public = import_module("robomorph.public")  # its own imports become attributes of this package, too
        if name in globals():
            return globals()[name]
        if name != "__all__" and name not in public.__all__:
            raise AttributeError(f"module 'robomorph' has no attribute {name!r}")
        globals().update({known: getattr(public, known) for known in public.__all__}, __all__=public.__all__)
        return globals()[name]

    def __dir__() -> list[str]:
        from importlib.util import find_spec

        bridges = [name for name in _BRIDGES if find_spec(name)]  # who lists members may ask for each
        return sorted({*globals(), *_ROOMS, *bridges, *__getattr__("__all__")})
