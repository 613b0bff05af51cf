"""The cache writer as a role: what it forbids itself to keep, and which log its place belongs to."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from groundwire.lake.cache.writer import CacheWriter
from groundwire.schemas.cache_write import CacheWrite
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES
from groundwire.streams.agents.cache_writer import CacheWriterRole
from groundwire.streams.runtime.broker import EmbeddedBroker
from groundwire.streams.runtime.connection import EMBEDDED_CLUSTER_ID
from groundwire.streams.runtime.topics_admin import ensure_topics
from tests.broker.topic_ends import put as publish
from tests.unit.cache_views import NOW_MS, batch, eventually, keys_in, opened, put

SettingsFor = Callable[[str], Settings]


@pytest.fixture
async def settings(own_broker: EmbeddedBroker, settings_for: SettingsFor) -> Settings:
    found = settings_for(own_broker.address)
    await ensure_topics(found)
    return with_(found, semantic={"enabled": False}, expiry_interval_s=0.2)


def with_(settings: Settings, **cache: Any) -> Settings:
    return Settings.model_validate({**settings.model_dump(), "cache": cache})


@contextlib.asynccontextmanager
async def at_work(settings: Settings) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(CacheWriterRole(settings, {}).run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)


async def found(settings: Settings, *keys: str) -> set[str]:
    return await keys_in(settings, keys)


def write(key: str, **fields: Any) -> bytes:
    change: CacheWrite = put(key, **fields)
    return change.encode()


async def test_what_terms_no_longer_allow_goes_at_the_start_and_what_comes_later_at_the_next_tidying(
    settings: Settings,
) -> None:
    writer = opened(settings)
    writer.apply(batch(put("forbidden", provider="exa"), put("allowed", provider="tavily")))
    writer.close()
    strict = settings.model_copy(
        update={
            "providers": Settings.model_validate(
                {"providers": {"exa": {"storage": {"allowed": False}}, "tavily": {"storage": {"allowed": True}}}}
            ).providers
        }
    )
    async with at_work(strict):

        async def gone() -> bool:
            return await found(settings, "forbidden", "allowed") == {"allowed"}

        await eventually(gone)
        # From another node, whose operator allows it.
        await publish(settings, CACHE_WRITES.name, [write("later", provider="exa"), write("last", provider="tavily")])

        async def only_the_allowed_one() -> bool:
            return await found(settings, "later", "last") == {"last"}

        await eventually(only_the_allowed_one)


async def test_a_place_in_the_log_of_another_cluster_means_nothing(settings: Settings) -> None:
    await publish(settings, CACHE_WRITES.name, [write("a"), write("b")])
    async with at_work(settings):

        async def both() -> bool:
            return await found(settings, "a", "b") == {"a", "b"}

        await eventually(both)
    writer = CacheWriter(settings, log_id=EMBEDDED_CLUSTER_ID)
    writer.open()
    positions = writer.positions()
    assert sum(positions.values()) == 2
    writer.close()
    # The same folder under a cluster of another name, whose group has offsets of its own.
    foreign = CacheWriter(settings, log_id="another")
    foreign.open()
    assert foreign.positions() == {}
    foreign.apply([(partition, offset, None) for partition, offset in positions.items()])
    foreign.apply(
        batch(CacheWrite.model_validate({"kind": "purge", "purge": {"requested_at_ms": NOW_MS + 1}}), begin=9)
    )
    foreign.close()
    async with at_work(settings):
        await eventually(both)
