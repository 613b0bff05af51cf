"""Many small files into one a day, while others read and write."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
from filelock import FileLock, Timeout

from groundwire.lake.events import files
from groundwire.lake.events.once import keep_mask, rank_columns
from groundwire.lake.events.soundness import UnreadableError, condemn, look_at, read_columns
from groundwire.lake.events.staging import STAGING_FOLDER, LakeUnwritableError, Staging, sync_folder
from groundwire.lake.events.tables import TABLES, Table
from groundwire.lake.events.writer import write_parquet

MIB = 1024 * 1024
_ROW_GROUP_ROWS = 100_000


class CompactionBusyError(RuntimeError):
    """Another process is compacting this lake."""


@dataclass(slots=True)
class Compaction:
    """What one run did.

    `days` counts the folders that were merged, one a day and table; `by_table` says how many of each. `doubled_rows` are copies
    of events that were there twice and are now there once; `left_out` the files that can't be read and were not touched,
    relative to the lake, with the reason.
    """

    days: int = 0
    files_before: int = 0
    files_after: int = 0
    rows: int = 0
    doubled_rows: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    by_table: dict[str, int] = field(default_factory=dict)


def compact(path: Path, *, target_bytes: int = 256 * MIB, min_files: int = 2) -> Compaction:
    """Merge the files of each day and table into one. Files of `target_bytes` and more are large enough and stay.

    Safe at any moment and in any company: the merged file stands, durable, before its sources go, so a crash in between
    leaves copies, which `scan` counts once and the next run merges. A reader that finds a source gone reads the day anew;
    a writer that writes a source again brings copies back. Files that can't be read are not touched.

    Raises CompactionBusyError when another process is at it, LakeUnwritableError when the disk refuses.
    """
    done = Compaction()
    if not path.is_dir():
        return done
    staging = Staging(path)
    with _alone(path):
        try:
            for table in TABLES.values():
                for day in files.days(path, table):
                    _Day(path, table, day, staging).merge(done, target_bytes, max(2, min_files))
        finally:
            staging.close()
    return done


@contextmanager
def _alone(lake: Path) -> Iterator[None]:
    """Two compactions of one lake would only undo each other's work."""
    lock = FileLock(lake / STAGING_FOLDER / "compaction", thread_local=False)
    try:
        (lake / STAGING_FOLDER).mkdir(exist_ok=True)
        lock.acquire(blocking=False)
    except Timeout:
        raise CompactionBusyError(f"another process is compacting the lake at {lake}; let it finish") from None
    except OSError as error:
        raise LakeUnwritableError(lake, error) from error
    try:
        yield
    finally:
        lock.release()


class _Day:
    """One day of one table."""

    def __init__(self, lake: Path, table: Table, day: date, staging: Staging) -> None:
        self._lake = lake
        self._table = table
        self._day = day
        self._staging = staging

    def merge(self, done: Compaction, target_bytes: int, min_files: int) -> None:
        while True:
            sources = self._sources(target_bytes)
            if len(sources) < min_files:
                break
            try:
                self._merge(sources, done)
            except UnreadableError:
                continue  # known by now: once more without that file
            break
        for file in files.day_files(self._lake, self._table, self._day):
            reason = look_at(file, self._table).reason
            if reason is not None:
                done.left_out[str(file.relative_to(self._lake))] = reason

    def _sources(self, target_bytes: int) -> list[Path]:
        return [
            file
            for file in files.day_files(self._lake, self._table, self._day)
            if look_at(file, self._table).reason is None and file.stat().st_size < target_bytes
        ]

    def _merge(self, sources: Sequence[Path], done: Compaction) -> None:
        keys = pl.concat([pl.DataFrame(self._read(source, rank_columns(self._table))) for source in sources])
        mask = keep_mask(self._table, keys)
        bytes_before = sum(source.stat().st_size for source in sources)
        folder = files.day_folder(self._lake, self._table, self._day)
        with self._staging.file(folder, "merged") as file:
            write_parquet(file.content, self._table, _row_groups(self._kept(sources, mask)))
            bytes_after = file.content.tell()
        try:
            for source in sources:
                if source != file.target:  # all others may have been copies of what it holds
                    source.unlink()
            sync_folder(folder)
        except OSError as error:
            raise LakeUnwritableError(self._lake, error) from error
        doubled = 0 if mask is None else int((~mask).sum())
        done.days += 1
        done.by_table[self._table.name] = done.by_table.get(self._table.name, 0) + 1
        done.files_before += len(sources)
        done.files_after += 1
        done.rows += keys.height - doubled
        done.doubled_rows += doubled
        done.bytes_before += bytes_before
        done.bytes_after += bytes_after

    def _kept(self, sources: Sequence[Path], mask: pl.Series | None) -> Iterator[pa.Table]:
        start = 0
        for source in sources:
            rows = self._read(source, self._table.schema.names)
            end = start + rows.num_rows
            yield rows if mask is None else rows.filter(mask[start:end].to_arrow())
            start = end

    def _read(self, source: Path, names: Sequence[str]) -> pa.Table:
        try:
            return read_columns(source, self._table, names)
        except UnreadableError as error:
            condemn(source, self._table, str(error))
            raise


def _row_groups(parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Small tables gathered into row groups worth reading."""
    gathered: list[pa.Table] = []
    rows = 0
    for part in parts:
        gathered.append(part)
        rows += part.num_rows
        if rows >= _ROW_GROUP_ROWS:
            yield pa.concat_tables(gathered).combine_chunks()
            gathered, rows = [], 0
    if gathered:
        yield pa.concat_tables(gathered).combine_chunks()
