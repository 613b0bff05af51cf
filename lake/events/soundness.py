"""Whether a file can be read whole, found out once for each file as it stands.

A damaged file must be left out and named, never half counted, and a flipped bit must not become a wrong number. So every
page is compared with its checksum the first time a process meets a file; the verdict holds while size and modification
time stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from groundwire.lake.events.pages import DoubtfulPagesError, check_pages
from groundwire.lake.events.tables import Table, TableName


class UnreadableError(Exception):
    """A Parquet file that can't be read whole, or that is not one of the table's; the message says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` None: sound. `exact`: its columns have the table's very types, so that many files can be read at once."""

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
    """Whether the types are exact. Raises UnreadableError."""
    try:
        with pq.ParquetFile(file) as parquet:
            schema, metadata = parquet.schema_arrow, parquet.metadata
        _refuse_strangers(schema, table)
        check_pages(file, metadata)
    except FileNotFoundError:
        raise
    except DoubtfulPagesError:
        # The quick look is not the judge: a page of a kind it does not know is no damage. Decoding tells.
        read_columns(file, table, table.schema.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(_first_line(error)) from None
    there = set(schema.names)
    exact = all(schema.field(field.name).type == field.type for field in table.schema if field.name in there)
    if not exact:
        read_columns(file, table, table.schema.names)  # raises where a column is of another kind altogether
    return exact


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
