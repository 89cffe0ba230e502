"""What a schedule is made of, units that compute templates included."""

from __future__ import annotations

from dataclasses import dataclass, fields

from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.registers import register_copies
from robomorph.targets.rtl.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Hardware:
    """Counts of a core. `multiplications` are products per state that the multipliers make."""

    multipliers: int = 0
    multiplications: int = 0
    constant_multipliers: int = 0
    constant_adders: int = 0
    adders: int = 0
    reciprocal_units: int = 0
    rotate_units: int = 0
    flip_flops: int = 0
    memory_bits: int = 0
    selector_inputs: int = 0

    def __add__(self, other: Hardware) -> Hardware:
        return Hardware(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @classmethod
    def of(cls, s: Schedule) -> Hardware:
        """Of a core and of all units inside it."""
        total = cls._own(s)
        inner = [cls.of(plan.inner) for plan in s.plans]
        for unit in s.units:
            if unit.kind is Kind.CALL:
                total = total + inner[unit.key[1][0]].repeated(len(unit.turns))
        return total

    @classmethod
    def _own(cls, s: Schedule) -> Hardware:
        kinds = [op.kind for op in s.operations]
        units = [unit.kind for unit in s.units]
        flags = s.length - 1 if s.early else 0
        bits = s.fixed.formats[0].bits
        inside = 2 * bits * s.knobs.multiply_stages * units.count(Kind.MULTIPLY)
        return cls(
            multipliers=units.count(Kind.MULTIPLY),
            multiplications=kinds.count(Kind.MULTIPLY),
            constant_multipliers=kinds.count(Kind.SCALE),
            constant_adders=sum(op.adders for op in s.operations if op.kind is Kind.SCALE),
            adders=kinds.count(Kind.SUM),
            reciprocal_units=units.count(Kind.RECIPROCAL),
            rotate_units=units.count(Kind.ROTATE),
            flip_flops=sum(register_copies(s)) * bits + flags + inside,
            memory_bits=sum(m.depth for m in s.memories.values()) * bits,
            selector_inputs=sum(len(u.turns) * _operands(s, k) for k, u in enumerate(s.units)),
        )

    def repeated(self, calls: int) -> Hardware:
        """One unit, used so many times a state."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Hardware(**{**values, "multiplications": calls * self.multiplications})

    def copied(self, copies: int) -> Hardware:
        """So many of it, which share the work of all states."""
        values = {f.name: copies * getattr(self, f.name) for f in fields(self)}
        return Hardware(**{**values, "multiplications": self.multiplications})


def _operands(s: Schedule, index: int) -> int:
    unit = s.units[index]
    if unit.kind is Kind.CALL:
        return s.plan(unit).template.operands
    return 2 if unit.kind is Kind.MULTIPLY else 1


@dataclass(frozen=True, slots=True)
class UnitStats:
    """Units of one template: how many, the calls they make, the cycles between calls (`fold`) and inside one
    (`latency`); of one of them, multipliers, adders and flip-flops. `operations` of the superposed unit stand
    beside those of a call without sparsity (`dense`) and of the average call with all of its own. `limbs`
    lists, per unit, the first links of the limbs whose calls it makes."""

    name: str
    kind: str
    count: int
    calls: int
    fold: int
    latency: int
    multipliers: int
    adders: int
    flip_flops: int
    operands: int
    operations: int
    dense: int
    average: float
    limbs: tuple[tuple[int, ...], ...]

    @property
    def kept(self) -> float:
        """The share of the average call's saved operations that the superposed unit still saves."""
        gain = self.dense - self.average
        return (self.dense - self.operations) / gain if gain else 1.0


def unit_stats(s: Schedule) -> tuple[UnitStats, ...]:
    """One entry per template."""
    found = []
    for k, plan in enumerate(s.plans):
        units = [u for u in s.units if u.kind is Kind.CALL and u.key[1] == (k,)]
        one = Hardware.of(plan.inner)
        found.append(
            UnitStats(
                name=plan.template.name,
                kind=plan.template.kind,
                count=len(units),
                calls=sum(len(u.turns) for u in units),
                fold=plan.fold,
                latency=plan.inner.length,
                multipliers=one.multipliers,
                adders=one.adders,
                flip_flops=one.flip_flops,
                operands=plan.template.operands,
                operations=plan.template.operations,
                dense=plan.template.dense,
                average=plan.template.average,
                limbs=tuple(tuple(sorted(u.limbs)) for u in units),
            )
        )
    return tuple(found)
