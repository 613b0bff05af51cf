"""The lake's writer: a batch of event records becomes Parquet files that are durable before anything is acknowledged."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from groundwire.lake.events.rows import Row, day_name, read_row, to_arrow, unfit
from groundwire.lake.events.staging import Staging
from groundwire.lake.events.tables import TABLES, Table, TableName
from groundwire.schemas.record import InboundRecord, RecordError
from groundwire.schemas.settings import LakeSettings

Refused = tuple[InboundRecord, RecordError]


class EventWriter:
    """Lands batches of `search.events.v1` as Parquet.

    The order of a batch's life, and why a crash at any point neither loses nor doubles an event:

    1. The batch is read from the topic; nothing is committed.
    2. `write` puts its rows into files: staged, synced, renamed, the folder synced. A crash before the rename leaves a
       staged file outside the tables, which the next start removes.
    3. `write` returns: every file is durable. Only now may the caller commit the offsets.
    4. A crash between 2 and 3's commit delivers the records again. The same range makes a file of the same name with the
       same rows, which replaces the first. Another range makes another file with rows that are there already; `scan`
       gives each event once.

    One object belongs to one thread at a time. Several writers may share a lake.
    """

    def __init__(self, lake_path: Path, settings: LakeSettings) -> None:
        self._lake = lake_path
        self._query_text = settings.query_text
        self._staging = Staging(lake_path)

    def write(self, records: Sequence[InboundRecord]) -> list[Refused]:
        """Write a batch. Returns the records that can't be a row, each with the reason: dead letters, for the caller.

        Raises LakeUnwritableError (an OSError) when the disk refuses; files of the batch that are in place by then stay, and
        writing the batch again replaces them.
        """
        rows, refused = _read(records)
        for (table_name, day), group in _by_table_and_day(rows).items():
            table = TABLES[table_name]
            columns, fitting, too_large = self._columns(table, group)
            refused += [(row.record, error) for row, error in too_large]
            folder = self._lake / table.name / f"date={day_name(day)}"
            for stem, start, length in _files_of(fitting):
                with self._staging.file(folder, stem) as file:
                    write_parquet(file.content, table, [columns.slice(start, length)])
        return refused

    def close(self) -> None:
        """Remove the staging folder. Files in the tables are not touched."""
        self._staging.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _columns(self, table: Table, rows: list[Row]) -> tuple[pa.Table, list[Row], list[tuple[Row, RecordError]]]:
        try:
            return to_arrow(table, rows, self._query_text), rows, []
        except (pa.ArrowException, OverflowError):
            too_large = unfit(table, rows, self._query_text)
            culprits = {id(row) for row, _ in too_large}
            fitting = [row for row in rows if id(row) not in culprits]
            return to_arrow(table, fitting, self._query_text), fitting, too_large


def write_parquet(file: BinaryIO, table: Table, parts: Iterable[pa.Table]) -> None:
    """Arrow tables as the row groups of one Parquet file: zstd, with a checksum on every page."""
    with pq.ParquetWriter(
        file,
        table.schema,
        compression="zstd",
        use_dictionary=list(table.repetitive),
        write_page_checksum=True,
    ) as parquet:
        for part in parts:
            parquet.write_table(part)


def _read(records: Iterable[InboundRecord]) -> tuple[list[Row], list[Refused]]:
    rows: list[Row] = []
    refused: list[Refused] = []
    for record in records:
        try:
            rows.append(read_row(record))
        except RecordError as error:
            refused.append((record, error))
    return rows, refused


def _by_table_and_day(rows: Iterable[Row]) -> dict[tuple[TableName, int], list[Row]]:
    """Rows by the folder they belong to; inside a folder in the log's order."""
    groups: dict[tuple[TableName, int], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.record.topic, row.record.partition, row.record.offset)):
        groups[row.table, row.day].append(row)
    return groups


def _files_of(rows: Sequence[Row]) -> Iterable[tuple[str, int, int]]:
    """The files one folder's rows make: stem of the name, first row, number of rows. One file a topic and partition.

    The stem says where the rows come from: `<topic>-<partition>-<first offset>-<last offset>`. It is not enough for a
    name: offsets begin anew when a topic is made again, as on the embedded broker at every start.
    """
    start = 0
    while start < len(rows):
        first = rows[start].record
        end = start
        while end < len(rows) and (rows[end].record.topic, rows[end].record.partition) == (
            first.topic,
            first.partition,
        ):
            end += 1
        yield f"{first.topic}-{first.partition}-{first.offset}-{rows[end - 1].record.offset}", start, end - start
        start = end
