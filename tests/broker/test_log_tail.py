"""The end of a log is read once when partitions are taken over, and a topic is followed beside the pipeline."""

import asyncio
import time
from collections.abc import Callable, Sequence

import pytest

from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import Settings
from groundwire.streams.runtime import tail
from groundwire.streams.runtime.broker import EmbeddedBroker
from groundwire.streams.runtime.tail import follow, read_tail
from groundwire.streams.runtime.topics_admin import ensure_topics
from tests.broker.topic_ends import eventually, new_topics, put

SettingsFor = Callable[[str], Settings]
NOW_MS = int(time.time() * 1000)


@pytest.fixture
def settings(broker: str, settings_for: SettingsFor) -> Settings:
    return settings_for(broker)


async def test_only_the_partitions_asked_for_and_only_records_young_enough(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    for partition in range(4):
        await put(settings, topic.name, [b"old"], partition=partition, timestamp_ms=NOW_MS - 60_000)
        await put(settings, topic.name, [b"%d-%d" % (partition, n) for n in range(3)], partition=partition)
    found = await read_tail(settings, topic.name, [1, 3], since_ms=NOW_MS - 1_000, max_records=100)
    for partition in (1, 3):
        values = [record.value for record in found if record.partition == partition]
        assert values == [b"%d-%d" % (partition, n) for n in range(3)], "in the partition's order"
    assert len(found) == 6


async def test_of_a_long_log_the_newest_records_are_read(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1, partitions=1)
    await put(settings, topic.name, [b"%d" % n for n in range(50)])
    found = await read_tail(settings, topic.name, [0], since_ms=0, max_records=5)
    assert [record.value for record in found] == [b"%d" % n for n in range(45, 50)]


async def test_no_partitions_and_an_empty_log_are_nothing(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    assert await read_tail(settings, topic.name, [], since_ms=0, max_records=5) == []
    assert await read_tail(settings, topic.name, [0, 1], since_ms=0, max_records=5) == []


async def test_a_broker_that_is_away_is_waited_for(
    own_broker: EmbeddedBroker, settings_for: SettingsFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "RECONNECT_S", 0.05)
    settings = settings_for(own_broker.address)
    own_broker.stop()
    reading = asyncio.create_task(read_tail(settings, "late", [0], since_ms=0, max_records=5))
    done, _ = await asyncio.wait([reading], timeout=0.5)
    assert not done, "nothing was read, and nobody was told that there is nothing"
    own_broker.restart()
    assert await reading == []


async def test_a_topic_is_followed_from_a_moment_on_over_an_outage_and_no_record_comes_twice(
    own_broker: EmbeddedBroker, settings_for: SettingsFor
) -> None:
    settings = settings_for(own_broker.address)
    (topic,) = await new_topics(settings, 1)
    await put(settings, topic.name, [b"old"], timestamp_ms=NOW_MS - 60_000)
    await put(settings, topic.name, [b"young"])
    seen: list[bytes | None] = []

    def note(records: Sequence[InboundRecord]) -> None:
        seen.extend(record.value for record in records)

    async def has(count: int) -> None:
        async def enough() -> bool:
            return len(seen) >= count

        await eventually(enough)

    following = asyncio.create_task(follow(settings, topic.name, note, since_ms=NOW_MS - 1_000))
    try:
        await has(1)
        await put(settings, topic.name, [b"a", b"b"])
        await has(3)
        own_broker.restart()
        await ensure_topics(settings, [topic], fresh_broker=True)
        await put(settings, topic.name, [b"after"], partition=0)
        await has(4)
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert sorted(value or b"" for value in seen) == [b"a", b"after", b"b", b"young"]
