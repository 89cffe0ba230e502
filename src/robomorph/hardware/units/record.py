"""Recording: an algorithm run on scalars that write down every operation, in order, and fold nothing.

Two visits of one step then leave the same operations behind, whatever their constants are. What a
constant makes of each value is noted beside it (`known`), for the superposition to use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB, Op
from robomorph.spatial import Scalar


class Record(NamedTuple):
    """One operation on earlier records. `known` is its value if it is the same in every state."""

    op: Op
    args: tuple[int, ...]
    value: float
    known: float | None


@dataclass(slots=True)
class Invocation:
    """Records [start, stop): one visit of one step. Visits of equal `key` may become calls of one unit."""

    key: tuple[Any, ...]
    name: str
    kind: str
    label: str
    limb: int
    note: str  # what sets it apart from other visits of the step
    start: int
    stop: int = -1


class Recorder:
    """Collects records, and which of them belong to an invocation."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.invocations: list[Invocation] = []

    def input(self, slot: int) -> Recorded:
        return self._put(Record(INPUT, (), float(slot), None))

    def constant(self, value: float) -> Recorded:
        return self._put(Record(CONST, (), float(value), float(value)))

    def operation(self, op: Op, *operands: Any) -> Recorded:
        args = tuple(x.index if isinstance(x, Recorded) else self.constant(float(x)).index for x in operands)
        return self._put(Record(op, args, 0.0, _known(op, [self.records[a].known for a in args])))

    def _put(self, record: Record) -> Recorded:
        self.records.append(record)
        return Recorded(self, len(self.records) - 1)

    @contextmanager
    def invocation(
        self, key: tuple[Any, ...], name: str, kind: str, label: str, limb: int = 0, note: str = ""
    ) -> Iterator[None]:
        made = Invocation(key, name, kind, label, limb, note, len(self.records))
        yield
        made.stop = len(self.records)
        self.invocations.append(made)

    def lift(self, value: Any) -> Any:
        """The same structure with every float as a recorded constant."""
        if isinstance(value, float):
            return self.constant(value)
        if isinstance(value, (tuple, list)):
            return type(value)(self.lift(x) for x in value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: self.lift(getattr(value, f.name)) for f in fields(value)})
        return value


def _known(op: Op, values: list[float | None]) -> float | None:
    if op is MUL and 0.0 in values:
        return 0.0
    if any(v is None for v in values) or op.evaluate is None:
        return None
    with np.errstate(all="ignore"):
        result = float(op.evaluate(*(np.float64(v) for v in values if v is not None)))
    return result + 0.0 if math.isfinite(result) else None


class Recorded:
    """A scalar of a recorder."""

    __slots__ = ("index", "recorder")

    def __init__(self, recorder: Recorder, index: int) -> None:
        self.recorder, self.index = recorder, index

    @property
    def known(self) -> float | None:
        return self.recorder.records[self.index].known

    def __add__(self, other: Scalar) -> Recorded:
        return self.recorder.operation(ADD, self, other)

    def __radd__(self, other: Scalar) -> Recorded:
        return self.recorder.operation(ADD, other, self)

    def __sub__(self, other: Scalar) -> Recorded:
        return self.recorder.operation(SUB, self, other)

    def __rsub__(self, other: Scalar) -> Recorded:
        return self.recorder.operation(SUB, other, self)

    def __mul__(self, other: Scalar) -> Recorded:
        return self.recorder.operation(MUL, self, other)

    def __rmul__(self, other: Scalar) -> Recorded:
        return self.recorder.operation(MUL, other, self)

    def __neg__(self) -> Recorded:
        return self.recorder.operation(NEG, self)

    def sin(self) -> Recorded:
        return self.recorder.operation(SIN, self)

    def cos(self) -> Recorded:
        return self.recorder.operation(COS, self)

    def reciprocal(self) -> Recorded:
        return self.recorder.operation(RECIP, self)

    def __float__(self) -> float:
        """Constants of the robot are numbers; what depends on its state is not."""
        if self.known is None:
            raise TypeError("a recorded scalar that depends on the state has no value")
        return self.known

    def __bool__(self) -> bool:
        raise TypeError("a recorded scalar has no value: algorithms must not branch on it")
