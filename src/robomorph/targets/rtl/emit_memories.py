"""The memories of a core as SystemVerilog: their cells, and the addresses that they share.

Addresses and write enables come from registers, made in the cycle before: a cycle that reads a memory has
enough to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robomorph.targets.rtl.schedule import Memory, Port, Schedule
from robomorph.targets.rtl.verilog import instance, phase_width, selector


def emit_memories(schedule: Schedule, names: Mapping[tuple[Port, Port], str], width: int) -> list[str]:
    """Every memory, its output by its name."""
    return _Memories(schedule, names, width).lines()


@dataclass(slots=True)
class _Address:
    """A signal that addresses memories between two units: offsets by phase, free in all others."""

    name: str
    units: tuple[int, int]
    bits: int
    offsets: dict[int, int]


class _Memories:
    def __init__(self, schedule: Schedule, names: Mapping[tuple[Port, Port], str], width: int) -> None:
        self.s, self.names, self.width = schedule, names, width
        self.interval = schedule.knobs.interval
        self.addresses: list[_Address] = []
        self.enables: dict[tuple[int, ...], str] = {}  # phases in which to write -> name of the signal

    def lines(self) -> list[str]:
        cells = [line for ports, memory in self.s.memories.items() for line in self._memory(ports, memory)]
        made = [self._address(address) for address in self.addresses]
        made += [self._enable(name, phases) for phases, name in self.enables.items()]
        return [*(line for lines in made for line in lines), *cells]

    def _memory(self, ports: tuple[Port, Port], memory: Memory) -> list[str]:
        (unit, result), _ = ports
        name = self.names[ports]
        phases = tuple(phase for phase, _ in memory.writes)
        wires = {
            "clk_i": "clk_i",
            "write_i": "en_i && " + self.enables.setdefault(phases, f"write{len(self.enables)}"),
            "write_addr_i": self._addressed(ports, memory.address_bits, memory.writes),
            "data_i": f"u{unit}_y{result}",
            "read_addr_i": self._addressed(ports, memory.address_bits, memory.reads),
            "data_o": name,
        }
        return [
            f"  logic signed [{self.width - 1}:0] {name};",
            instance("rm_memory", f"u_{name}", {"W": self.width, "Depth": memory.depth}, wires),
        ]

    def _addressed(self, ports: tuple[Port, Port], bits: int, table: Sequence[tuple[int, int]]) -> str:
        """The signal that has these offsets in these phases: one that other words between the same units
        use, if it does not want others there, or a new one."""
        units = ports[0][0], ports[1][0]
        for known in self.addresses:
            if known.units == units and all(known.offsets.get(p, o) == o for p, o in table):
                known.offsets.update(table)
                return known.name
        self.addresses.append(_Address(f"addr{len(self.addresses)}", units, bits, dict(table)))
        return self.addresses[-1].name

    def _address(self, address: _Address) -> list[str]:
        name, bits = address.name, address.bits
        literals = {phase: f"{bits}'d{offset}" for phase, offset in sorted(address.offsets.items())}
        return [
            f"  logic [{bits - 1}:0] {name}, {name}_offset;",
            *selector(f"{name}_offset", literals, self.interval, "next_phase_i"),
            f"  always_ff @(posedge clk_i) {name} <= next_turn_i[{bits - 1}:0] + {name}_offset;",
        ]

    def _enable(self, name: str, phases: tuple[int, ...]) -> list[str]:
        bits = phase_width(self.interval)
        label = ", ".join(f"{bits}'d{p}" for p in phases)
        return [
            f"  logic {name};",
            "  always_ff @(posedge clk_i) begin",
            "    case (next_phase_i)",
            f"      {label}: {name} <= 1'b1;",
            f"      default: {name} <= 1'b0;",
            "    endcase",
            "  end",
        ]
