"""What must not go down with an embedded broker that is replaced: its log lives in its memory.

Carried over are the records that no role has finished (from each group's committed offset on), replies so young that their
reader may not have them yet, and the dead letters. Everything else was read by whom it was for.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import (
    CACHE_WRITES,
    DEAD_LETTERS,
    EVENTS,
    FETCHES,
    LOOKUPS,
    PAYLOADS,
    REPLIES,
    REQUESTS,
    TopicSpec,
)
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.log_ends import log_ends
from groundwire.streams.runtime.publisher import MAX_BATCH_BYTES, MAX_REQUEST_BYTES

# Which group reads a topic to its end.
READ_BY: tuple[tuple[TopicSpec, str], ...] = (
    (REQUESTS, "groundwire.frontline"),
    (LOOKUPS, "groundwire.frontline"),
    (FETCHES, "groundwire.fetch"),
    (PAYLOADS, "groundwire.unify"),
    (CACHE_WRITES, "groundwire.cache-writer"),
    (EVENTS, "groundwire.lake-writer"),
)
YOUNG_REPLY_S = 15.0
MAX_DEAD_LETTERS = 1_000
READ_TIMEOUT_S = 20.0


@dataclass(slots=True)
class CarryOver:
    """Records taken out of one log, to be put into another."""

    records: list[Any] = field(default_factory=list)
    unfinished: int = 0

    async def put_into(self, settings: Settings) -> None:
        """Publish them, in their order, under their key, partition and time."""
        producer = AIOKafkaProducer(
            **connection_kwargs(settings),
            acks="all",
            max_request_size=MAX_REQUEST_BYTES,
            max_batch_size=MAX_BATCH_BYTES,
        )
        await producer.start()
        try:
            sent = [
                await producer.send(
                    record.topic,
                    record.value,
                    key=record.key,
                    partition=record.partition,
                    timestamp_ms=record.timestamp,
                    headers=list(record.headers),
                )
                for record in self.records
            ]
            await asyncio.gather(*sent)
        finally:
            await producer.stop()


async def unfinished(settings: Settings) -> int:
    """How many records the roles have not finished yet. Takes the groups' committed offsets for it."""
    starts, ends = await _places(settings)
    return sum(max(0, ends[partition] - start) for partition, start in starts.items())


async def take_out(settings: Settings) -> CarryOver:
    """Read what has to be carried over. Call it when no role works any more."""
    starts, ends = await _places(settings)
    carry = CarryOver(unfinished=sum(max(0, ends[partition] - start) for partition, start in starts.items()))
    young_ms = int((time.time() - YOUNG_REPLY_S) * 1000)
    for number in range(REPLIES.partitions):
        starts[TopicPartition(REPLIES.name, number)] = 0
    for number in range(DEAD_LETTERS.partitions):
        partition = TopicPartition(DEAD_LETTERS.name, number)
        starts[partition] = max(0, ends[partition] - MAX_DEAD_LETTERS)
    async with asyncio.timeout(READ_TIMEOUT_S):
        for record in await _read(settings, starts, ends):
            if record.topic != REPLIES.name or record.timestamp >= young_ms:
                carry.records.append(record)
    return carry


async def _places(settings: Settings) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """Where each group goes on, and where each topic ends."""
    topics = [spec for spec, _ in READ_BY] + [REPLIES, DEAD_LETTERS]
    partitions = [TopicPartition(spec.name, number) for spec in topics for number in range(spec.partitions)]
    ends = await log_ends(settings, partitions)
    starts: dict[TopicPartition, int] = {}
    admin = AIOKafkaAdminClient(**connection_kwargs(settings))
    await admin.start()
    try:
        for spec, group in READ_BY:
            wanted = [TopicPartition(spec.name, number) for number in range(spec.partitions)]
            # Asked for named partitions: the embedded broker closes the connection on a request for all of them.
            found = await admin.list_consumer_group_offsets(group, partitions=wanted)
            for partition in wanted:
                starts[partition] = max(0, found[partition].offset) if partition in found else 0
    finally:
        await admin.close()
    return starts, ends


async def _read(settings: Settings, starts: dict[TopicPartition, int], ends: dict[TopicPartition, int]) -> list[Any]:
    left = {partition: ends[partition] for partition, start in starts.items() if start < ends[partition]}
    if not left:
        return []
    consumer = AIOKafkaConsumer(
        **connection_kwargs(settings),
        enable_auto_commit=False,
        fetch_max_wait_ms=20,
        max_partition_fetch_bytes=MAX_REQUEST_BYTES,
    )
    await consumer.start()
    records: list[Any] = []
    try:
        consumer.assign(list(left))
        for partition in left:
            consumer.seek(partition, starts[partition])
        while left:
            for partition, batch in (await consumer.getmany(timeout_ms=200)).items():
                records.extend(batch)
                if batch[-1].offset + 1 >= left.get(partition, 0):
                    left.pop(partition, None)
                    consumer.pause(partition)
    finally:
        await consumer.stop()
    return records
