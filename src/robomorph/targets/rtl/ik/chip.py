"""The whole chip: streams, problems in flight, memories, serial unit, w unit and search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from robomorph.targets.rtl.cell_table import IK_CONTROL, IK_LOAD, IK_UNLOAD, MEMORY, MEMORY_TWO
from robomorph.targets.rtl.chip import source_files
from robomorph.targets.rtl.design import module_name
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import Expression, Literal, Signal, choose, sign_extend
from robomorph.targets.rtl.ik.emit_search import search_module
from robomorph.targets.rtl.ik.emit_serial import serial_module
from robomorph.targets.rtl.ik.emit_weights import weights_module
from robomorph.targets.rtl.ik.parts import address, chosen, memory_depth, place_bits
from robomorph.targets.rtl.ik.plan import IkPlan
from robomorph.targets.rtl.ik.stream_words import CAP_BITS
from robomorph.targets.rtl.ik.timing import Timing
from robomorph.targets.rtl.ik.weights import SHIFT_BITS
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.stream import Stream

CLOCK_NS = 2.0  # what standard cells of 45 nm are mapped for


@dataclass(frozen=True)
class IkDesign:
    """Hardware for one plan: a `Chip`."""

    plan: IkPlan

    @property
    def name(self) -> str:
        return module_name(self.plan.name)

    @property
    def top(self) -> str:
        return f"{self.name}_top"

    @property
    def clock_ns(self) -> float | None:
        return CLOCK_NS

    @cached_property
    def timing(self) -> Timing:
        return Timing(self.plan)

    @cached_property
    def streams(self) -> tuple[Stream, Stream]:
        return Stream(self.plan.input_words, 32, 1, 32), Stream(self.plan.output_words, 32, 1, 32)

    @property
    def input_slots(self) -> tuple[int, ...]:
        return tuple(range(self.plan.input_words))

    @cached_property
    def netlist(self) -> Module:
        return _Top(self).made()

    @cached_property
    def files(self) -> dict[str, str]:
        return source_files(self.netlist)


class _Top:
    def __init__(self, design: IkDesign) -> None:
        self.d, self.t, self.p = design, design.timing, design.plan
        self.problems = self.p.knobs.problems
        self.index_bits = place_bits(self.problems)
        self.place_bits = place_bits(self.p.coordinates)
        self.step_bits = self.p.knobs.speculations.bit_length()
        self.m = streaming_module(
            design.top, f"{self.p.name}: inverse kinematics of positions.", design.streams
        )

    def made(self) -> Module:
        self._add_signals()
        self._add_load()
        self._add_unload()
        self._add_control()
        self._add_memories()
        self._add_serial()
        self._add_weights()
        self._add_search()
        return self.m

    def _add_signals(self) -> None:
        """What the parts tell each other."""
        m, p, n = self.m, self.p, self.problems
        bits: tuple[str, ...] = (
            "loaded",
            "load_write",
            "sent",
            "serial_start",
            "serial_last",
            "serial_end",
            "serial_done",
        )
        bits += ("search_start", "search_first", "search_done", "serial_lost", "search_lost", "stalled")
        bits += ("moved_write", "theta_read", "column_write", "delta_write", "w_start", "w_done")
        for name in bits:
            m.signal(name)
        for name in ("load_at", "sent_at", "serial_at", "search_at"):
            m.signal(name, self.index_bits)
        if n > 1:
            for name in ("serial", "search"):
                m.register(m.signal(f"{name}_held", self.index_bits), m[f"{name}_at"])
        for name in ("load", "sent", "moved", "serial", "column", "search", "delta"):
            m.signal(f"{name}_place", self.place_bits)
        for name in ("empty", "ready", "relaxed", "newton", "flag"):
            m.signal(name, n)
        each = {"target": 3 * p.target_bits, "threshold": p.square_bits, "cap": CAP_BITS, "patience": 8}
        each |= {"seed": 16, "log": 4, "step": self.step_bits, "square": p.square_bits, "status": 2}
        each |= {"tip": 3 * p.widths.unit, "iterations": CAP_BITS}
        for name, width in each.items():
            m.signal(name, n * width)
        words = {"load_theta": p.theta_bits, "moved_theta": p.theta_bits, "serial_theta": p.theta_bits}
        words |= {"search_theta": p.theta_bits, "serial_delta": p.delta_bits, "new_delta": p.delta_bits}
        words |= {"new_column": 3 * p.widths.serial, "search_column": 3 * p.widths.serial}
        words |= {"gram": 6 * p.gram_bits, "w_words": 3 * p.widths.weight, "w_shift": SHIFT_BITS}
        words |= {"found_step": self.step_bits, "found_square": p.square_bits, "found_tip": 3 * p.widths.unit}
        words |= {"draw": 16, "serial_error": 3 * p.error_bits}
        for name, width in words.items():
            m.signal(name, width)

    def _sizes(self, *names: str) -> dict[str, int]:
        p = self.p
        known = {"Problems": self.problems, "IndexW": self.index_bits, "Coordinates": p.coordinates}
        known |= {"PlaceW": self.place_bits, "TargetW": p.target_bits, "SquareW": p.square_bits}
        known |= {"CountW": CAP_BITS, "ThetaW": p.theta_bits, "MostLog": p.knobs.most_log}
        known |= {"StepW": self.step_bits, "TipW": 3 * p.widths.unit}
        return {name: known[name] for name in names}

    def _add_load(self) -> None:
        m = self.m
        wires = {
            **m.named("clk_i", "rst_ni", "s_axis_tdata", "s_axis_tvalid", "s_axis_tready", "s_axis_tlast"),
            **{"misaligned_o": m["misaligned_o"], "empty_i": m["empty"], "busy_i": m["moved_write"]},
            **{"loaded_o": m["loaded"], "at_o": m["load_at"], "write_o": m["load_write"]},
            **{"place_o": m["load_place"], "theta_o": m["load_theta"]},
        }
        for name in ("target", "threshold", "cap", "patience", "seed", "relaxed", "newton", "log"):
            wires[f"{name}_o"] = m[name]
        names = ("Problems", "IndexW", "Coordinates", "PlaceW", "TargetW", "SquareW", "CountW", "ThetaW")
        m.instance("u_load", IK_LOAD, wires, **self._sizes(*names, "MostLog"))

    def _add_unload(self) -> None:
        m = self.m
        wires = {
            **m.named("clk_i", "rst_ni", "m_axis_tdata", "m_axis_tvalid", "m_axis_tready", "m_axis_tlast"),
            **m.named("m_axis_tuser", "overflow_o"),
            **{"ready_i": m["ready"], "status_i": m["status"], "flag_i": m["flag"]},
            **{"iterations_i": m["iterations"], "square_i": m["square"], "busy_i": m["theta_read"]},
            **{"place_o": m["sent_place"], "at_o": m["sent_at"], "theta_i": m["serial_theta"]},
            "sent_o": m["sent"],
        }
        names = ("Problems", "IndexW", "Coordinates", "PlaceW", "SquareW", "CountW", "ThetaW")
        m.instance("u_unload", IK_UNLOAD, wires, **self._sizes(*names))

    def _add_control(self) -> None:
        m = self.m
        m.assign(m["serial_done"], m["w_done"] | m["serial_end"])
        inward: tuple[str, ...] = (
            "loaded",
            "load_at",
            "cap",
            "threshold",
            "patience",
            "seed",
            "serial_done",
            "stalled",
        )
        inward += ("serial_lost", "search_done", "search_lost", "sent", "sent_at")
        outward: tuple[str, ...] = (
            "empty",
            "serial_start",
            "serial_at",
            "serial_last",
            "search_start",
            "search_at",
        )
        outward += ("search_first", "ready", "step", "square", "tip", "iterations", "status", "flag")
        wires = {
            **m.named("clk_i", "rst_ni"),
            **{f"{name}_i": m[name] for name in inward},
            **{f"{name}_i": m[f"found_{name}"] for name in ("step", "square", "tip")},
            **{f"{name}_o": m[name] for name in outward},
            "search_draw_o": m["draw"],
        }
        names = ("Problems", "IndexW", "CountW", "SquareW", "StepW", "TipW")
        m.instance("u_control", IK_CONTROL, wires, **self._sizes(*names))

    def _add_memories(self) -> None:
        """Angles, which two parts write and three read; steps; columns."""
        m, p, n = self.m, self.p, self.problems
        depth = memory_depth(p.coordinates, n)
        bits = (depth - 1).bit_length()
        written, first = m.signal("theta_place", bits), m.signal("theta_first", bits)
        moved = address(m["serial_at"], m["moved_place"], n)
        m.assign(written, choose(m["moved_write"], moved, address(m["load_at"], m["load_place"], n)))
        serial = address(m["serial_at"], m["serial_place"], n)
        m.assign(first, choose(m["theta_read"], serial, address(m["sent_at"], m["sent_place"], n)))
        search = address(m["search_at"], m["search_place"], n)
        theta = {
            **{"clk_i": m["clk_i"], "write_i": m["moved_write"] | m["load_write"], "write_addr_i": written},
            **{"data_i": choose(m["moved_write"], m["moved_theta"], m["load_theta"])},
            **{"first_addr_i": first, "first_o": m["serial_theta"]},
            **{"second_addr_i": search, "second_o": m["search_theta"]},
        }
        m.instance("u_theta", MEMORY_TWO, theta, W=p.theta_bits, Depth=depth)
        self._add_memory("delta", "search_at", "serial_at", serial, m["new_delta"], m["serial_delta"])
        self._add_memory("column", "serial_at", "search_at", search, m["new_column"], m["search_column"])

    def _add_memory(
        self, name: str, writer: str, reader: str, read: Expression, data: Signal, out: Signal
    ) -> None:
        m, n = self.m, self.problems
        wires = {
            **{"clk_i": m["clk_i"], "write_i": m[f"{name}_write"], "data_i": data, "data_o": out},
            **{"write_addr_i": address(m[writer], m[f"{name}_place"], n), "read_addr_i": read},
        }
        m.instance(f"u_{name}", MEMORY, wires, W=data.width, Depth=memory_depth(self.p.coordinates, n))

    def _of(self, name: str, at: str) -> Expression:
        """A word of the problem that a stage works on, from the second cycle on: so its choice is not behind
        the scheduler's."""
        if self.problems == 1:
            return self.m[name]
        return chosen(self.m, f"{at}_{name}", self.m[f"{at}_held"], self.m[name], self.problems)

    def _add_serial(self) -> None:
        m, p = self.m, self.p
        serial = serial_module(f"{self.d.name}_serial", self.t)
        tip = self._named("aim_tip", self._of("tip", "serial"), 3 * p.widths.unit)
        target = self._named("aim_target", self._of("target", "serial"), 3 * p.target_bits)
        error = m.signal("aim_error", m["serial_error"].width)
        m.register(m["serial_error"], error)  # wanted much later
        for a in range(3):
            goal = sign_extend(target.bits(a * p.target_bits, p.target_bits), p.error_bits)
            word = sign_extend(tip.bits(a * p.widths.unit, p.widths.unit), p.error_bits)
            here = self._named(f"aim_tip{a}", word, p.error_bits)
            place = error.bits(a * p.error_bits, p.error_bits)
            m.assign(place, goal + ~here + Literal(1, p.error_bits))
        wires = {
            **{**m.named("clk_i", "rst_ni"), "start_i": m["serial_start"], "last_i": m["serial_last"]},
            **{"step_i": self._of("step", "serial"), "tip_i": tip, "error_i": m["serial_error"]},
            **{"read_o": m["theta_read"], "read_place_o": m["serial_place"], "theta_i": m["serial_theta"]},
            **{"delta_i": m["serial_delta"], "write_o": m["moved_write"], "theta_o": m["moved_theta"]},
            **{"write_place_o": m["moved_place"], "column_write_o": m["column_write"]},
            **{"column_place_o": m["column_place"], "column_o": m["new_column"], "gram_o": m["gram"]},
            **{"begin_o": m["w_start"], "done_o": m["serial_end"], "overflow_o": m["serial_lost"]},
        }
        m.instance("u_serial", serial, wires)

    def _named(self, name: str, value: Expression, width: int) -> Signal:
        made = self.m.signal(name, width)
        self.m.assign(made, value)
        return made

    def _add_weights(self) -> None:
        m = self.m
        unit = weights_module(f"{self.d.name}_weights", self.t.spec)
        mode = m.signal("w_mode")  # known long before it is wanted
        m.register(mode, self._of("newton", "serial"))
        wires = {
            **{**m.named("clk_i", "rst_ni"), "start_i": m["w_start"], "mode_i": mode},
            **{"k_log_i": self._of("log", "serial"), "m_i": m["gram"], "e_i": m["serial_error"]},
            **{
                "done_o": m["w_done"],
                "m_o": m["w_words"],
                "shift_o": m["w_shift"],
                "stalled_o": m["stalled"],
            },
        }
        m.instance("u_weights", unit, wires)

    def _add_search(self) -> None:
        """The w unit's words are copied when a search begins: the unit may be needed before it ends."""
        m = self.m
        search = search_module(f"{self.d.name}_search", self.t)
        # Wanted at once.
        log = chosen(m, "search_log", m["search_at"], m["log"], self.problems)
        kept = {}
        for name in ("w_words", "w_shift"):
            kept[name] = m.signal(f"kept_{name}", m[name].width)
            m.register(kept[name], m[name], enable=m["search_start"])
        wires = {
            **{**m.named("clk_i", "rst_ni"), "start_i": m["search_start"], "first_i": m["search_first"]},
            **{"log_i": log, "weights_i": kept["w_words"], "shift_i": kept["w_shift"]},
            **{f"{name}_i": self._of(name, "search") for name in ("target", "threshold", "relaxed")},
            **{
                "draw_i": m["draw"].bits(0, 8),
                "read_place_o": m["search_place"],
                "theta_i": m["search_theta"],
            },
            **{
                "column_i": m["search_column"],
                "write_o": m["delta_write"],
                "write_place_o": m["delta_place"],
            },
            **{"delta_o": m["new_delta"], "done_o": m["search_done"], "step_o": m["found_step"]},
            **{"square_o": m["found_square"], "tip_o": m["found_tip"], "overflow_o": m["search_lost"]},
        }
        m.instance("u_search", search, wires)
