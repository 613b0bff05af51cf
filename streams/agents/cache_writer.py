"""cache writes → this node's view of the cache."""

import asyncio
import contextlib
import errno
import time
from collections.abc import Mapping, Sequence

import structlog

from groundwire.adapters.registry import Registry
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable, ViewDamaged, WriterBusy
from groundwire.lake.cache.on_demand import OnDemandEmbedder
from groundwire.lake.cache.writer import CacheWriter, VectorSource
from groundwire.schemas.cache_write import CacheWrite
from groundwire.schemas.record import InboundRecord, RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES
from groundwire.streams.runtime.sink import BatchSink, Refusal
from groundwire.streams.runtime.topics_admin import cluster_facts

log = structlog.get_logger(__name__)

STAND_BY_S = 1.0
OPEN_AGAIN_S = 5.0
# Under load the small files of many commits pile up long before the next tidying is due.
LOOK_FOR_CROWDING_S = 1.0


class CacheWriterRole:
    """Is a Role. Where another process writes this home's view already, it stands by and takes over when that one ends."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._pause = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        embedder = await asyncio.to_thread(self._embedder)
        terms = await self._terms()
        facts = await cluster_facts(self._settings)
        while not stop.is_set():
            writer = CacheWriter(self._settings, embedder, log_id=facts.cluster_id)
            if not await self._open(writer, stop):
                return
            self._pause.clear()
            told = asyncio.create_task(self._pause_when(stop))
            try:
                await self._follow(writer, terms)
            finally:
                told.cancel()
                await asyncio.to_thread(writer.close)

    async def _pause_when(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._pause.set()

    async def _follow(self, writer: CacheWriter, terms: Mapping[str, int]) -> None:
        """Apply the log until told to stop, or until the view turns out damaged: then it is opened anew and refilled."""
        cache = self._settings.cache

        async def expire() -> None:
            await asyncio.to_thread(writer.expire, _now_ms())
            await asyncio.to_thread(writer.enforce_terms, terms, _now_ms())

        async def thin_out() -> None:
            if writer.crowded:
                await asyncio.to_thread(writer.thin_out)

        await self._enforce_now(writer, terms)
        sink = BatchSink(
            "cache-writer",
            self._settings,
            CACHE_WRITES,
            lambda records: self._apply(writer, records),
            linger_s=cache.batch_linger_s,
            max_rows=cache.batch_rows,
            positions=writer.positions,
            group_suffix=f".{self._settings.node}" if self._settings.node else "",
            chores=(
                (cache.expiry_interval_s, expire),
                (LOOK_FOR_CROWDING_S, thin_out),
                (cache.optimize_interval_s, lambda: asyncio.to_thread(writer.optimize)),
            ),
        )
        await sink.run(self._pause)

    async def _enforce_now(self, writer: CacheWriter, terms: Mapping[str, int]) -> None:
        """What the terms of today forbid goes before anything else; a disk that refuses leaves it to the next tidying."""
        try:
            deleted = await asyncio.to_thread(writer.enforce_terms, terms, _now_ms())
        except (OSError, ViewDamaged) as error:
            log.error("answers that storage terms forbid could not be deleted yet", error=str(error))
            return
        if deleted:
            log.info("answers were deleted that storage terms no longer allow", entries=deleted)

    async def _terms(self) -> dict[str, int]:
        """How many seconds each provider's answers may be kept. Who is not known any more may not forbid anything: its file
        may just be broken, and nothing of it is served meanwhile."""
        registry = Registry.load(self._settings, self._environ)
        try:
            stored = {name: registry.get(name).storage for name in registry.names()}
        finally:
            await registry.aclose()
        return {name: terms.max_ttl_s if terms.allowed else 0 for name, terms in stored.items()}

    async def _open(self, writer: CacheWriter, stop: asyncio.Event) -> bool:
        """Wait for the writer lock and the disk; False when told to stop first."""
        said = ""
        while not stop.is_set():
            try:
                opened = await asyncio.to_thread(writer.open)
            except WriterBusy as error:
                if not said:
                    log.info("ready", role="cache-writer", standing_by=str(error))
                said, wait_s = str(error), STAND_BY_S
            except OSError as error:
                if str(error) != said:
                    log.error("the cache view can't be written; requests go on as misses", error=str(error))
                said, wait_s = str(error), OPEN_AGAIN_S
            else:
                log.info("cache view", entries=opened.entries, note=opened.message or "")
                return True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), wait_s)
        return False

    async def _apply(self, writer: CacheWriter, records: Sequence[InboundRecord]) -> list[Refusal]:
        batch: list[tuple[int, int, CacheWrite | None]] = []
        refused: list[Refusal] = []
        for record in records:
            change: CacheWrite | None = None
            try:
                change = CacheWrite.decode(record.value)
            except RecordError as error:
                refused.append((record, error))
            batch.append((record.partition, record.offset + 1, change))
        try:
            await asyncio.to_thread(writer.apply, batch)
        except ViewDamaged as error:
            log.error("the cache view is damaged; it is set aside and filled again from its log", error=str(error))
            self._pause.set()
            # The sink keeps a batch that the store can't take; it is read again once the view is open anew.
            raise OSError(errno.EIO, str(error)) from error
        return refused

    def _embedder(self) -> VectorSource | None:
        settings = self._settings.cache
        if not settings.semantic.enabled:
            return None
        if settings.embedding.path is None and settings.embedding.hub_model is None:
            return OnDemandEmbedder(settings.embedding)
        try:
            return Embedder.load(settings.embedding, home=self._settings.home)
        except EmbedderUnavailable as error:
            log.warning("no embedding model: entries without a vector stay out of the semantic tier", error=str(error))
            return None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
