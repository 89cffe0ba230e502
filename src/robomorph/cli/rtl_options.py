"""Options of a hardware design, for `robomorph rtl` and `robomorph export --target rtl` alike."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robomorph.cli.rtl_units import add_unit_options

if TYPE_CHECKING:
    from robomorph.targets.rtl.options import Options

PAPERS_FUNCTION = "forward_dynamics_gradient"
ABOUT_DEFAULTS = """\
The defaults are those of robot.compile(target="rtl"): everything on the chip,
speeds up to 2, accelerations up to 10, an interval that suits the function.
--preset papers starts from the papers' design instead: sines, cosines and M^-1
from the host, speeds and accelerations up to 1, interval 24."""
# Flags that say the opposite of the option they set.
_OPPOSITES = {"no_memories": "memories", "multiply_constants": "scale_by_adders"}
_NAMES = (
    *("preset", "format", "bits", "ranges", "trig", "minv", "boundary", "queue", "pipelines", "interval"),
    *("period", "multiply_stages", "latency", "speed", "acceleration", "structure", "units", "fold"),
    *("unit_latency", "step", *_OPPOSITES),
)


def add_design_options(group: Any) -> None:
    """The options, without defaults, so that `given_options` knows which were given."""

    def add(flag: str, text: str, **more: Any) -> None:
        group.add_argument(flag, help=text, default=argparse.SUPPRESS, **more)

    add("--preset", "a design to start from (default complete)", choices=("complete", "papers"))
    add("--trig", "who computes sines and cosines (default chip)", choices=("host", "chip"))
    add(
        "--minv",
        "is M^-1 an argument? (for the gradient of forward dynamics; default chip)",
        choices=("given", "chip"),
    )
    add("--format", "one format for all signals (default: one per signal)", metavar="Qm.n")
    add("--bits", "word width with a format per signal (default 32)", type=int)
    add(
        "--ranges",
        "formats from sampled states, or from intervals proven for bounded arguments (default profile)",
        choices=("profile", "proven"),
    )
    add("--boundary", "words on the streams (default fixed)", choices=("fixed", "float32"))
    add(
        "--queue",
        "beats that may wait at each stream: a power of two (default 0: none)",
        type=int,
        metavar="BEATS",
    )
    add(
        "--pipelines",
        "copies of the accelerator behind one pair of streams (default 1)",
        type=int,
        metavar="N",
    )
    add("--interval", "cycles between states (default: as suits the function)", type=int)
    add("--period", "chained delay per cycle, in multiplications (default 1.8)", type=float)
    add(
        "--multiply-stages",
        "registers inside multipliers: cycles of a multiplication beyond the first (default 0)",
        type=int,
        choices=(0, 1, 2),
    )
    add("--latency", "cycles to aim for; more leave room to share units", type=int)
    add("--speed", "largest joint speed that ranges are for (default 2)", type=float)
    add("--acceleration", "largest acceleration that ranges are for (default 10)", type=float)
    add_unit_options(add)


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """The design options on the command line, by name."""
    return {name: getattr(args, name) for name in _NAMES if hasattr(args, name)}


def flag(name: str) -> str:
    """An option as it is written."""
    return "--" + name.replace("_", "-")


def design_options(args: argparse.Namespace, function: str, outputs: Sequence[str] | None = None) -> Options:
    """The command's options as an accelerator's. `outputs`: those that were asked for by name."""
    from robomorph.errors import ArgumentError
    from robomorph.targets.fixed_point.options import GIVEN_OUTPUTS
    from robomorph.targets.rtl.options import make_options

    given = given_options(args)
    if "format" in given and "bits" in given:
        raise ArgumentError("--format and --bits: a format says how many bits it has: give one of them")
    beyond = [name for name in outputs or () if name not in GIVEN_OUTPUTS]
    if given.get("minv") == "given" and function == PAPERS_FUNCTION and beyond:
        raise ArgumentError(
            f"--minv given: it makes dqdd_dq and dqdd_dqd, not {', '.join(beyond)}: use --minv chip"
        )
    for name, option in _OPPOSITES.items():
        if name in given:
            given[option] = not given.pop(name)
    return make_options(given, function, outputs)
