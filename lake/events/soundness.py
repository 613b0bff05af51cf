"""Whether a file can be read whole, found out once for each file as it stands.

A damaged file must be left out and named, never half counted, and a flipped bit must not become a wrong number. Polars
checks no checksums, and some damage makes it end the whole process; so it is only given files whose bytes fit the digest
in their name. Every other file is read by Arrow, page by page against the pages' checksums: slower, and the judge. The
verdict holds while size and modification time stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from groundwire.lake.events.files import digest_of, stated_digest
from groundwire.lake.events.tables import Table, TableName


class UnreadableError(Exception):
    """A Parquet file that can't be read whole, or that is not one of the table's; the message says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` None: sound. `exact`: as it was written, with the table's very types; many of them can be read at once."""

    reason: str | None
    exact: bool = False


_verdicts: dict[tuple[TableName, Path], tuple[int, int, Verdict]] = {}


def look_at(file: Path, table: Table) -> Verdict:
    """The verdict on a file. Raises FileNotFoundError when it is gone (compaction removes files)."""
    state = file.stat()
    known = _verdicts.get((table.name, file))
    if known is not None and known[:2] == (state.st_mtime_ns, state.st_size):
        return known[2]
    try:
        verdict = Verdict(None, exact=_examine(file, table))
    except UnreadableError as error:
        verdict = Verdict(str(error))
    _verdicts[table.name, file] = (state.st_mtime_ns, state.st_size, verdict)
    return verdict


def condemn(file: Path, table: Table, reason: str) -> None:
    """Leave a file out from now on: reading found damage that looking did not."""
    state = file.stat()
    _verdicts[table.name, file] = (state.st_mtime_ns, state.st_size, Verdict(reason))


def read_columns(file: Path, table: Table, names: Sequence[str]) -> pa.Table:
    """Some columns of one file, in the table's types and checked against their checksums; a column the file lacks is null.

    Raises UnreadableError, or FileNotFoundError when the file is gone.
    """
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            _refuse_strangers(parquet.schema_arrow, table)
            there = set(parquet.schema_arrow.names)
            found = parquet.read(columns=[name for name in names if name in there])
            return _in_types(found, table, names, parquet.metadata.num_rows)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(_first_line(error)) from None


def _examine(file: Path, table: Table) -> bool:
    """Whether the file is exact. Raises UnreadableError."""
    try:
        as_written = stated_digest(file) == digest_of(file)
        schema = pq.read_schema(file)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(_first_line(error)) from None
    _refuse_strangers(schema, table)
    there = set(schema.names)
    if as_written and all(schema.field(field.name).type == field.type for field in table.schema if field.name in there):
        return True
    if not as_written:
        _refuse_lost_columns(file, table, there)
    read_columns(file, table, table.schema.names)
    return False


def _refuse_lost_columns(file: Path, table: Table, there: set[str]) -> None:
    """A file of ours that is not as it was written and lacks a column: most likely the column's name is what is damaged,
    for the footer has no checksum. Reading on would take known values for unknown ones."""
    lost = [name for name in table.schema.names if name not in there]
    if lost and stated_digest(file) is not None:
        raise UnreadableError(f"the file is not as it was written, and its column `{lost[0]}` is missing")


def _refuse_strangers(schema: pa.Schema, table: Table) -> None:
    for name in ("event_id", table.time):
        if name not in schema.names:
            raise UnreadableError(f"not a file of the {table.name} table: it has no column `{name}`")


def _in_types(found: pa.Table, table: Table, names: Sequence[str], rows: int) -> pa.Table:
    arrays = []
    for name in names:
        wanted = table.schema.field(name).type
        if name not in found.column_names:
            arrays.append(pa.nulls(rows, wanted))
            continue
        column = found.column(name)
        arrays.append(column if column.type == wanted else _cast(name, column, wanted))
    return pa.table(arrays, names=list(names))


def _cast(name: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    # Text is never read as a number nor a number as text: such a file is not one of ours.
    if _is_text(column.type) == _is_text(wanted) or pa.types.is_null(column.type):
        try:
            return column.cast(wanted)
        except pa.ArrowException:
            pass
    raise UnreadableError(f"column `{name}` is {column.type}, not {wanted}")


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__
