"""Places in a document, and its numbers on a page: each is put there with the path by which it is found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from html import escape
from typing import Any


class Html(str):
    """Text that is markup already; everything else is escaped where it meets markup."""

    __slots__ = ()


class View:
    """A value of a document (plain JSON) and the path to it, as RFC 6901 writes paths."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        self.value, self.path = value, path

    def __getitem__(self, key: str | int) -> View:
        place = str(key).replace("~", "~0").replace("/", "~1")
        return View(self.value[key], f"{self.path}/{place}")

    def get(self, key: str) -> View | None:
        """What is there under a name; None where nothing is, or null."""
        return self[key] if self.value.get(key) is not None else None

    def __iter__(self) -> Iterator[View]:
        return (self[k] for k in range(len(self.value)))

    def items(self) -> Iterator[tuple[str, View]]:
        return ((key, self[key]) for key in self.value)

    def values(self) -> Iterator[View]:
        return (self[key] for key in self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)


def at_path(document: Any, path: str) -> Any:
    """The value at a path; LookupError if there is none."""
    for place in path.split("/")[1:]:
        key = place.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


NOTHING = "-"


def _digits(count: int) -> Callable[[float], str]:
    def form(x: float) -> str:
        if x == round(x) and abs(x) < 1e15:
            return f"{x:,.0f}"
        size = math.floor(math.log10(abs(x)))
        if size < -4 or size >= 15:
            return f"{x:.{count - 1}e}"
        return f"{x:,.{max(0, count - 1 - size)}f}"

    return form


# How numbers are written, by name; a page says which was used, so that whoever reads it can compare.
FORMS: dict[str, Callable[[float], str]] = {
    "whole": lambda x: f"{x:,.0f}",
    "plain": lambda x: f"{x:.0f}",
    "sig2": _digits(2),
    "sig3": _digits(3),
    "sig4": _digits(4),
    "short": lambda x: f"{x:.6g}",
    "short4": lambda x: f"{x:.4g}",
    "one": lambda x: f"{x:,.1f}",
    "percent": lambda x: f"{100.0 * x:.0f}%",
    "percent1": lambda x: f"{100.0 * x:.1f}%",
    "power": lambda x: f"{x:.1e}",
    "ratio": lambda x: f"{x:.6g}x",
    "times": lambda x: f"{_digits(3)(x)}x",
}
# Units of times and sizes on the page: the factor from SI.
UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "MHz": 1e-6, "MB": 1e-6, "kB": 1e-3, "cm": 1e2}


def written(value: Any, form: str, scale: float = 1.0) -> str:
    """A number as the page has it."""
    return NOTHING if value is None else FORMS[form](float(value) * scale)


def number(view: View | None, form: str = "sig3", scale: float = 1.0, *, svg: bool = False) -> Html:
    """The one way for a number onto the page. Where there is none, a dash stands."""
    if view is None or view.value is None:
        return Html(NOTHING)
    if isinstance(view.value, bool) or not isinstance(view.value, (int, float)):
        raise TypeError(f"{view.path}: expected a number, found {view.value!r}")
    tag = "tspan" if svg else "data"
    more = "" if scale == 1.0 else f" data-scale='{scale:.12g}'"
    raw = "" if svg else f" value='{view.value!r}'"
    shown = escape(written(view.value, form, scale))
    return Html(f"<{tag}{raw} data-path='{escape(view.path)}' data-form='{form}'{more}>{shown}</{tag}>")


def hint(view: View, form: str = "sig3", scale: float = 1.0) -> Html:
    """The number as the title of a shape: what a pointer that rests on it shows."""
    more = "" if scale == 1.0 else f" data-scale='{scale:.12g}'"
    shown = escape(written(view.value, form, scale))
    return Html(f"<title data-path='{escape(view.path)}' data-form='{form}'{more}>{shown}</title>")


def words(view: View | None, *, svg: bool = False) -> Html:
    """Text of the document, such as a robot's name: escaped, with its path."""
    if view is None or view.value is None:
        return Html(NOTHING)
    tag = "tspan" if svg else "span"
    return Html(f"<{tag} data-path='{escape(view.path)}'>{escape(str(view.value))}</{tag}>")


def markup(text: str) -> str:
    """Markup as it is, other text escaped."""
    return text if isinstance(text, Html) else escape(text)


def join(*parts: str, by: str = "") -> Html:
    return Html(by.join(markup(part) for part in parts))


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """An element; an attribute's trailing underscore is dropped, other underscores become dashes."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}='{escape(str(value))}'"
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>{join(*children)}</{name}>")


def plain(value: Any) -> Any:
    """As JSON has it: lists, dicts with names, numbers that are finite, None for those that are not."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
