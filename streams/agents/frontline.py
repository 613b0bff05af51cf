"""The fast path: requests → normalize → lookups → lookup → a reply from the cache, or a fetch."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

import structlog

from groundwire.adapters.registry import Registry
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable
from groundwire.lake.cache.expiry import ttl_s
from groundwire.lake.cache.semantic import SemanticTier
from groundwire.lake.cache.view import CacheReader
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import LOOKUPS, PAYLOADS, REQUESTS
from groundwire.streams.agents.announce import announce_providers
from groundwire.streams.agents.partition_counts import PartitionCounts
from groundwire.streams.agents.small_steps import in_small_steps
from groundwire.streams.agents.taken_over import TakenOver
from groundwire.streams.flow.clock import SystemClock
from groundwire.streams.runtime.acks import Partition
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.runtime.tail import read_tail
from groundwire.streams.stages.forwarded import KEEP_MS as FORWARDED_KEEP_MS
from groundwire.streams.stages.lookup import LookupStage
from groundwire.streams.stages.normalize import Normalize
from groundwire.streams.stages.serving_terms import ServingTerms

log = structlog.get_logger(__name__)

MAX_TAIL_RECORDS = 8_000


class Frontline:
    """Is a Role."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._registry = Registry.load(settings, environ)

    async def run(self, stop: asyncio.Event) -> None:
        settings, clock = self._settings, SystemClock()
        announce_providers(self._registry, settings)
        embedder = await asyncio.to_thread(_embedder, settings)
        reader = CacheReader(
            settings,
            model=embedder.model if embedder is not None else None,
            dimensions=embedder.dimensions if embedder is not None else 0,
        )
        await reader.start()
        semantic = SemanticTier(reader, settings)
        app = PipelineApp("frontline", settings)
        counts = PartitionCounts(app.partitions, settings.reply)
        normalize = Normalize(settings, self._registry, partition_count=counts)
        terms = ServingTerms(self._registry, settings.cache, ttl_s)
        lookup = LookupStage(reader, embedder, semantic, settings, terms)

        # What whoever had a partition knew: which ids were used for what, and which lookups went on to fetch and what came of
        # them (equal keys are on equal partitions of both topics).
        asked = TakenOver(partial(self._restore_requests, normalize))
        forwarded = TakenOver(partial(self._restore_forwarded, lookup))

        async def on_request(record: InboundRecord) -> Sequence[OutboundRecord]:
            if not await asked.is_restored(record.partition):
                return []
            await counts.learn(record)
            return normalize(record, clock.now_ms())

        async def on_lookup(record: InboundRecord) -> Sequence[OutboundRecord]:
            if not await forwarded.is_restored(record.partition):
                return []
            return await lookup(record, clock.now_ms())

        async def on_assigned(partitions: frozenset[Partition]) -> None:
            asked.assigned(_numbers(partitions, REQUESTS.name))
            forwarded.assigned(_numbers(partitions, LOOKUPS.name))

        async def on_revoked(partitions: frozenset[Partition]) -> None:
            asked.revoked(_numbers(partitions, REQUESTS.name))
            forwarded.revoked(_numbers(partitions, LOOKUPS.name))

        app.on_rebalance(assigned=on_assigned, revoked=on_revoked)
        app.add_agent(REQUESTS.name, on_request, settings.window.normalize)
        app.add_agent(LOOKUPS.name, on_lookup, settings.window.lookup)
        try:
            await app.run(stop)
        finally:
            await reader.stop()
            semantic.close()
            if embedder is not None:
                embedder.close()
            await self._registry.aclose()

    async def _restore_requests(self, normalize: Normalize, numbers: frozenset[int]) -> None:
        since_ms = SystemClock().now_ms() - int(self._settings.dedup_window_s * 1000)
        requests = await read_tail(
            self._settings, REQUESTS.name, numbers, since_ms=since_ms, max_records=MAX_TAIL_RECORDS
        )
        # Across partitions in the order they were sent: of two contents under one id the first counts.
        requests.sort(key=lambda record: record.timestamp_ms)
        await in_small_steps(normalize.restore, requests)

    async def _restore_forwarded(self, lookup: LookupStage, numbers: frozenset[int]) -> None:
        since_ms = SystemClock().now_ms() - FORWARDED_KEEP_MS
        payloads = await read_tail(
            self._settings, PAYLOADS.name, numbers, since_ms=since_ms, max_records=MAX_TAIL_RECORDS
        )
        await in_small_steps(lookup.restore, payloads)


def _numbers(partitions: frozenset[Partition], topic: str) -> frozenset[int]:
    return frozenset(number for name, number in partitions if name == topic)


def _embedder(settings: Settings) -> Embedder | None:
    """None: exact hits only, which is said once; a missing model must not stop the traffic."""
    if not settings.cache.semantic.enabled:
        return None
    try:
        embedder = Embedder.load(settings.cache.embedding, home=settings.home)
    except EmbedderUnavailable as error:
        log.warning("no embedding model: there are exact hits only", error=str(error))
        return None
    embedder.warm()
    return embedder
