"""Looking at every byte of the lake: what is damaged, misplaced or stray, and how much is there twice."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl

from groundwire.lake.events import files
from groundwire.lake.events.soundness import UnreadableError, read_columns
from groundwire.lake.events.tables import TABLES, Table


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be. `file` is relative to the lake."""

    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


@dataclass(slots=True)
class Verification:
    """What was found. `doubled_rows` is no problem: copies that `scan` counts once, and that `compact` removes."""

    files: int = 0
    bytes: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    doubled_rows: int = 0
    problems: list[Problem] = field(default_factory=list)


def verify(path: Path) -> Verification:
    """Read every file of the lake whole, against its checksums, and say what is wrong with which. Changes nothing."""
    found = Verification()
    for table in TABLES.values():
        ids = [pl.Series(dtype=pl.UInt64)]
        for day in files.days(path, table):
            for file in files.day_files(path, table, day):
                rows = _check(path, table, day, file, found)
                if rows is not None:
                    ids.append(rows["event_id"].drop_nulls().hash())
        every_id = pl.concat(ids)
        found.rows[table.name] = every_id.len()
        found.events[table.name] = every_id.n_unique()
        found.doubled_rows += found.rows[table.name] - found.events[table.name]
        found.problems += _strays(path, table)
    return found


def _check(lake: Path, table: Table, day: date, file: Path, found: Verification) -> pl.DataFrame | None:
    name = str(file.relative_to(lake))
    try:
        found.bytes += file.stat().st_size
        found.files += 1
        rows = pl.DataFrame(read_columns(file, table, table.schema.names))
    except FileNotFoundError:
        return None  # compacted away meanwhile
    except UnreadableError as error:
        found.problems.append(Problem(name, f"can't be read: {error}"))
        return None
    misplaced = rows.filter(pl.col(table.time).dt.date().ne_missing(day)).height
    if misplaced:
        found.problems.append(Problem(name, f"{misplaced:,} rows are not of this folder's day by their {table.time}"))
    nameless = rows["event_id"].null_count()
    if nameless:
        found.problems.append(Problem(name, f"{nameless:,} rows have no event_id, so copies of them can't be told"))
    return rows


def _strays(lake: Path, table: Table) -> Iterator[Problem]:
    """What lies in the table's folder and is no Parquet file of a day."""
    root = lake / table.name
    if not root.is_dir():
        return
    ours = {file for day in files.days(lake, table) for file in files.day_files(lake, table, day)}
    for file in sorted(root.rglob("*")):
        if file.is_file() and file not in ours:
            yield Problem(str(file.relative_to(lake)), "does not belong to the table; it is not read")
