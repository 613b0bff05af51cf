"""events → Parquet."""

import asyncio
import contextlib
from collections.abc import Sequence

from groundwire.lake.events.compaction import CompactionBusyError, compact
from groundwire.lake.events.writer import EventWriter
from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import EVENTS
from groundwire.streams.runtime.sink import BatchSink, Refusal

# A flush every few seconds makes thousands of files a day otherwise.
COMPACT_EVERY_S = 3600.0


class LakeWriter:
    """Is a Role."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._writer: EventWriter | None = None

    async def run(self, stop: asyncio.Event) -> None:
        lake = self._settings.lake
        sink = BatchSink(
            "lake-writer",
            self._settings,
            EVENTS,
            self._write,
            linger_s=lake.flush_interval_s,
            max_rows=lake.flush_rows,
            chores=((COMPACT_EVERY_S, self._compact),),
        )
        try:
            await sink.run(stop)
        finally:
            if self._writer is not None:
                self._writer.close()

    async def _compact(self) -> None:
        """Merge the small files of the last hour. In the way of the writing, which waits: minutes would be too often."""
        with contextlib.suppress(CompactionBusyError):  # another lake writer of this home is at it
            await asyncio.to_thread(compact, self._settings.lake_path)

    async def _write(self, records: Sequence[InboundRecord]) -> list[Refusal]:
        # Made at the first batch, and again after the disk refused it: a full disk delays the lake, never the start.
        if self._writer is None:
            self._writer = await asyncio.to_thread(EventWriter, self._settings.lake_path, self._settings.lake)
        return await asyncio.to_thread(self._writer.write, records)
