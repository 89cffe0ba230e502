"""Messages about names that do not exist, with what the caller may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_SHOWN = 12


def close_matches(name: str, known: Sequence[str]) -> list[str]:
    """Known names that look like `name`, best first; capitals do not count."""
    folded = {other.casefold(): other for other in reversed(known)}
    return [folded[key] for key in difflib.get_close_matches(name[:200].casefold(), folded, n=3, cutoff=0.6)]


def listed(names: Sequence[str]) -> str:
    """The names, quoted and separated by commas; a long list is cut with a count of the rest."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def hint(name: str, known: Sequence[str]) -> str:
    """'did you mean ...?' where something is close, else the list of what exists."""
    close = close_matches(str(name), known)
    if close:
        return f"did you mean {' or '.join(repr(match) for match in close)}?"
    return f"known are {listed(known)}" if known else "none exist"


def unknown_name(owner: str, what: str, name: str, known: Sequence[str]) -> str:
    """The full message: `owner` has no `what` called `name`, and what to use instead."""
    return f"{owner} has no {what} called {name!r}: {hint(name, known)}"
