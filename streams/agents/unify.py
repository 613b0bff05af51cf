"""payloads → unify → replies, cache writes, events."""

import asyncio
from collections.abc import Mapping, Sequence

from groundwire.adapters.registry import Registry
from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import PAYLOADS
from groundwire.streams.flow.clock import SystemClock
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.stages.unify import Unify


class UnifyRole:
    """Is a Role."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._registry = Registry.load(settings, environ)

    async def run(self, stop: asyncio.Event) -> None:
        clock = SystemClock()
        app = PipelineApp("unify", self._settings)
        unify = Unify(self._registry, self._settings, ttl_s)

        async def on_payload(record: InboundRecord) -> Sequence[OutboundRecord]:
            return unify(record, clock.now_ms())

        app.add_agent(PAYLOADS.name, on_payload, self._settings.window.unify)
        try:
            await app.run(stop)
        finally:
            await self._registry.aclose()
