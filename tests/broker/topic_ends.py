"""Both ends of topics, for tests: put records in, take records out, look at what a group has committed."""

import asyncio
import contextlib
import dataclasses
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import REQUESTS, TOPICS, TopicSpec
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.runtime.log_ends import log_ends
from groundwire.streams.runtime.sink import BatchSink
from groundwire.streams.runtime.topics_admin import ensure_topics

PATIENCE_S = 30.0


async def new_topics(settings: Settings, count: int, partitions: int = 4) -> list[TopicSpec]:
    """Topics nobody else uses, and Groundwire's own beside them."""
    specs = [dataclasses.replace(REQUESTS, name=f"t.{uuid.uuid4().hex}", partitions=partitions) for _ in range(count)]
    await ensure_topics(settings, [*specs, *TOPICS])
    return specs


def new_role() -> str:
    return f"test-{uuid.uuid4().hex}"


@contextlib.asynccontextmanager
async def running(what: PipelineApp | BatchSink) -> AsyncIterator[asyncio.Event]:
    """Run it, ready when the block begins; stopped as by SIGTERM when the block ends."""
    stop = asyncio.Event()
    task = asyncio.create_task(what.run(stop))
    ready = asyncio.create_task(what.ready.wait())
    await asyncio.wait({task, ready}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    assert ready.done(), "not ready in time"
    try:
        yield stop
    finally:
        stop.set()
        await asyncio.wait_for(task, PATIENCE_S)


async def put(settings: Settings, topic: str, values: Sequence[bytes | None], **record: Any) -> None:
    """Publish values under keys 0, 1, 2 …, confirmed."""
    producer = AIOKafkaProducer(bootstrap_servers=settings.brokers, max_request_size=16 * 1024 * 1024)
    await producer.start()
    try:
        for number, value in enumerate(values):
            await producer.send(topic, value, key=b"%d" % number, **record)
        await producer.flush()
    finally:
        await producer.stop()


async def take(settings: Settings, topic: str, count: int, patience_s: float = PATIENCE_S) -> list[Any]:
    """The first `count` records of a topic; AssertionError with what there is when they don't come."""
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=settings.brokers,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=20,
        max_partition_fetch_bytes=16 * 1024 * 1024,
    )
    await consumer.start()
    records: list[Any] = []
    try:
        async with asyncio.timeout(patience_s):
            while len(records) < count:
                for batch in (await consumer.getmany(timeout_ms=200)).values():
                    records.extend(batch)
    except TimeoutError:
        raise AssertionError(f"{len(records)} of {count} records came on {topic}") from None
    finally:
        await consumer.stop()
    return records


async def count(settings: Settings, topic: TopicSpec) -> int:
    """How many records a topic holds."""
    return sum((await log_ends(settings, _partitions(topic))).values())


async def committed(settings: Settings, group: str, topic: TopicSpec) -> list[int]:
    """The group's next offset on each partition; 0 where it has none."""
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.brokers)
    await admin.start()
    try:
        found = await admin.list_consumer_group_offsets(group, partitions=_partitions(topic))
        return [max(0, found[partition].offset) for partition in _partitions(topic)]
    finally:
        await admin.close()


async def eventually(condition: Any, patience_s: float = PATIENCE_S) -> None:
    """Wait until an async condition holds."""
    async with asyncio.timeout(patience_s):
        while not await condition():
            await asyncio.sleep(0.05)


def _partitions(topic: TopicSpec) -> list[TopicPartition]:
    return [TopicPartition(topic.name, number) for number in range(topic.partitions)]
