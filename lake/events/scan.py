"""Reading the lake with Polars: each event once, the readable files only, whatever a crash or a stray file left about."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from groundwire.lake.events import files
from groundwire.lake.events.files import LeftOut, UnreadableError, default_lake_path
from groundwire.lake.events.once import best_first, keep_mask, rank_columns
from groundwire.lake.events.tables import TABLES, Table, TableName
from groundwire.lake.events.window import Moment, Window

# Compaction removes files while we read. A day is read anew when that happens; one compaction can't do it twice.
_TRIES = 10


def scan(
    table: TableName = "requests",
    path: Path | str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
) -> pl.LazyFrame:
    """One table of the lake as a LazyFrame: the contract's columns, and `date`, the UTC day.

    Each event is there once, also when a crash wrote it twice or compaction is at work meanwhile. Files that can't be
    read are left out (`left_out` names them). A lake that is empty or not there yet gives no rows.

    `path` is the lake's folder; None means GROUNDWIRE_LAKE__PATH, else `lake` in GROUNDWIRE_HOME, else `.groundwire/lake`.
    `since` and `until` bound `requested_at` (`started_at` for attempts) and save reading the days outside: datetimes,
    dates, ISO text, or ages such as `24h`. `until` itself is outside; a date means the whole day.

    Raises ValueError for an unknown table or a window that is none.

        >>> import polars as pl
        >>> from groundwire.lake import scan
        >>> scan("attempts", since="7d").group_by("provider").agg(pl.col("cost_micro_usd").sum()).collect()
    """
    if table not in TABLES:
        raise ValueError(f"no table `{table}`; there are {', '.join(f'`{name}`' for name in TABLES)}")
    lake = Path(path) if path is not None else default_lake_path()
    return TableReader(lake, TABLES[table], Window.of(since, until)).scan()


def left_out(path: Path | str | None = None) -> list[tuple[str, str]]:
    """The files of the lake that `scan` leaves out, relative to the lake, each with the reason.

    Looks at every file's footer; damage further inside is known once a scan has come upon it (`verify` looks everywhere).
    """
    lake = Path(path) if path is not None else default_lake_path()
    return [(found.file, found.reason) for table in TABLES.values() for found in files.left_out_of(lake, table)]


def schema(table: Table) -> dict[str, pl.DataType]:
    """The columns a scan of a table has."""
    return {**pl.DataFrame(table.schema.empty_table()).schema, "date": pl.Date()}


class TableReader:
    """Reads one table of one lake, a day at a time: a day is what fits in memory and what compaction works on."""

    def __init__(self, lake: Path, table: Table, window: Window) -> None:
        self._lake = lake
        self._table = table
        self._window = window
        self.left_out: dict[str, str] = {}

    def scan(self) -> pl.LazyFrame:
        """The table as a LazyFrame. `left_out` is complete once it has been collected."""
        return register_io_source(
            self.frames, schema=schema(self._table), is_pure=True, explain_name=f"lake {self._table.name}"
        )

    def frames(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,  # noqa: ARG002 - Polars passes it; a day is our batch
    ) -> Iterator[pl.DataFrame]:
        """What Polars asks of a source: the columns, the rows that pass, no more than so many; one frame a day."""
        wanted = with_columns if with_columns is not None else list(schema(self._table))
        days = [day for day in files.days(self._lake, self._table) if self._window.reaches(day)]
        elsewhere = self._events_of_other_days(days)
        left = n_rows
        for day in days:
            if left is not None and left <= 0:
                return
            frame = self._day(day, wanted, predicate, elsewhere)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame

    def _day(
        self, day: date, wanted: Sequence[str], predicate: pl.Expr | None, elsewhere: pl.DataFrame | None
    ) -> pl.DataFrame:
        needed = {*wanted, *rank_columns(self._table), self._table.time}
        if predicate is not None:
            needed.update(predicate.meta.root_names())
        rows = self._read_day(day, [name for name in self._table.schema.names if name in needed])
        mask = keep_mask(self._table, rows)
        if mask is not None:
            rows = rows.filter(mask)
        if elsewhere is not None:
            rows = rows.join(elsewhere.filter(pl.col("day") != day), on="event_id", how="anti", maintain_order="left")
        rows = rows.filter(self._inside())
        rows = rows.with_columns(pl.col(self._table.time).dt.date().alias("date"))
        if predicate is not None:
            rows = rows.filter(predicate)
        return rows.select(wanted)

    def _inside(self) -> pl.Expr:
        time = pl.col(self._table.time)
        inside = pl.lit(True)
        if self._window.since is not None:
            inside &= time >= self._window.since
        if self._window.until is not None:
            inside &= time < self._window.until
        return inside

    def _events_of_other_days(self, days: Sequence[date]) -> pl.DataFrame | None:
        """Events that lie in several days, each with the one day (`day`) that gives it; None when there are none.

        A request sent again under its id days later is the same request and one row.
        """
        if len(days) < 2:
            return None
        ids = pl.concat([self._read_day(day, ["event_id"])["event_id"].drop_nulls().hash().unique() for day in days])
        doubled = ids.filter(ids.is_duplicated()).unique()
        if doubled.is_empty():
            return None
        copies = [
            self._read_day(day, rank_columns(self._table))
            .filter(pl.col("event_id").hash().is_in(doubled.implode()))
            .with_columns(pl.lit(day).alias("day"))
            for day in days
        ]
        return best_first(self._table, pl.concat(copies)).unique("event_id", keep="first").select("event_id", "day")

    def _read_day(self, day: date, names: Sequence[str]) -> pl.DataFrame:
        for _ in range(_TRIES):
            try:
                parts = [self._read_file(file, names) for file in files.day_files(self._lake, self._table, day)]
            except FileNotFoundError:
                continue
            whole = pa.concat_tables(
                [self._table.schema.empty_table().select(names), *(part for part in parts if part)]
            )
            return pl.DataFrame(whole)
        raise RuntimeError(f"the files of {day} in {self._lake} are being removed faster than they can be read")

    def _read_file(self, file: Path, names: Sequence[str]) -> pa.Table | None:
        reason = files.known_unreadable(file)
        if reason is None:
            try:
                return files.read_columns(file, self._table, names)
            except UnreadableError as error:
                reason = str(error)
                files.remember_unreadable(file, reason)
        self.left_out[str(file.relative_to(self._lake))] = reason
        return None


__all__ = ["LeftOut", "TableReader", "left_out", "scan", "schema"]
