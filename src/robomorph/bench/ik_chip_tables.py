"""The tables of the chip's section: cycles, iterations and times beside the paper's."""

from __future__ import annotations

from robomorph.bench.chain_problems import CHAINS, PAPER_TIMES
from robomorph.bench.records import Record, select
from robomorph.bench.sections.section import Records, TableData

CLOCK_MHZ = 400.0  # stated; docs/ik-chip.md has what synthesis found
ROUNDS = 2  # of each timing; the least counts
# Cycles of an iteration of IKAcc, derived: the paper's times at 1 GHz over estimates of its iterations, of
# which it prints none; per chain the least of three ways, the most favourable to it (docs/ik-chip.md).
DERIVED = dict(zip(CHAINS, (2598, 3915, 12857, 17281, 16373), strict=True))
CPU, CHIP, OPENCL = "CPU, one thread", "chip", "OpenCL"


def joints_of(record: Record) -> int:
    return int(record.figures["joints"])


def _by_chain(records: Records, case: str) -> dict[str, dict[int, Record]]:
    """Records of a case by how, then by chain."""
    found: dict[str, dict[int, Record]] = {}
    for record in select(records, case=case):
        found.setdefault(record.how, {})[joints_of(record)] = record
    return found


def microseconds(record: Record) -> float:
    """Of a solve: cycles at the stated clock, or as measured."""
    f = record.figures
    if record.case == CHIP:
        return (f["outside"] + f["iterations"] * f["cycles"]) / CLOCK_MHZ
    return record.best_ns / 1e3


def chip_tables(records: Records) -> list[TableData]:
    chains = sorted({joints_of(r) for r in records})
    columns = tuple(f"N = {n}" for n in chains)
    return [
        _cycle_table(records, chains, columns),
        _iteration_table(records, chains, columns),
        _time_table(records, chains, columns),
    ]


def _cycle_table(records: Records, chains: list[int], columns: tuple[str, ...]) -> TableData:
    rows = [(name, *(_against_ikacc(by[n]) for n in chains)) for name, by in _by_chain(records, CHIP).items()]
    rows.append(("IKAcc, derived, favourable", *(f"{DERIVED[n]:,}" for n in chains)))
    return TableData(
        "cycles of an iteration",
        ("chip", *columns),
        rows,
        caption="By the formula that simulation meets exactly. In brackets: how many times fewer than "
        "IKAcc's, which are derived, not printed: the paper's times at 1 GHz over estimates of its "
        "iterations, the least of three ways.",
    )


def _against_ikacc(record: Record) -> str:
    cycles = record.figures["cycles"]
    return f"{cycles:.0f} ({DERIVED[joints_of(record)] / cycles:.1f}x)"


def _iteration_table(records: Records, chains: list[int], columns: tuple[str, ...]) -> TableData:
    rows = []
    for case in (CHIP, CPU, OPENCL):
        for name, by in _by_chain(records, case).items():
            other_units = case == CHIP and not name.endswith((", 4 units", "K = 16"))
            if other_units or name.endswith("in a batch"):
                continue  # the same answers
            cells = (f"{by[n].figures['iterations']:.4g} ({by[n].figures['solved']:.1%})" for n in chains)
            rows.append((f"{case}: {name.replace(', 4 units', '')}", *cells))
    count = int(records[0].figures["problems"])
    return TableData(
        "mean iterations to 1e-2 m, set B, and how many were solved",
        ("method", *columns),
        rows,
        caption=f"{count} targets a chain; every answer confirmed by Pinocchio. The chip's threshold is "
        "lowered by its declared own error.",
    )


def _time_table(records: Records, chains: list[int], columns: tuple[str, ...]) -> TableData:
    rows = [
        (f"{case}: {name}", *(f"{microseconds(by[n]):.4g}" for n in chains))
        for case in (CHIP, CPU, OPENCL)
        for name, by in _by_chain(records, case).items()
    ]
    rows += [
        (f"{name}, the paper's", *(f"{1e3 * by[n]:.4g}" for n in chains)) for name, by in PAPER_TIMES.items()
    ]
    return TableData(
        "the paper's Table 2: microseconds per solve, set B, 1e-2 m",
        ("on", *columns),
        rows,
        caption=f"Chip: cycles at a stated clock of {CLOCK_MHZ:.0f} MHz, one problem in flight, streams not "
        "counted. CPU: one thread, from Python, one solve at a time but for the batch, the least of "
        f"{ROUNDS} rounds. OpenCL: up to 50 targets in one launch; PoCL runs on the same cores and says "
        "nothing about a GPU. The paper's are of other machines and other targets.",
    )
