"""What a format is: how the columns of a shard become one file, the same bytes every time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# Takes the next rows: arrays (rows, *shape) by column.
Append = Callable[[Mapping[str, Array]], None]


@dataclass(frozen=True)
class Column:
    """An array of the data set: one entry of `shape` a row. role: "state" (drawn) or "result" (of
    `function`)."""

    name: str
    shape: tuple[int, ...]
    about: str
    role: str
    function: str = ""

    def as_data(self) -> dict[str, Any]:
        return {**asdict(self), "shape": list(self.shape)}


@dataclass(frozen=True)
class Layout:
    """All that a file is told: its columns, numbers and rows, and words about them."""

    columns: tuple[Column, ...]
    dtype: str
    rows: int
    about: Mapping[str, str]

    @property
    def bytes_per_row(self) -> int:
        numbers = sum(int(np.prod(column.shape)) for column in self.columns)
        return numbers * np.dtype(self.dtype).itemsize


class Format(ABC):
    """One kind of file. Blocks are appended as they are made: no shard is ever whole in memory."""

    name: ClassVar[str]
    suffix: ClassVar[str]
    # A sentence on how files are read, for schema.json.
    reading: ClassVar[str]

    def check(self) -> dict[str, str]:
        """Versions on which the bytes depend; TargetError if a package is missing."""
        return {}

    @abstractmethod
    def writer(self, path: Path, layout: Layout) -> AbstractContextManager[Append]:
        """A file at `path` that is complete when the context ends."""

    @abstractmethod
    def read(self, path: Path) -> dict[str, Array]:
        """All columns, (rows, *shape)."""
