"""Between the user's row-major arrays and lane order, by transposing square tiles in registers.

A tile is `lanes` rows by `lanes` columns. Columns that do not fill a tile are covered by a tile that
overlaps its neighbour; a port narrower than a tile uses rows that run into their successors, which is
harmless as long as nothing outside the block is touched.
"""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.targets.cpu.types import LaneType

# Per column of a port, its value if that is a constant.
Constants = Sequence[float | None]


def transpose_functions(t: LaneType) -> str:
    """``@tile_in`` and ``@tile_out``: one tile between rows (row stride in elements) and lane order."""
    w = t.lanes
    common = "noinline #0"
    load = [f"define internal void @tile_in(ptr %rows, i64 %stride, ptr %lanes) {common} {{"]
    load += _row_addresses(t)
    load += [f"  %a{r} = load {t.name}, ptr %row{r}, align {t.item}" for r in range(w)]
    names, shuffles = _transposed(t, [f"%a{r}" for r in range(w)])
    load += shuffles
    load += _lane_stores(t, names)
    store = [f"define internal void @tile_out(ptr %rows, i64 %stride, ptr %lanes) {common} {{"]
    store += _row_addresses(t)
    for c in range(w):
        store.append(f"  %lane{c} = getelementptr {t.name}, ptr %lanes, i64 {c}")
        store.append(f"  %a{c} = load {t.name}, ptr %lane{c}, align {t.bytes}")
    names, shuffles = _transposed(t, [f"%a{c}" for c in range(w)])
    store += shuffles
    store += [f"  store {t.name} {name}, ptr %row{r}, align {t.item}" for r, name in enumerate(names)]
    return "\n".join([*load, "  ret void", "}", "", *store, "  ret void", "}"])


def _row_addresses(t: LaneType) -> list[str]:
    lines = []
    for r in range(t.lanes):
        lines.append(f"  %offset{r} = mul i64 %stride, {r}")
        lines.append(f"  %row{r} = getelementptr {t.scalar}, ptr %rows, i64 %offset{r}")
    return lines


def _lane_stores(t: LaneType, names: list[str]) -> list[str]:
    lines = []
    for c, name in enumerate(names):
        lines.append(f"  %lane{c} = getelementptr {t.name}, ptr %lanes, i64 {c}")
        lines.append(f"  store {t.name} {name}, ptr %lane{c}, align {t.bytes}")
    return lines


def _transposed(t: LaneType, names: list[str], prefix: str = "%t") -> tuple[list[str], list[str]]:
    """Square transposition: at each stage pairs of vectors at a distance exchange halves of blocks."""
    w, lines, distance = t.lanes, [], 1
    while distance < w:
        out = list(names)
        for i in range(w):
            if i & distance:
                continue
            j = i + distance
            low = [k if not k & distance else k - distance + w for k in range(w)]
            high = [k + distance if not k & distance else k + w for k in range(w)]
            for target, mask in ((i, low), (j, high)):
                out[target] = f"{prefix}{distance}_{target}"
                lines.append(_shuffle(t, out[target], names[i], names[j], mask))
        names, distance = out, 2 * distance
    return names, lines


def _shuffle(t: LaneType, out: str, a: str, b: str, mask: list[int], size: int | None = None) -> str:
    indices = ", ".join(f"i32 {k}" for k in mask)
    kind = f"<{len(mask)} x i32>"
    return f"  {out} = shufflevector {t.name} {a}, {t.name} {b}, {kind} <{indices}>"


def _tile_columns(size: int, w: int) -> list[int]:
    """First columns of the tiles that cover a port at least one tile wide."""
    starts = list(range(0, size - w + 1, w))
    return starts if starts[-1] + w == size else [*starts, size - w]


def load_lanes(t: LaneType, rows: str, size: int, slot: int) -> list[str]:
    """Code that brings a port of `size` columns into workspace slots from `slot` on."""
    if size >= t.lanes:
        return _tiles(t, "tile_in", rows, size, slot)
    return _narrow_load(t, rows, size, slot)


def store_lanes(t: LaneType, rows: str, size: int, slot: int, constants: Constants) -> list[str]:
    """Code that writes a port of `size` columns from workspace slots from `slot` on. Tiles of nothing but
    constants (structural zeros) are written as they are."""
    if size >= t.lanes:
        return _tiles(t, "tile_out", rows, size, slot, constants)
    return _narrow_store(t, rows, size, slot)


