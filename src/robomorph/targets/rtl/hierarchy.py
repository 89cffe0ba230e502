"""What a module is made of, all modules and cells below it included."""

from __future__ import annotations

from collections.abc import Callable

from robomorph.errors import TargetError
from robomorph.targets.rtl.netlist import Cell, Module


def modules(top: Module) -> list[Module]:
    """A module and all modules below it, each once, what is inside first."""
    found: dict[str, Module] = {}
    around: list[Module] = []

    def visit(module: Module) -> None:
        if module in around:
            raise TargetError(f"netlist: {module.name} is inside itself")
        around.append(module)
        for one in module.instances():
            if isinstance(one.of, Module) and found.get(one.of.name) is not one.of:
                visit(one.of)
        around.pop()
        if found.setdefault(module.name, module) is not module:
            raise TargetError(f"netlist: two modules are named {module.name}")

    visit(top)
    return list(found.values())


def cells(top: Module) -> list[Cell]:
    """The cells that a module and all below it use, and those inside them, by name."""
    waiting = [i.of for module in modules(top) for i in module.instances() if isinstance(i.of, Cell)]
    found: dict[str, Cell] = {}
    while waiting:
        cell = waiting.pop()
        if cell.name not in found:
            found[cell.name] = cell
            waiting += cell.uses
    return [found[name] for name in sorted(found)]


def count(top: Module, name: str) -> int:
    """Instances of a module or a cell in a module and all below it, copies counted."""
    return _total(top, lambda module: sum(one.of.name == name for one in module.instances()))


def register_bits(top: Module) -> int:
    """Bits in registers of a module and all below it; what cells keep is theirs."""
    return _total(top, lambda module: sum(register.target.width for register in module.registers()))


def memory_bits(top: Module) -> int:
    """Bits in the memories of a module and all below it."""
    return _total(
        top, lambda m: sum(i.of.memory(i.parameters) for i in m.instances() if isinstance(i.of, Cell))
    )


def _total(top: Module, own: Callable[[Module], int]) -> int:
    """A count over a module and all below it, copies counted."""
    totals: dict[str, int] = {}
    for module in modules(top):
        below = (totals[i.of.name] for i in module.instances() if isinstance(i.of, Module))
        totals[module.name] = own(module) + sum(below)
    return totals[top.name]
