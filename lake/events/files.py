"""The files of a table: which there are, by day, and what can be read of them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from groundwire.lake.events.tables import Table

_DAY_PREFIX = "date="


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file whose rows are not counted, and why. `file` is relative to the lake."""

    file: str
    reason: str


class UnreadableError(Exception):
    """A Parquet file that can't be read whole; the message says why."""


# Files found unreadable: path → (modification time in ns, size, reason). Another file under the name is looked at anew.
_unreadable: dict[Path, tuple[int, int, str]] = {}


def default_lake_path() -> Path:
    """Where the lake is when nobody says: GROUNDWIRE_LAKE__PATH, else `lake` in GROUNDWIRE_HOME, else `.groundwire/lake`."""
    path = os.environ.get("GROUNDWIRE_LAKE__PATH")
    return Path(path) if path else Path(os.environ.get("GROUNDWIRE_HOME") or ".groundwire") / "lake"


def days(lake: Path, table: Table) -> list[date]:
    """The days a table has a folder for, in order."""
    root = lake / table.name
    try:
        names = [entry.name for entry in root.iterdir() if entry.name.startswith(_DAY_PREFIX) and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for name in names:
        try:
            found.append(date.fromisoformat(name.removeprefix(_DAY_PREFIX)))
        except ValueError:
            continue  # a stray folder
    return sorted(found)


def day_folder(lake: Path, table: Table, day: date) -> Path:
    return lake / table.name / f"{_DAY_PREFIX}{day.isoformat()}"


def day_files(lake: Path, table: Table, day: date) -> list[Path]:
    """The Parquet files of one day, stray temporary and hidden files aside."""
    return sorted(
        file
        for file in day_folder(lake, table, day).glob("**/*.parquet")
        if not file.name.startswith((".", "_")) and file.is_file()
    )


def known_unreadable(file: Path) -> str | None:
    """Why a file is left out, if that is known of the file that stands there now."""
    known = _unreadable.get(file)
    if known is None:
        return None
    try:
        state = file.stat()
    except OSError:
        return None
    return known[2] if (state.st_mtime_ns, state.st_size) == known[:2] else None


def remember_unreadable(file: Path, reason: str) -> None:
    try:
        state = file.stat()
    except OSError:
        return
    _unreadable[file] = (state.st_mtime_ns, state.st_size, reason)


def read_columns(file: Path, table: Table, names: Sequence[str]) -> pa.Table:
    """Some columns of one file, in the table's types; a column the file lacks is null.

    Pages are checked against their checksums, so that a flipped bit is an unreadable file and not a wrong number. Raises
    UnreadableError, or FileNotFoundError when the file is gone (compaction removes files).
    """
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            there = set(parquet.schema_arrow.names)
            for name in ("event_id", table.time):
                if name not in there:
                    raise UnreadableError(f"not a file of the {table.name} table: it has no column `{name}`")
            found = parquet.read(columns=[name for name in names if name in there])
            return _in_types(found, table, names, parquet.metadata.num_rows)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(_first_line(error)) from None


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
    if pa.types.is_string(column.type) == pa.types.is_string(wanted) or pa.types.is_null(column.type):
        try:
            return column.cast(wanted)
        except pa.ArrowException:
            pass
    raise UnreadableError(f"column `{name}` is {column.type}, not {wanted}")


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__


def left_out_of(lake: Path, table: Table, only: Sequence[date] | None = None) -> Iterator[LeftOut]:
    """The files of a table that can't be read, by a look at each one's schema and by what reading found out before."""
    for day in days(lake, table) if only is None else only:
        for file in day_files(lake, table, day):
            reason = known_unreadable(file) or _footer_problem(file, table)
            if reason is not None:
                yield LeftOut(str(file.relative_to(lake)), reason)


def _footer_problem(file: Path, table: Table) -> str | None:
    try:
        read_columns(file, table, [])
    except UnreadableError as error:
        remember_unreadable(file, str(error))
        return str(error)
    except FileNotFoundError:
        return None
    return None
