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
from robomorph.ir.scales import result_scale


class Record(NamedTuple):
    """One operation on earlier records. `known` is its value if it is the same in every state. Values times
    2**scale may share a format in hardware; None: a zero, to which all scales are alike."""

    op: Op
    args: tuple[int, ...]
    value: float
    known: float | None
    scale: int | None = 0


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

    def input(self, slot: int, scale: int = 0) -> Recorded:
        return self._put(Record(INPUT, (), float(slot), None, scale))

    def constant(self, value: float, scale: int | None = 0) -> Recorded:
        return self._put(Record(CONST, (), float(value), float(value), scale))

    def operation(self, op: Op, *operands: Any) -> Recorded:
        args = tuple(x.index if isinstance(x, Recorded) else self._literal(x).index for x in operands)
        known = _known(op, [self.records[a].known for a in args])
        scale = result_scale(op, [self.records[a].scale for a in args])
        return self._put(Record(op, args, 0.0, known, scale))

    def _literal(self, value: float) -> Recorded:
        return self.constant(value, None if value == 0.0 else 0)

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

    def lift(self, value: Any, scale: int = 0) -> Any:
        """The same structure with every float as a recorded constant."""
        if isinstance(value, float):
            return self.constant(value, scale)
        if isinstance(value, (tuple, list)):
            return type(value)(self.lift(x, scale) for x in value)
        if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: self.lift(getattr(value, f.name), scale) for f in fields(value)}
            return replace(value, **parts)
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
    def scale(self) -> int | None:
        return self.recorder.records[self.index].scale

    @property
    def known(self) -> float | None:
        return self.recorder.records[self.index].known

    def __add__(self, other: Any) -> Recorded:
        return self.recorder.operation(ADD, self, other)

    def __radd__(self, other: Any) -> Recorded:
        return self.recorder.operation(ADD, other, self)

    def __sub__(self, other: Any) -> Recorded:
        return self.recorder.operation(SUB, self, other)

    def __rsub__(self, other: Any) -> Recorded:
        return self.recorder.operation(SUB, other, self)

    def __mul__(self, other: Any) -> Recorded:
        return self.recorder.operation(MUL, self, other)

    def __rmul__(self, other: Any) -> Recorded:
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


class ScaledZeros:
    """What sums of recorded scalars begin with, so that all of them look alike: zeros where there is nothing
    yet, or a mere zero. They have the scale of what is added, less `step`, if that is among the scales
    0, step .. most * step, else 0."""

    def __init__(self, recorder: Recorder, step: int, most: int) -> None:
        self.step = step
        self.zeros = {k * step: recorder.constant(0.0, k * step) for k in range(most + 1)}

    def __call__(self, have: Any, value: Any) -> Any:
        if isinstance(have, Recorded) and have.scale is not None:
            return have
        if have is not None and not isinstance(have, Recorded) and have != 0.0:
            return have
        scale = (value.scale or 0) if isinstance(value, Recorded) else 0
        return self.zeros.get(scale - self.step, self.zeros[0])
