"""The commands' parser: negative numbers are numbers, and lists take commas and spaces alike."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

_NUMBER = r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?|[-+]?(?:inf|infinity|nan)"
_NUMBERS = re.compile(rf"(?:{_NUMBER})(?:(?:\s*,\s*|\s+)(?:{_NUMBER}))*,?$", re.IGNORECASE)

Read = Callable[[list[str]], Any]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions as written; a list's metavar is all that is said of it."""

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if isinstance(action, ListAction):
            return str(action.metavar)
        return super()._format_args(action, default_metavar)


class ListAction(argparse.Action):
    """An option that takes words up to the next option.

    read: makes the value of the words, or raises ArgumentTypeError. accepts: whether a word after the first
    may be the list's; one at the end that is not may be the robot, if there is no other (see `Parser`).
    repeatable: values are gathered in a list. may_be_empty: the option may stand alone.
    """

    def __init__(
        self,
        option_strings: Sequence[str],
        dest: str,
        *,
        read: Read,
        accepts: Callable[[str], bool] | None = None,
        repeatable: bool = False,
        may_be_empty: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(option_strings, dest, nargs="*" if may_be_empty else "+", **more)
        self.read, self.accepts, self.repeatable = read, accepts, repeatable
        self.least = 0 if may_be_empty else 1

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: Any = None) -> None:
        earlier = getattr(namespace, self.dest, None) if self.repeatable else None
        setattr(namespace, self.dest, [*(earlier or []), _Words(self, values)])


class _Words(list[str]):
    """What was given to a list, before it is read."""

    def __init__(self, action: ListAction, words: Sequence[str]) -> None:
        super().__init__(words)
        self.action = action

    def give_back(self, most: int) -> list[str]:
        """Up to `most` words from the end that need not be the list's, never one it cannot do without."""
        given: list[str] = []
        accepts = self.action.accepts
        while len(self) > self.action.least and len(given) < most and not (accepts and accepts(self[-1])):
            given.insert(0, self.pop())
        return given


class Parser(argparse.ArgumentParser):
    """argparse's, but for two things.

    What starts with a dash and is a number, in any spelling, or numbers separated by commas, is a value:
    argparse itself takes `-4e-1` and `-1,0` for options. And a list at the end of which the robot stands
    (`--gravity 0 0 -9.81 iiwa14`) hands it over, if it was not named elsewhere.
    """

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"formatter_class": Formatter, **more})
        self._negative_number_matcher = _NUMBERS
        # The positional argument, if the command has one, and what stands for it where it is not given.
        self.robot: argparse.Action | None = None
        self.default_robot: str | None = None
        # Words that are commands of their own where they come before all else, and who reads what follows.
        self.inner: dict[str, Callable[[], Parser]] = {}

    def add_list(self, flag: str, *, read: Read, group: Any = None, **more: Any) -> None:
        """An option of several words; see `ListAction`."""
        (group or self).add_argument(flag, action=ListAction, read=read, **more)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if args and args[0] in self.inner:
            return self.inner[args[0]]().parse_known_args(args[1:], namespace)
        if self.robot is not None:
            self.robot.required = False  # it may be at the end of a list: `_find_robot` says if it is missing
        found, rest = super().parse_known_args(args, namespace)
        lists = self._lists(found)
        if self.robot is not None and not getattr(found, self.robot.dest, None):
            self._find_robot(found, [words for gathered in lists.values() for words in gathered])
        for action, gathered in lists.items():
            values = [self._read(action, words) for words in gathered]
            setattr(found, action.dest, values if action.repeatable else values[-1])
        return found, rest

    def _lists(self, found: argparse.Namespace) -> dict[ListAction, list[_Words]]:
        values = [value for value in vars(found).values() if isinstance(value, list)]
        gathered = [value for value in values if value and all(isinstance(word, _Words) for word in value)]
        return {value[0].action: value for value in gathered}

    def _find_robot(self, found: argparse.Namespace, lists: list[_Words]) -> None:
        assert self.robot is not None
        several = self.robot.nargs == "*"
        for words in lists:
            given = words.give_back(len(words) if several else 1)
            if given:
                setattr(found, self.robot.dest, given if several else given[0])
                return
        if not several and self.default_robot is None:
            self.error(f"the following arguments are required: {self.robot.metavar}")
        setattr(found, self.robot.dest, [] if several else self.default_robot)

    def _read(self, action: ListAction, words: _Words) -> Any:
        try:
            return action.read(list(words))
        except argparse.ArgumentTypeError as error:
            self.error(f"argument {'/'.join(action.option_strings)}: {error}")


def is_number(word: str) -> bool:
    """A number, or several separated by commas?"""
    return _NUMBERS.match(word) is not None


def names(words: list[str]) -> list[str]:
    """Names separated by commas or spaces."""
    found = [part.strip() for word in words for part in word.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError(
            f"expected names separated by commas or spaces, found {' '.join(words)!r}"
        )
    return found


def numbers(words: list[str]) -> list[float]:
    """Numbers separated by commas or spaces."""
    parts = [part for word in words for part in _parts(word)]
    try:
        return [float(part) for part in parts]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers separated by commas or spaces, found {' '.join(words)!r}"
        ) from None


def whole_numbers(words: list[str]) -> list[int]:
    """Whole numbers separated by commas or spaces."""
    try:
        return [int(part) for word in words for part in _parts(word)]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected whole numbers such as 12,16,32, found {' '.join(words)!r}"
        ) from None


def _parts(word: str) -> list[str]:
    """The pieces between commas or spaces; one comma at the end, as in `0, 1, 2`, is no mistake."""
    pieces = re.split(r"\s*,\s*|\s+", word.strip())
    return pieces[:-1] if len(pieces) > 1 and not pieces[-1] else pieces
