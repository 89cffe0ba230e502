"""The memories of a core: their cells, and the addresses that they share.

Addresses and write enables come from registers, made in the cycle before: a cycle that reads a memory has
enough to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.targets.rtl.cell_table import MEMORY
from robomorph.targets.rtl.core import Core
from robomorph.targets.rtl.expressions import Literal, Signal
from robomorph.targets.rtl.schedule import Memory, Port


def add_memories(core: Core) -> None:
    """Every memory, its output by its name."""
    made = _Memories(core)
    for ports, memory in core.s.memories.items():
        made.add(ports, memory)
    made.finish()


@dataclass(slots=True)
class _Address:
    """A signal that addresses memories between two units: offsets by phase, free in all others."""

    signal: Signal
    units: tuple[int, int]
    offsets: dict[int, int]


class _Memories:
    def __init__(self, core: Core) -> None:
        self.core, self.m = core, core.module
        self.addresses: list[_Address] = []
        self.enables: dict[tuple[int, ...], Signal] = {}  # phases in which to write -> the signal

    def add(self, ports: tuple[Port, Port], memory: Memory) -> None:
        (unit, result), _ = ports
        name = self.core.memories[ports]
        wires = {
            "clk_i": self.m["clk_i"],
            "write_i": self.m["en_i"] & self._enable(tuple(phase for phase, _ in memory.writes)),
            "write_addr_i": self._addressed(ports, memory.address_bits, memory.writes),
            "data_i": self.core.word(f"u{unit}_y{result}"),
            "read_addr_i": self._addressed(ports, memory.address_bits, memory.reads),
            "data_o": self.core.word(name),
        }
        self.m.instance(f"u_{name}", MEMORY, wires, W=self.core.width, Depth=memory.depth)

    def _addressed(self, ports: tuple[Port, Port], bits: int, table: Sequence[tuple[int, int]]) -> Signal:
        """The signal that has these offsets in these phases: one that other words between the same units
        use, if it does not want others there, or a new one."""
        units = ports[0][0], ports[1][0]
        for known in self.addresses:
            if known.units == units and all(known.offsets.get(p, o) == o for p, o in table):
                known.offsets.update(table)
                return known.signal
        made = self.m.signal(f"addr{len(self.addresses)}", bits)
        self.addresses.append(_Address(made, units, dict(table)))
        return made

    def _enable(self, phases: tuple[int, ...]) -> Signal:
        if phases not in self.enables:
            self.enables[phases] = self.m.signal(f"write{len(self.enables)}")
        return self.enables[phases]

    def finish(self) -> None:
        """The shared signals, when it is known what all memories want of them."""
        m = self.m
        for address in self.addresses:
            signal, bits = address.signal, address.signal.width
            offset = m.signal(f"{signal.name}_offset", bits)
            m.select(
                offset, m["next_phase_i"], {p: Literal(o, bits) for p, o in sorted(address.offsets.items())}
            )
            m.register(signal, m["next_turn_i"].bits(0, bits) + offset)
        for phases, signal in self.enables.items():
            ahead = m.signal(f"{signal.name}_next")
            rest = [p for p in range(self.core.interval) if p not in phases]
            m.select(
                ahead,
                m["next_phase_i"],
                {**{p: Literal(1, 1) for p in phases}, **{p: Literal(0, 1) for p in rest}},
            )
            m.register(signal, ahead)
