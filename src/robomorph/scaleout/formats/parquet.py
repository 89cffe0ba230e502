"""Parquet by pyarrow: one column of fixed-size lists per array; matrices row by row, their shape in the
schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError, TargetError
from robomorph.scaleout.formats.base import Append, Array, Format, Layout

# Rows are gathered until a row group has this many bytes.
GROUP_BYTES = 8 << 20
# Fixed, so that the bytes depend on nothing but the numbers and pyarrow's version. Random numbers do not
# compress, and a dictionary of them would be as large as they are.
_OPTIONS = {"compression": "none", "use_dictionary": False, "write_statistics": False, "version": "2.6"}


def pyarrow_parquet() -> Any:
    """The module pyarrow.parquet; TargetError if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise TargetError(
            "Parquet: expected the package pyarrow, found none: pip install 'robomorph[dataset]', or "
            "--format zarr"
        ) from None
    return pyarrow.parquet


class Parquet(Format):
    name = "parquet"
    suffix = ".parquet"
    reading = "pandas.read_parquet, pyarrow.parquet.read_table, duckdb: SELECT * FROM 'DIR/*.parquet'"

    def check(self) -> dict[str, str]:
        pyarrow_parquet()
        import pyarrow

        return {"pyarrow": str(pyarrow.__version__)}

    @contextmanager
    def writer(self, path: Path, layout: Layout) -> Iterator[Append]:
        import pyarrow as pa

        schema = _schema(layout)
        waiting: list[Any] = []

        def flush() -> None:
            table = pa.Table.from_batches(waiting, schema)
            file.write_table(table, row_group_size=max(1, table.num_rows))
            waiting.clear()

        def append(block: Mapping[str, Array]) -> None:
            waiting.append(_batch(schema, layout, block))
            if sum(batch.num_rows for batch in waiting) * layout.bytes_per_row >= GROUP_BYTES:
                flush()

        with pyarrow_parquet().ParquetWriter(path, schema, **_OPTIONS) as file:
            yield append
            if waiting:
                flush()

    def read(self, path: Path) -> dict[str, Array]:
        return table_arrays(pyarrow_parquet().read_table(path, partitioning=None))


def _schema(layout: Layout) -> Any:
    import pyarrow as pa

    number = {"float64": pa.float64(), "float32": pa.float32()}[layout.dtype]
    fields = []
    for column in layout.columns:
        # A single number a row needs no list.
        kind = pa.list_(number, int(np.prod(column.shape))) if column.shape else number
        about = {"shape": json.dumps(column.shape), "about": column.about}
        fields.append(pa.field(column.name, kind, metadata=about))
    return pa.schema(fields, metadata=dict(sorted(layout.about.items())))


def _batch(schema: Any, layout: Layout, block: Mapping[str, Array]) -> Any:
    import pyarrow as pa

    arrays = []
    for column in layout.columns:
        # A copy: the caller fills its arrays anew for the next block.
        flat = pa.array(np.array(block[column.name], order="C").reshape(-1))
        kind = schema.field(column.name).type
        arrays.append(pa.FixedSizeListArray.from_arrays(flat, kind.list_size) if column.shape else flat)
    return pa.record_batch(arrays, schema=schema)


def table_arrays(table: Any) -> dict[str, Array]:
    """Columns of numbers, or of lists of one length, as arrays (rows, *shape)."""
    import pyarrow as pa

    found: dict[str, Array] = {}
    for name in table.column_names:
        column, field = table.column(name).combine_chunks(), table.schema.field(name)
        shape = tuple(json.loads((field.metadata or {}).get(b"shape", b"null")) or ())
        if isinstance(column, pa.ChunkedArray):  # a column of no chunks at all
            column = column.combine_chunks() if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
        rows, lists = len(column), not pa.types.is_primitive(field.type)
        flat = column.flatten() if lists else column
        if column.null_count or flat.null_count or (lists and rows and len(flat) % rows):
            raise ArgumentError(f"{name}: expected lists of one length without gaps, found others")
        width = shape or ((len(flat) // rows if rows else 0,) if lists else ())
        found[name] = flat.to_numpy(zero_copy_only=False).reshape(rows, *width)
    return found
