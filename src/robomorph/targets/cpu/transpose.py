"""Between the user's row-major arrays and lane order, by transposing tiles in registers.

A tile is all rows of a block (one per lane) by k columns, k a power of two up to the lanes. A port is cut
into tiles and runs of constants, whichever cut costs least. A port narrower than a vector may also be taken
as one tile whose rows run into their successors: harmless, as nothing outside the block is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robomorph.targets.cpu.types import LaneType

# Per column of a port, its value if that is a constant.
Constants = Sequence[float | None]


class Piece(NamedTuple):
    """Columns of a port that are moved together. `spill`: rows run into their successors."""

    column: int
    width: int
    constant: bool = False
    spill: bool = False


def load_lanes(t: LaneType, rows: str, size: int, slot: int) -> list[str]:
    """Code that brings a port of `size` columns into workspace slots from `slot` on."""
    lines = []
    for piece in _pieces(t, size, [None] * size):
        if piece.spill:
            lines += _spilling_load(t, rows, size, slot, piece.width)
        else:
            lines += _call("tile_in", t, rows, size, slot, piece)
    return lines


def store_lanes(t: LaneType, rows: str, size: int, slot: int, constants: Constants) -> list[str]:
    """Code that writes a port of `size` columns from workspace slots from `slot` on; runs of constants
    (structural zeros) are written as they are."""
    lines = []
    for piece in _pieces(t, size, constants):
        if piece.spill:
            lines += _spilling_store(t, rows, size, slot, piece.width)
        elif piece.constant:
            lines += _constant_store(t, rows, size, piece, constants)
        else:
            lines += _call("tile_out", t, rows, size, slot, piece)
    return lines


def staged_columns(t: LaneType, size: int, constants: Constants) -> set[int]:
    """The columns of a port that `store_lanes` reads from the workspace."""
    moved = [p for p in _pieces(t, size, constants) if not p.constant]
    return {c for p in moved for c in range(p.column, min(p.column + p.width, size))}


def transpose_functions(t: LaneType, callers: str | None = None) -> str:
    """``@tile_in_k`` and ``@tile_out_k``: one tile between rows (row stride in elements) and lane order. All
    of them, or those that `callers` call."""
    made = {
        f"@tile_{way}_{k}(": (tile, k)
        for way, tile in (("in", _tile_in), ("out", _tile_out))
        for k in _powers(t.lanes)
    }
    return "\n\n".join(tile(t, k) for name, (tile, k) in made.items() if callers is None or name in callers)


# --- the cut of a port --------------------------------------------------------------------------------


def _pieces(t: LaneType, size: int, constants: Constants) -> list[Piece]:
    cost, pieces = _cheapest_cut(t, size, constants)
    width = 1 << max(0, size - 1).bit_length()
    if 1 < width <= t.lanes and _tile_cost(t, width) <= cost:
        return [Piece(0, width, spill=True)]
    return pieces


def _cheapest_cut(t: LaneType, size: int, constants: Constants) -> tuple[float, list[Piece]]:
    """The best cut of the first columns, one column more at a time."""
    best: list[tuple[float, Piece | None]] = [(0.0, None)]
    for end in range(1, size + 1):
        options: list[tuple[float, Piece]] = []
        for width in _powers(min(t.lanes, end)):
            start = end - width
            options.append((best[start][0] + _tile_cost(t, width), Piece(start, width)))
            if all(value is not None for value in constants[start:end]):
                options.append((best[start][0] + _store_cost(t, width), Piece(start, width, constant=True)))
        best.append(min(options, key=lambda option: option[0]))
    pieces: list[Piece] = []
    end = size
    while end:
        piece = best[end][1]
        assert piece is not None
        pieces.append(piece)
        end = piece.column
    return best[size][0], pieces[::-1]


def _powers(most: int) -> Iterator[int]:
    k = 1
    while k <= most:
        yield k
        k *= 2


def _tile_cost(t: LaneType, width: int) -> float:
    """Roughly, in instructions: shuffles, one load per column, one store per row, and the call."""
    return width * (width.bit_length() - 1) + width + _store_cost(t, width) + 4.0


def _store_cost(t: LaneType, width: int) -> float:
    """A store per row; those of 64 bytes count twice, as on machines that do them in halves."""
    return t.lanes * (2.0 if width * t.item >= 64 else 1.0)


# --- tiles --------------------------------------------------------------------------------------------


def _call(function: str, t: LaneType, rows: str, size: int, slot: int, piece: Piece) -> list[str]:
    tag = f"{rows}_{piece.column}"
    return [
        f"  {tag}r = getelementptr {t.scalar}, ptr {rows}, i64 {piece.column}",
        f"  {tag}l = getelementptr {t.name}, ptr %ws, i64 {slot + piece.column}",
        f"  call void @{function}_{piece.width}(ptr {tag}r, i64 {size}, ptr {tag}l)",
    ]


def _tile_in(t: LaneType, k: int) -> str:
    lines = [f"define internal void @tile_in_{k}(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {{"]
    lines += _row_addresses(t)
    for r in range(t.lanes):
        lines.append(f"  %a{r} = load {_short(t, k)}, ptr %row{r}, align {t.item}")
    names, code = _rows_to_lanes(t, [f"%a{r}" for r in range(t.lanes)], k, "%t")
    lines += code
    for c, name in enumerate(names):
        lines.append(f"  %lane{c} = getelementptr {t.name}, ptr %lanes, i64 {c}")
        lines.append(f"  store {t.name} {name}, ptr %lane{c}, align {t.align}")
    return "\n".join([*lines, "  ret void", "}"])


def _tile_out(t: LaneType, k: int) -> str:
    lines = [f"define internal void @tile_out_{k}(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {{"]
    lines += _row_addresses(t)
    for c in range(k):
        lines.append(f"  %lane{c} = getelementptr {t.name}, ptr %lanes, i64 {c}")
        lines.append(f"  %a{c} = load {t.name}, ptr %lane{c}, align {t.align}")
    names, code = _lanes_to_rows(t, [f"%a{c}" for c in range(k)], "%t")
    lines += code
    for r, name in enumerate(names):
        lines.append(f"  store {_short(t, k)} {name}, ptr %row{r}, align {t.item}")
    return "\n".join([*lines, "  ret void", "}"])


def _row_addresses(t: LaneType) -> list[str]:
    lines = []
    for r in range(t.lanes):
        lines.append(f"  %offset{r} = mul i64 %stride, {r}")
        lines.append(f"  %row{r} = getelementptr {t.scalar}, ptr %rows, i64 %offset{r}")
    return lines


def _short(t: LaneType, k: int) -> str:
    """A vector of k numbers; a vector of one, too, so that all widths are written alike."""
    return f"<{k} x {t.scalar}>"


def _rows_to_lanes(t: LaneType, rows: list[str], k: int, prefix: str) -> tuple[list[str], list[str]]:
    """From one vector of k columns per row to k vectors over all rows."""
    lines: list[str] = []
    # Rows i, k + i, 2k + i, ... side by side: then every group of k lanes holds a square block.
    groups = [rows[i::k] for i in range(k)]
    width = k
    while width < t.lanes:
        for i, group in enumerate(groups):
            joined = [f"{prefix}j{width}_{i}_{n}" for n in range(len(group) // 2)]
            for n, name in enumerate(joined):
                a, b = group[2 * n], group[2 * n + 1]
                lines.append(_shuffle(name, _short(t, width), a, b, list(range(2 * width))))
            groups[i] = joined
        width *= 2
    names, code = _transposed(t, [group[0] for group in groups], prefix)
    return names, lines + code


def _lanes_to_rows(t: LaneType, columns: list[str], prefix: str) -> tuple[list[str], list[str]]:
    """From k vectors over all rows to one vector of k columns per row."""
    k = len(columns)
    names, lines = _transposed(t, columns, prefix)
    rows = []
    for r in range(t.lanes):
        first = r - r % k
        rows.append(f"{prefix}r{r}")
        lines.append(_shuffle(rows[r], t.name, names[r % k], "poison", list(range(first, first + k))))
    return rows, lines


def _transposed(t: LaneType, names: list[str], prefix: str) -> tuple[list[str], list[str]]:
    """Every group of k lanes of k vectors as a square block, transposed: at each stage pairs of vectors at a
    distance exchange halves of blocks."""
    k, w, lines, distance = len(names), t.lanes, [], 1
    while distance < k:
        out = list(names)
        for i in range(k):
            if i & distance:
                continue
            j = i + distance
            low = [n if not n & distance else n - distance + w for n in range(w)]
            high = [n + distance if not n & distance else n + w for n in range(w)]
            for target, mask in ((i, low), (j, high)):
                out[target] = f"{prefix}{distance}_{target}"
                lines.append(_shuffle(out[target], t.name, names[i], names[j], mask))
        names, distance = out, 2 * distance
    return names, lines


def _shuffle(out: str, kind: str, a: str, b: str, mask: list[int]) -> str:
    indices = ", ".join(f"i32 {n}" for n in mask)
    return f"  {out} = shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{indices}>"


# --- constants and narrow ports ----------------------------------------------------------------------


def _constant_store(t: LaneType, rows: str, size: int, piece: Piece, constants: Constants) -> list[str]:
    values = constants[piece.column : piece.column + piece.width]
    scalars = (LaneType(t.dtype, 1).literal(value or 0.0) for value in values)
    vector = "<" + ", ".join(f"{t.scalar} {text}" for text in scalars) + ">"
    lines = []
    for r in range(t.lanes):
        name = f"{rows}_{piece.column}z{r}"
        lines.append(f"  {name} = getelementptr {t.scalar}, ptr {rows}, i64 {r * size + piece.column}")
        lines.append(f"  store {_short(t, piece.width)} {vector}, ptr {name}, align {t.item}")
    return lines


def _spilling_load(t: LaneType, rows: str, size: int, slot: int, k: int) -> list[str]:
    w, lines, names = t.lanes, [], []
    for r in range(w):
        # The last rows would read past the block: read its end instead and shift.
        start = min(r * size, w * size - k)
        shift = r * size - start
        name = f"{rows}_row{r}"
        lines.append(f"  {name}p = getelementptr {t.scalar}, ptr {rows}, i64 {start}")
        lines.append(f"  {name}v = load {_short(t, k)}, ptr {name}p, align {t.item}")
        mask = [min(n + shift, k - 1) for n in range(k)]
        lines.append(_shuffle(name, _short(t, k), f"{name}v", "poison", mask))
        names.append(name)
    columns, code = _rows_to_lanes(t, names, k, f"{rows}_t")
    lines += code
    for c in range(size):
        lines.append(f"  {rows}_l{c} = getelementptr {t.name}, ptr %ws, i64 {slot + c}")
        lines.append(f"  store {t.name} {columns[c]}, ptr {rows}_l{c}, align {t.align}")
    return lines


def _spilling_store(t: LaneType, rows: str, size: int, slot: int, k: int) -> list[str]:
    lines, names = [], []
    for c in range(k):
        # Columns that do not exist repeat the last: they land where the next row is written later.
        name = f"{rows}_c{c}"
        lines.append(f"  {name}p = getelementptr {t.name}, ptr %ws, i64 {slot + min(c, size - 1)}")
        lines.append(f"  {name} = load {t.name}, ptr {name}p, align {t.align}")
        names.append(name)
    out, code = _lanes_to_rows(t, names, f"{rows}_t")
    lines += code
    for r in range(t.lanes):
        if r * size + k <= t.lanes * size:
            lines.append(f"  {rows}_p{r} = getelementptr {t.scalar}, ptr {rows}, i64 {r * size}")
            lines.append(f"  store {_short(t, k)} {out[r]}, ptr {rows}_p{r}, align {t.item}")
        else:
            lines += _partial_store(t, rows, out[r], k, r * size, size)
    return lines


def _partial_store(t: LaneType, rows: str, value: str, k: int, start: int, count: int) -> list[str]:
    """The first `count` elements of a vector of k, in pieces of a power of two."""
    lines, done = [], 0
    while done < count:
        piece = 1 << ((count - done).bit_length() - 1)
        tag = f"{rows}_s{start + done}"
        lines.append(_shuffle(tag, _short(t, k), value, "poison", list(range(done, done + piece))))
        lines.append(f"  {tag}p = getelementptr {t.scalar}, ptr {rows}, i64 {start + done}")
        lines.append(f"  store {_short(t, piece)} {tag}, ptr {tag}p, align {t.item}")
        done += piece
    return lines