def staged_columns(t: LaneType, size: int, constants: Constants) -> set[int]:
    """The columns of a port that `store_lanes` reads from the workspace."""
    if size < t.lanes:
        return set(range(size))
    tiles = [range(c, c + t.lanes) for c in _tile_columns(size, t.lanes)]
    return {c for tile in tiles if any(constants[c] is None for c in tile) for c in tile}


def _constant_tile(t: LaneType, rows: str, tag: str, size: int, column: int, values: Constants) -> list[str]:
    scalars = (LaneType(t.dtype, 1).literal(value or 0.0) for value in values)
    vector = "<" + ", ".join(f"{t.scalar} {text}" for text in scalars) + ">"
    lines = []
    for r in range(t.lanes):
        lines.append(f"  {tag}z{r} = getelementptr {t.scalar}, ptr {rows}, i64 {r * size + column}")
        lines.append(f"  store {t.name} {vector}, ptr {tag}z{r}, align {t.item}")
    return lines


def _tiles(
    t: LaneType, function: str, rows: str, size: int, slot: int, constants: Constants | None = None
) -> list[str]:
    lines = []
    for n, column in enumerate(_tile_columns(size, t.lanes)):
        tag = f"{rows}_{n}"
        values = constants[column : column + t.lanes] if constants else [None]
        if all(value is not None for value in values):
            lines += _constant_tile(t, rows, tag, size, column, values)
            continue
        lines.append(f"  {tag}r = getelementptr {t.scalar}, ptr {rows}, i64 {column}")
        lines.append(f"  {tag}l = getelementptr {t.name}, ptr %ws, i64 {slot + column}")
        lines.append(f"  call void @{function}(ptr {tag}r, i64 {size}, ptr {tag}l)")
    return lines


def _narrow_load(t: LaneType, rows: str, size: int, slot: int) -> list[str]:
    w, lines, names = t.lanes, [], []
    for r in range(w):
        # The last rows would read past the block: read its end instead and shift.
        start = min(r * size, w * size - w)
        shift = r * size - start
        name = f"{rows}_row{r}"
        lines.append(f"  {name}p = getelementptr {t.scalar}, ptr {rows}, i64 {start}")
        lines.append(f"  {name}v = load {t.name}, ptr {name}p, align {t.item}")
        mask = [min(k + shift, w - 1) for k in range(w)]
        lines.append(_shuffle(t, name, f"{name}v", "poison", mask))
        names.append(name)
    columns, shuffles = _transposed(t, names, f"{rows}_t")
    lines += shuffles
    for c in range(size):
        lines.append(f"  {rows}_l{c} = getelementptr {t.name}, ptr %ws, i64 {slot + c}")
        lines.append(f"  store {t.name} {columns[c]}, ptr {rows}_l{c}, align {t.bytes}")
    return lines


def _narrow_store(t: LaneType, rows: str, size: int, slot: int) -> list[str]:
    w, lines, names = t.lanes, [], []
    for c in range(w):
        # Columns that do not exist repeat the last: they land where the next row is written later.
        name = f"{rows}_c{c}"
        lines.append(f"  {name}p = getelementptr {t.name}, ptr %ws, i64 {slot + min(c, size - 1)}")
        lines.append(f"  {name} = load {t.name}, ptr {name}p, align {t.bytes}")
        names.append(name)
    out, shuffles = _transposed(t, names, f"{rows}_t")
    lines += shuffles
    for r in range(w):
        if r * size + w <= w * size:
            lines.append(f"  {rows}_p{r} = getelementptr {t.scalar}, ptr {rows}, i64 {r * size}")
            lines.append(f"  store {t.name} {out[r]}, ptr {rows}_p{r}, align {t.item}")
        else:
            lines += _partial_store(t, rows, out[r], r * size, size)
    return lines


def _partial_store(t: LaneType, rows: str, value: str, start: int, count: int) -> list[str]:
    """The first `count` elements of a vector, in pieces of a power of two."""
    lines, done = [], 0
    while done < count:
        piece = 1 << ((count - done).bit_length() - 1)
        tag = f"{rows}_s{start + done}"
        kind = f"<{piece} x {t.scalar}>"
        lines.append(_shuffle(t, tag, value, "poison", list(range(done, done + piece))))
        lines.append(f"  {tag}p = getelementptr {t.scalar}, ptr {rows}, i64 {start + done}")
        lines.append(f"  store {kind} {tag}, ptr {tag}p, align {t.item}")
        done += piece
    return lines
