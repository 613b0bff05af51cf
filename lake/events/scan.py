"""Reading the lake with Polars: each event once, the sound files only, whatever a crash or a stray file left about."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from groundwire.lake.events import files
from groundwire.lake.events.once import best_first, keep_mask, rank_columns
from groundwire.lake.events.soundness import UnreadableError, condemn, look_at, read_columns
from groundwire.lake.events.tables import TABLES, Table, TableName
from groundwire.lake.events.window import Moment, Window

# Compaction removes files while we read. A day is read anew when that happens; one compaction does it once to a day.
_TRIES = 20


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
    return TableReader(_lake(path), TABLES[table], Window.of(since, until)).scan()


def left_out(path: Path | str | None = None) -> list[tuple[str, str]]:
    """The files that `scan` leaves out, relative to the lake, each with the reason."""
    lake = _lake(path)
    found = []
    for table in TABLES.values():
        reader = TableReader(lake, table, Window())
        for day in files.days(lake, table):
            reader.sound_files(day)
        found += list(reader.left_out.items())
    return found


def schema(table: Table) -> dict[str, pl.DataType]:
    """The columns a scan of a table has."""
    return {**pl.DataFrame(table.schema.empty_table()).schema, "date": pl.Date()}


def _lake(path: Path | str | None) -> Path:
    return Path(path) if path is not None else files.default_lake_path()


class TableReader:
    """Reads one table of one lake, a day at a time: a day is what fits in memory and what compaction works on.

    `left_out` holds the files that were not read, each with the reason.
    """

    def __init__(self, lake: Path, table: Table, window: Window) -> None:
        self._lake = lake
        self._table = table
        self._window = window
        self._schema = schema(table)
        self.left_out: dict[str, str] = {}

    def scan(self) -> pl.LazyFrame:
        """The table as a LazyFrame. `left_out` is complete once it has been collected."""
        return register_io_source(
            self.frames, schema=self._schema, is_pure=True, explain_name=f"lake {self._table.name}"
        )

    def frames(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,  # noqa: ARG002 - Polars passes it; a day is our batch
    ) -> Iterator[pl.DataFrame]:
        """What Polars asks of a source: the columns, the rows that pass, no more than so many; one frame a day."""
        wanted = with_columns if with_columns is not None else list(self._schema)
        days = [day for day in files.days(self._lake, self._table) if self._window.reaches(day)]
        elsewhere = self._events_of_several_days(days)
        left = n_rows
        for day in days:
            frame = self._day(day, wanted, predicate, elsewhere)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame
            if left == 0:
                return

    def sound_files(self, day: date) -> tuple[list[Path], list[Path]]:
        """The files of a day to be read: those of exactly the table's types, and those that need a cast. Notes the others.

        Raises FileNotFoundError when one went away meanwhile.
        """
        exact, casting = [], []
        for file in files.day_files(self._lake, self._table, day):
            verdict = look_at(file, self._table)
            if verdict.reason is not None:
                self.left_out[str(file.relative_to(self._lake))] = verdict.reason
            elif verdict.exact:
                exact.append(file)
            else:
                casting.append(file)
        return exact, casting

    def _day(
        self, day: date, wanted: Sequence[str], predicate: pl.Expr | None, several: pl.DataFrame | None
    ) -> pl.DataFrame:
        needed = {*wanted, *rank_columns(self._table), self._table.time}
        if predicate is not None:
            needed.update(predicate.meta.root_names())
        rows = self._read_day(day, [name for name in self._table.schema.names if name in needed])
        mask = keep_mask(self._table, rows)
        if mask is not None:
            rows = rows.filter(mask)
        if several is not None:
            rows = rows.join(several.filter(pl.col("day") != day), on="event_id", how="anti", maintain_order="left")
        time = pl.col(self._table.time)
        if self._window.since is not None:
            rows = rows.filter(time >= self._window.since)
        if self._window.until is not None:
            rows = rows.filter(time < self._window.until)
        if "date" in needed:
            rows = rows.with_columns(time.dt.date().alias("date"))
        if predicate is not None:
            rows = rows.filter(predicate)
        return rows.select(wanted)

    def _events_of_several_days(self, days: Sequence[date]) -> pl.DataFrame | None:
        """Events that lie in several days, each with the one day (`day`) that gives it; None when there are none.

        A request sent again under its id days later is the same request and one row.
        """
        if len(days) < 2:
            return None
        by_day = [self._read_day(day, ["event_id"])["event_id"].drop_nulls().hash() for day in days]
        ids = pl.concat(by_day)
        if ids.n_unique() == ids.len():
            return None
        ids = pl.concat([day_ids.unique() for day_ids in by_day])
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
                exact, casting = self.sound_files(day)
                parts = [pl.DataFrame(read_columns(file, self._table, names)) for file in casting]
                if exact:
                    parts.append(self._read_at_once(exact, names))
                return pl.concat([pl.DataFrame(schema={name: self._schema[name] for name in names}), *parts])
            except FileNotFoundError:
                continue  # compacted away: look again at what there is
            except (pl.exceptions.PolarsError, UnreadableError, OSError):
                self._condemn_the_culprits(day, names)
        raise RuntimeError(f"the files of {day} in {self._lake} change faster than they can be read")

    def _read_at_once(self, exact: Sequence[Path], names: Sequence[str]) -> pl.DataFrame:
        return (
            pl.scan_parquet(
                list(exact),
                schema={name: kind for name, kind in self._schema.items() if name != "date"},
                missing_columns="insert",
                extra_columns="ignore",
                hive_partitioning=False,
                glob=False,
                cache=False,
            )
            .select(names)
            .collect()
        )

    def _condemn_the_culprits(self, day: date, names: Sequence[str]) -> None:
        """Reading failed on files that looked sound: find out which, one by one."""
        for file in files.day_files(self._lake, self._table, day):
            try:
                if look_at(file, self._table).exact:
                    self._read_at_once([file], names)
                else:
                    read_columns(file, self._table, names)
            except FileNotFoundError:
                continue
            except (pl.exceptions.PolarsError, UnreadableError, OSError) as error:
                condemn(file, self._table, str(error).splitlines()[0][:300])
