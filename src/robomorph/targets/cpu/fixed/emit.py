"""From a program in fixed point to LLVM text: words in integer lanes, real numbers outside.

The code reads and writes arrays of doubles: arguments become words first, results are words times a power of
two, both exactly as the interpreter has it. A further result tells per state whether anything saturated.
"""

from __future__ import annotations

from robomorph.ir.cordic import cordic
from robomorph.ir.fixed import FixedProgram
from robomorph.ir.ops import ADD, CONST, COS, MUL, NEG, RECIP, SIN, SUB
from robomorph.ir.program import Node
from robomorph.ir.word_ranges import word_ranges
from robomorph.passes.chunk import chunk
from robomorph.passes.layout import plan_layout
from robomorph.passes.order import order
from robomorph.targets.cpu.fixed.arithmetic import Arithmetic
from robomorph.targets.cpu.fixed.boundary import to_reals, to_words
from robomorph.targets.cpu.fixed.cordic import cordic_function, cordic_name
from robomorph.targets.cpu.fixed.words import NARROW, WordType
from robomorph.targets.cpu.transpose import transpose_functions
from robomorph.targets.cpu.writer import Emitted, Writer

_FLAGS = 4  # kept apart until a chunk ends
_WHOLE, _PIECE = 800, 200  # nodes, as in `passes.chunk`: each takes several instructions
_BLOCKS = 4  # that pass a chunk one after the other: more gain little, and leave the nearest cache
_COST = 4  # instructions of an operation, about


def word_bits(fixed: FixedProgram) -> int:
    """Of the integers that the words of a program are kept in."""
    return 32 if max((form.bits for form in fixed.formats), default=0) <= NARROW else 64


def scheduled(fixed: FixedProgram) -> FixedProgram:
    """The same program in the order of the passes, and cut into chunks."""
    nodes = fixed.program.nodes
    # Passes move nodes, but leave their values alone: each tells where it came from.
    tagged = [Node(node.op, node.args, float(i)) for i, node in enumerate(nodes)]
    moved = order(fixed.program.with_nodes(tagged, fixed.program.results))
    origins = [int(node.value) for node in moved.nodes]
    back = [Node(node.op, node.args, nodes[i].value) for node, i in zip(moved.nodes, origins, strict=True)]
    program = chunk(moved.with_nodes(back, moved.results), _WHOLE, _PIECE)
    return FixedProgram(program, tuple(fixed.formats[i] for i in origins))


def emit_fixed(fixed: FixedProgram, lanes: int, *, vector_bits: int, rows: bool = True) -> Emitted:
    """Code for blocks of `lanes` rows of doubles (see NativeKernel for its C signature); the last array of
    results has one number per row, 1 where something saturated, else 0. Without `rows`, arrays are in lane
    order."""
    writer = _WordWriter(scheduled(fixed), WordType(word_bits(fixed), lanes), rows)
    t = writer.words
    trig = {fixed.formats[node.args[0]] for node in fixed.program.nodes if node.op in (SIN, COS)}
    blocks = _BLOCKS if writer.staged else 1
    main = [
        writer.entry(writer.symbol, 1),
        writer.entry(f"{writer.symbol}_several", blocks) if blocks > 1 else "",
        writer.read_function(),
        writer.write_function(),
        *(cordic_function(t, form) for form in sorted(trig)),
    ]
    if writer.staged:
        main.append(transpose_functions(writer.outside, callers="\n".join(main)))
    realign = '"stackrealign" ' if lanes > 1 else ""
    attributes = f'attributes #0 = {{ nounwind {realign}"min-legal-vector-width"="{vector_bits}" }}'
    return Emitted(
        "\n\n".join(filter(None, main)),
        tuple(writer.chunk_function(c) for c in range(len(writer.layout.chunks))),
        writer.declarations(),
        "\n".join([*_declarations(t), attributes]),
        writer.symbol,
        blocks * writer.block_bytes,
        _COST * fixed.program.cost() * lanes,
        blocks,
    )


def _declarations(t: WordType) -> list[str]:
    r = t.reals
    kinds = dict.fromkeys((t, t.wide))
    clips = [
        f"declare {k.name} @llvm.{which}.{k.suffix}({k.name}, {k.name})"
        for k in kinds
        for which in ("smin", "smax")
    ]
    return [
        *clips,
        f"declare {r.name} @llvm.floor.{r.suffix}({r.name})",
        f"declare {r.name} @llvm.copysign.{r.suffix}({r.name}, {r.name})",
    ]


