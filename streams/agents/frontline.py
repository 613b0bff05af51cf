"""The fast path: requests → normalize → lookups → lookup → a reply from the cache, or a fetch."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from groundwire.adapters.registry import Registry
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable
from groundwire.lake.cache.semantic import SemanticTier
from groundwire.lake.cache.view import CacheReader
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import LOOKUPS, REQUESTS
from groundwire.streams.agents.announce import announce_providers
from groundwire.streams.agents.partition_counts import PartitionCounts
from groundwire.streams.flow.clock import SystemClock
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.stages.lookup import LookupStage
from groundwire.streams.stages.normalize import Normalize

log = structlog.get_logger(__name__)


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
        lookup = LookupStage(reader, embedder, semantic, settings)

        async def on_request(record: InboundRecord) -> Sequence[OutboundRecord]:
            await counts.learn(record)
            return normalize(record, clock.now_ms())

        async def on_lookup(record: InboundRecord) -> Sequence[OutboundRecord]:
            return await lookup(record, clock.now_ms())

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
