"""fetches → fetch → payloads and events: the only place where money is spent.

Before the first record of a partition is handled, the end of the payload partition with the same number is read again: answers
that are paid and calls that were begun by whoever had the partition before.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence

import structlog
from pydantic import ValidationError

from groundwire.adapters.registry import Registry
from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.cache_write import CacheWrite
from groundwire.schemas.event import AttemptEvent
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES, EVENTS, FETCHES, PAYLOADS
from groundwire.streams.agents.announce import announce_providers
from groundwire.streams.agents.small_steps import in_small_steps
from groundwire.streams.agents.taken_over import TakenOver
from groundwire.streams.flow.clock import SystemClock
from groundwire.streams.runtime.acks import Partition
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.runtime.guards_file import Guards, Seen, keep_written
from groundwire.streams.runtime.tail import follow, read_tail
from groundwire.streams.stages.fetch import FetchStage

log = structlog.get_logger(__name__)

MAX_TAIL_RECORDS = 8_000
BUDGET_MONTH_S = 31 * 86_400


class FetchRole:
    """Is a Role."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._registry = Registry.load(settings, environ)
        self._app = PipelineApp("fetch", settings)
        self._clock = SystemClock()
        self._stage = FetchStage(self._registry, self._app.publish, settings, ttl_s, self._clock)
        self._taken_over = TakenOver(self._restore)

    async def run(self, stop: asyncio.Event) -> None:
        announce_providers(self._registry, self._settings)
        self._app.add_agent(FETCHES.name, self._on_fetch, self._settings.window.fetch)
        self._app.on_rebalance(assigned=self._assigned, revoked=self._revoked)
        now_ms = self._clock.now_ms()
        beside = [
            asyncio.create_task(follow(self._settings, CACHE_WRITES.name, self._on_cache_writes, since_ms=now_ms)),
            asyncio.create_task(keep_written(self._settings.home, self._guards)),
        ]
        if _budgets_are_set(self._settings):
            # The log of events is the memory of what was spent; how far it reaches back is its retention.
            since_ms = now_ms - BUDGET_MONTH_S * 1000
            beside.append(asyncio.create_task(follow(self._settings, EVENTS.name, self._on_events, since_ms=since_ms)))
        try:
            await self._app.run(stop)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            await self._registry.aclose()

    def _guards(self) -> Guards:
        """A provider that was not asked yet has nothing against it."""
        seen = {name: self._stage.seen(name) for name in self._registry.names()}
        return {
            name: Seen(one.breaker, one.under_way) if one is not None else Seen("closed", 0)
            for name, one in seen.items()
        }

    async def _on_fetch(self, record: InboundRecord) -> Sequence[OutboundRecord]:
        return await self._stage(record) if await self._taken_over.is_restored(record.partition) else []

    async def _assigned(self, partitions: frozenset[Partition]) -> None:
        numbers = frozenset(number for topic, number in partitions if topic == FETCHES.name)
        self._stage.set_share(len(numbers) / FETCHES.partitions)
        self._taken_over.assigned(numbers)

    async def _revoked(self, partitions: frozenset[Partition]) -> None:
        self._taken_over.revoked(frozenset(number for topic, number in partitions if topic == FETCHES.name))

    async def _restore(self, numbers: frozenset[int]) -> None:
        started = time.monotonic()
        records = await read_tail(
            self._settings,
            PAYLOADS.name,
            numbers,
            since_ms=self._clock.now_ms() - int(self._settings.dedup_window_s * 1000),
            max_records=MAX_TAIL_RECORDS,
        )
        await in_small_steps(self._stage.restore, records)
        if records:
            seconds = round(time.monotonic() - started, 2)
            log.info("took over", partitions=len(numbers), payloads=len(records), seconds=seconds)

    def _on_cache_writes(self, records: Sequence[InboundRecord]) -> None:
        for record in records:
            # Most are puts, which are of no interest here and need not be parsed.
            if record.value is None or b'"purge"' not in record.value[:64]:
                continue
            try:
                change = CacheWrite.decode(record.value)
            except RecordError:
                continue  # the cache writer reports it
            if change.purge is not None:
                self._stage.forget(change.purge)

    def _on_events(self, records: Sequence[InboundRecord]) -> None:
        events: list[AttemptEvent] = []
        for record in records:
            if record.value is None or b'"attempt"' not in record.value[:64]:
                continue
            try:
                events.append(AttemptEvent.model_validate_json(record.value))
            except ValidationError:
                continue  # the lake writer reports it
        self._stage.observe(events)


def _budgets_are_set(settings: Settings) -> bool:
    limits = [(one.budget_per_day_micro_usd, one.budget_per_month_micro_usd) for one in settings.providers.values()]
    limits += [(one.budget_per_day_micro_usd, one.budget_per_month_micro_usd) for one in settings.tenants.values()]
    return any(limit is not None for pair in limits for limit in pair)