class _WordWriter(Writer):
    """Workspace: arguments and results, first as doubles, then (or before) as words in the same places; then
    words that cross a cut, pairs of sines and cosines, and the flags."""

    def __init__(self, fixed: FixedProgram, words: WordType, rows: bool) -> None:
        self.fixed, self.words = fixed, words
        self.ranges = word_ranges(fixed)
        program = fixed.program
        super().__init__(program, words, words.reals, plan_layout(program), rows)
        self.ratio = self.outside.bytes // words.bytes
        self.out_base = program.input_size * self.ratio
        self.slot_base = self.out_base + program.output_size * self.ratio
        self.trig_base = self.slot_base + self.layout.slot_count
        angles = {node.args[0] for node in program.nodes if node.op in (SIN, COS)}
        self.flag_place = self.trig_base + 2 * len(angles)
        self.block_bytes = -(-(self.flag_place + 1) * words.bytes // 64) * 64
        # Arrays in lane order are aligned to whole vectors, rows are not.
        self._align = self.outside.align if self.staged or not rows else self.outside.item
        self.angles: dict[int, int] = {}  # the pair of places of every angle of this chunk
        self.flags: list[str] = []

    def constant_number(self, i: int) -> float:
        return self.fixed.constant_word(i) * self.fixed.formats[i].ulp

    def operand(self, a: int) -> str:
        if self.program.nodes[a].op is CONST:
            return self.words.literal(self.fixed.constant_word(a))
        return f"%v{a}"

    def input_address(self, name: str, slot: int) -> list[str]:
        return [self.slot(name, slot * self.ratio)]

    def output_address(self, name: str, entry: int) -> list[str]:
        return [self.slot(name, self.out_base + entry * self.ratio)]

    # --- chunks ----------------------------------------------------------------------------------

    def begin_chunk(self) -> list[str]:
        self.angles = {}
        self.flags = [self.words.literal(0)] * _FLAGS
        return []

    def end_chunk(self) -> list[str]:
        return self._gather_flags(more=True)

    def _gather_flags(self, *, more: bool) -> list[str]:
        """Store the flags; with `more`, beside those of chunks before."""
        t, lines = self.words, [self.slot("%flags", self.flag_place)]
        if more:
            lines.append(f"  %flags_before = load {t.name}, ptr %flags, align {t.bytes}")
        total = "%flags_before" if more else self.words.literal(0)
        for k, flag in enumerate(self.flags):
            lines.append(f"  %flags{k} = or {t.name} {total}, {flag}")
            total = f"%flags{k}"
        return [*lines, f"  store {t.name} {total}, ptr %flags, align {t.bytes}"]

    def node(self, i: int, lines: list[str]) -> None:
        node, formats, within = self.program.nodes[i], self.fixed.formats, self.ranges[i]
        use, out, frac = Arithmetic(self.words, lines, self.flags), f"%v{i}", formats[i].frac
        args, fracs = [self.operand(a) for a in node.args], [formats[a].frac for a in node.args]
        if node.op in (ADD, SUB):
            most = max(fracs)
            write = use.add if node.op is ADD else use.sub
            shifts = (most - fracs[0], most - fracs[1])
            write(out, *args, shifts=shifts, drop=most - frac, within=within)
        elif node.op is MUL:
            use.mul(out, *args, drop=sum(fracs) - frac, within=within)
        elif node.op is NEG:
            use.neg(out, *args, drop=fracs[0] - frac, within=within)
        elif node.op is RECIP:
            use.recip(out, *args, power=fracs[0] + frac, within=within)
        else:
            assert node.op in (SIN, COS), f"no words for {node.op}"
            self._trig(i, use)

    def _trig(self, i: int, use: Arithmetic) -> None:
        """One call gives both functions of an angle; the second asked for is loaded."""
        node, t, out = self.program.nodes[i], self.words, f"%v{i}"
        angle = node.args[0]
        form = self.fixed.formats[angle]
        if angle not in self.angles:
            pair = self.angles[angle] = len(self.angles)
            use.lines.append(self.slot(f"%cp{angle}", self.trig_base + 2 * pair))
            use.lines.append(self.slot(f"%sp{angle}", self.trig_base + 2 * pair + 1))
            places = f"ptr %cp{angle}, ptr %sp{angle}"
            use.lines.append(f"  call void @{cordic_name(form)}({t.name} {self.operand(angle)}, {places})")
        source = "sp" if node.op is SIN else "cp"
        loaded = f"load {t.name}, ptr %{source}{angle}, align {t.bytes}"
        inner = cordic(form.bits, form.frac).inner
        use.shorten(out, loaded, drop=inner - self.fixed.formats[i].frac, within=self.ranges[i])

    # --- the boundary ----------------------------------------------------------------------------

    def read_function(self) -> str:
        """``@read(in, ws, block)``: arguments of a block, those that the program reads, as words."""
        lines = ["define internal void @read(ptr %in, ptr %ws, i64 %block) noinline #0 {"]
        lines += self._block_pointers("in", [port.size for port in self.program.inputs])
        lines += self.load_rows() if self.staged else []
        self.flags = [self.words.literal(0)] * _FLAGS
        use = Arithmetic(self.words, lines, self.flags)
        for slot, form in sorted(self.fixed.input_formats.items()):
            lines += self._real_address(f"%real{slot}", "in", slot)
            real, r = f"%number{slot}", self.outside
            lines.append(f"  {real} = load {r.name}, ptr %real{slot}, align {self._align}")
            word = to_words(use, f"%word{slot}", real, form)
            lines += self.input_address(f"%place{slot}", slot)
            lines.append(f"  store {self.words.name} {word}, ptr %place{slot}, align {self.words.bytes}")
        return "\n".join([*lines, *self._gather_flags(more=False), "  ret void", "}"])

    def write_function(self) -> str:
        """``@write(out, ws, block)``: results of a block as real numbers, and its flags."""
        lines = ["define internal void @write(ptr %out, ptr %ws, i64 %block) noinline #0 {"]
        lines += self._block_pointers("out", [*(port.size for port in self.program.outputs), 1])
        t, r = self.words, self.outside
        for entry in sorted(e for entries in self.results.values() for e in entries):
            lines += self.output_address(f"%place{entry}", entry)
            lines.append(f"  %word{entry} = load {t.name}, ptr %place{entry}, align {t.bytes}")
            form = self.fixed.formats[self.program.results[entry]]
            real = to_reals(t, f"%number{entry}", f"%word{entry}", form, lines)
            lines += self._real_address(f"%real{entry}", "out", entry)
            lines.append(f"  store {r.name} {real}, ptr %real{entry}, align {self._align}")
        lines += self.store_rows() if self.staged else []
        lines += [
            self.slot("%flags", self.flag_place),
            f"  %all_flags = load {t.name}, ptr %flags, align {t.bytes}",
            f"  %flagged = icmp ne {t.name} %all_flags, {t.literal(0)}",
            f"  %flag = select {t.boolean} %flagged, {r.name} {r.literal(1.0)}, {r.name} {r.literal(0.0)}",
            f"  store {r.name} %flag, ptr %out{len(self.program.outputs)}, align {r.item}",
        ]
        return "\n".join([*lines, "  ret void", "}"])

    def _block_pointers(self, side: str, sizes: list[int]) -> list[str]:
        """Where a block's part of every array begins."""
        lines = []
        for p, size in enumerate(sizes):
            name = f"%{side}{p}"
            lines += [
                f"  {name}a = getelementptr ptr, ptr %{side}, i64 {p}",
                f"  {name}b = load ptr, ptr {name}a",
                f"  {name}c = mul i64 %block, {size * self.outside.lanes}",
                f"  {name} = getelementptr {self.outside.scalar}, ptr {name}b, i64 {name}c",
            ]
        return lines

    def _real_address(self, name: str, side: str, entry: int) -> list[str]:
        """Where the real number of an entry is: in the workspace if rows are staged there."""
        if not self.staged:
            ports = self.program.inputs if side == "in" else self.program.outputs
            return self.port_address(name, ports, side, entry)
        index = entry if side == "in" else self.program.input_size + entry
        return [f"  {name} = getelementptr {self.outside.name}, ptr %ws, i64 {index}"]

    # --- the whole -------------------------------------------------------------------------------

    def entry(self, symbol: str, blocks: int) -> str:
        """The function for so many blocks: all of them pass a chunk before the next one is entered."""
        lines = [f"define void @{symbol}(ptr %in, ptr %out, ptr %ws) #0 {{"]
        places = [f"%ws{b}" for b in range(blocks)]
        for b, place in enumerate(places):
            lines.append(f"  {place} = getelementptr i8, ptr %ws, i64 {b * self.block_bytes}")
        for b, place in enumerate(places):
            lines.append(f"  call void @read(ptr %in, ptr {place}, i64 {b})")
        for c in range(len(self.layout.chunks)):
            lines += [f"  call void @chunk{c}(ptr %in, ptr %out, ptr {place})" for place in places]
        for b, place in enumerate(places):
            lines.append(f"  call void @write(ptr %out, ptr {place}, i64 {b})")
        return "\n".join([*lines, "  ret void", "}"])
