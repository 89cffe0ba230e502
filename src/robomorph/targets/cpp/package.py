"""What an exported package holds, before it is printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port, Program

Array = npt.NDArray[Any]

# Names that C++ keeps for itself, and our own namespace.
_RESERVED = (
    "alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const "
    "consteval constexpr constinit continue default delete do double else enum explicit export extern "
    "false float for friend goto if inline int long main mutable namespace new noexcept not nullptr "
    "operator or private protected public register requires return robomorph short signed sizeof "
    "static std struct switch template this throw true try typedef typeid typename union unsigned "
    "using virtual void volatile while xor"
)
# Words, as robots may be called, that headers of C have for functions, types and macros: a namespace of such
# a name is an error beside them.
_LIBRARY = (
    "abort abs accept access acos acosh alarm alloca asctime asin asinh asprintf atan atan2 atanh "
    "atexit atof atoi atol basename bind brk bsearch calloc canonicalize cbrt ceil chown chroot "
    "clearenv clearerr clock clone close connect copysign cos cosh crypt ctermid ctime cuserid daylight "
    "difftime div dprintf drem dup dysize ecvt environ erf erfc errno exec exit exp exp10 exp2 expm1 "
    "fabs fchdir fclose fcloseall fcvt fdim fdopen feof ferror fflush ffs fileno finite flockfile floor "
    "fma fmax fmaxmag fmin fminmag fmod fopen fopencookie fork fpclassify fprintf fread free freopen "
    "frexp fscanf fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile gamma gcvt getc getenv "
    "getpid gets gmtime grantpt hypot ilogb index initstate iovec isfinite isinf isnan itimerspec j0 j1 "
    "jn kill labs lconv ldexp ldiv lgamma link linux listen llabs lldiv llogb llrint llround localeconv "
    "localtime lockf log log10 log1p log2 logb longjmp lrint lround lseek madvise makecontext malloc "
    "memcpy memmem memset mincore mktime mlock mlock2 mlockall mmap modf mprotect mremap msync munlock "
    "munlockall munmap nan nearbyint nice obstack offsetof open pause pclose perror pipe poll popen pow "
    "printf pselect ptsname putc putchar putenv puts putw qsort raise rand random read realloc "
    "reallocarray realpath recv remainder remove remquo rename renameat renameat2 rewind rindex rint "
    "round roundeven rpmatch sbrk scalb scalbln scalbn scanf select send setenv setjmp shutdown "
    "sigaction sigevent signal signbit signgam significand sin sincos sinh sleep snprintf socket "
    "sprintf sqrt srand srandom sscanf stat stderr stdin stdout stpcpy stpncpy strdup strlen strtok "
    "swab swapcontext symlink sync system tan tanh tempnam tgamma time timegm timelocal times timespec "
    "timeval timex timezone tm tmpfile tmpnam toascii tolower toupper trunc truncate tzname tzset uint unix "
    "unlink unsetenv unshare ushort valloc wait wctob write y0 y1 yn "
)
# Targets that CMake keeps for itself, and those of the projects that we write.
_TARGETS = (
    "all clean depend edit_cache help install package preinstall rebuild_cache test "
    "control_loop controller_check example_c example_cpp self_check"
)
_TAKEN = frozenset(" ".join((_RESERVED, _LIBRARY, _TARGETS)).split())


@dataclass(frozen=True)
class Routine:
    """A function that is no program of ours, as the C interface and the self-check see it: its identifier, a
    sentence on it, its ports, a note per port, and states with results ((states, *port.shape) by port name).
    A CppFunction can be seen so, too."""

    name: str
    title: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    notes: Mapping[str, str]
    reference: Mapping[str, Array]

    @property
    def ports(self) -> tuple[Port, ...]:
        return self.inputs + self.outputs


@dataclass(frozen=True)
class CppFunction:
    """One function: its identifier, a sentence on it, its scheduled program, a note per port (units, frames),
    states with the results they must give ((states, *port.shape) by port name), and comments by node."""

    name: str
    title: str
    program: Program
    notes: Mapping[str, str]
    reference: Mapping[str, Array]
    comments: Mapping[int, str] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.program.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.program.outputs

    @property
    def ports(self) -> tuple[Port, ...]:
        return self.inputs + self.outputs

    @property
    def struct(self) -> str:
        """The stem of the structures' names: ``ForwardDynamics``."""
        return "".join(word[:1].upper() + word[1:] for word in self.name.split("_"))


@dataclass(frozen=True)
class JointPlace:
    """A joint with coordinates of its own: its kind, its manifold if that is known (else empty), where it
    begins in q and in qd, and its number of coordinates."""

    name: str
    kind: str
    manifold: str
    q: int
    v: int
    size: int


@dataclass(frozen=True)
class RobotData:
    """What a controller wants to know of a robot beside its kernels, in the order of q (nq) or of qd (nv)."""

    joints: tuple[str, ...] = ()  # moving joints, those that mimic others among them
    coordinates: tuple[str, ...] = ()  # (nq)
    velocities: tuple[str, ...] = ()  # (nv)
    lower: tuple[float, ...] = ()  # (nq), rad or m; infinite where there is no limit
    upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()  # (nv)
    effort: tuple[float, ...] = ()  # (nv)
    gravity: tuple[float, ...] = (0.0, 0.0, 0.0)  # m/s^2, world axes
    places: tuple[JointPlace, ...] = ()


@dataclass(frozen=True)
class CppPackage:
    """Functions of one robot under one name: the namespace, the CMake package and the folder of headers.

    manifold: `integrate` and `difference`, or nothing. left_out: functions that could not be made, and why.
    """

    name: str
    robot: str
    version: str
    functions: tuple[CppFunction, ...]
    dtypes: tuple[str, ...] = ("float64", "float32")
    constants: Mapping[str, int] = field(default_factory=dict)  # such as nq and nv
    data: RobotData = field(default_factory=RobotData)
    manifold: tuple[Routine, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def routines(self) -> tuple[CppFunction | Routine, ...]:
        return (*self.functions, *self.manifold)


def identifier(text: str) -> str:
    """`text` with everything that cannot stand in a C identifier replaced, and not a word that the languages,
    libraries and tools around exported code have taken."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    name = re.sub(r"__+", "_", name).strip("_") or "robot"
    while name[0].isdigit() or name in _TAKEN:  # twice for `int`: C has a function `rint`
        name = f"r{name}"
    return name


def comment_text(text: str) -> str:
    """A name from a robot's file as it may stand in a comment: on one line, and not ending the comment."""
    plain = "".join(c if c.isprintable() and c != "\\" else " " for c in text)
    plain = re.sub(r"\?(?=\?)", "? ", plain)  # two together may be a trigraph of C99, such as a backslash
    return plain.replace("*/", "* /").replace("/*", "/ *")


def string_literal(text: str) -> str:
    """A name as a C string that reads back the same, whatever character set a compiler assumes."""
    plain = set(map(chr, range(32, 127)))
    escaped = (f"\\{c}" if c in '"\\?' else c if c in plain else _octal(c) for c in text)
    return '"' + "".join(escaped) + '"'


def _octal(character: str) -> str:
    """Always three digits, so that a digit after it is not taken for a part of it."""
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def check_identifier(what: str, name: str) -> str:
    """`name`, if C++ and CMake take it."""
    if identifier(name) != name:
        raise ArgumentError(
            f"{what}: expected a C++ identifier without leading or double underscores, and no word that C++, "
            f"its library or CMake has taken, found {name!r}: try {identifier(name)!r}"
        )
    return name
