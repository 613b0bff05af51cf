"""Reading a topic beside the pipeline: its end once, when partitions are taken over, or all of it as it grows.

Neither is a member of a group and neither commits.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.inbound import inbound
from groundwire.streams.runtime.log_ends import log_ends
from groundwire.streams.runtime.publisher import MAX_REQUEST_BYTES
from groundwire.streams.runtime.reseat import reseat

log = structlog.get_logger(__name__)

# What the end of a log may cost in memory, whatever the size of its records.
MAX_TAIL_BYTES = 128 * 1024 * 1024
FETCH_MAX_WAIT_MS = 100
POLL_MS = 500
RECONNECT_S = 2.0
# A read that hangs longer is begun anew, with new connections.
READ_TRY_S = 30.0


async def read_tail(
    settings: Settings,
    topic: str,
    numbers: Collection[int],
    *,
    since_ms: int,
    max_records: int,
) -> list[InboundRecord]:
    """The newest records of these partitions, at most so many in all, none older than `since_ms`; in each partition's order.

    Goes on until it has read to the end, however long the broker is away. Only memory bounds it: see MAX_TAIL_BYTES.
    """
    while numbers:
        try:
            async with asyncio.timeout(READ_TRY_S):
                return await _read_tail(settings, topic, numbers, since_ms, max_records)
        except TimeoutError:
            log.warning("the end of the log was not read to its end in time; it is tried again", topic=topic)
        except KafkaError as error:
            log.warning("the end of the log could not be read; it is tried again", topic=topic, error=str(error))
            await asyncio.sleep(RECONNECT_S)
    return []


async def _read_tail(
    settings: Settings, topic: str, numbers: Collection[int], since_ms: int, max_records: int
) -> list[InboundRecord]:
    records: list[InboundRecord] = []
    consumer = _consumer(settings)
    try:
        await consumer.start()
        partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
        consumer.assign(partitions)
        end = await log_ends(settings, partitions)
        start = await _start_offsets(consumer, partitions, end, since_ms)
        share = max(1, max_records // len(partitions))
        for partition in partitions:
            consumer.seek(partition, max(start[partition], end[partition] - share))
        await _read_until(consumer, {p: end[p] for p in partitions if end[p] > start[p]}, since_ms, records)
    finally:
        await consumer.stop()
    return records


async def follow(
    settings: Settings, topic: str, on_records: Callable[[Sequence[InboundRecord]], None], *, since_ms: int
) -> None:
    """Hand every record of every partition to `on_records`, from `since_ms` on, until cancelled. Outages are waited out."""
    positions: dict[TopicPartition, int] = {}  # kept through outages, so that no record comes twice
    while True:
        consumer = _consumer(settings)
        try:
            await consumer.start()
            found = await consumer._client._wait_on_metadata(topic)
            partitions = [TopicPartition(topic, number) for number in sorted(found)]
            consumer.assign(partitions)
            end = await log_ends(settings, partitions)
            start = await _start_offsets(consumer, partitions, end, since_ms)
            for partition in partitions:
                consumer.seek(partition, positions.get(partition, start[partition]))
            while True:
                for partition, batch in (await consumer.getmany(timeout_ms=POLL_MS)).items():
                    positions[partition] = batch[-1].offset + 1
                    on_records([inbound(record) for record in batch if record.timestamp >= since_ms])
                if await reseat(consumer):
                    log.info("the log was replaced; it is read from its start", topic=topic)
        except KafkaError as error:
            log.info("following a topic was interrupted; it goes on", topic=topic, error=str(error))
            await asyncio.sleep(RECONNECT_S)
        finally:
            await consumer.stop()


def _consumer(settings: Settings) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        **connection_kwargs(settings),
        enable_auto_commit=False,
        # A broker that was replaced by an empty one makes a position invalid: its log is read from the start.
        auto_offset_reset="earliest",
        fetch_max_wait_ms=FETCH_MAX_WAIT_MS,
        max_partition_fetch_bytes=MAX_REQUEST_BYTES,
    )


async def _start_offsets(
    consumer: AIOKafkaConsumer, partitions: Sequence[TopicPartition], end: Mapping[TopicPartition, int], since_ms: int
) -> dict[TopicPartition, int]:
    """The first offset of each partition that is not older than `since_ms`; the embedded broker answers with its first."""
    found = await consumer.offsets_for_times(dict.fromkeys(partitions, since_ms))
    return {
        partition: end[partition] if found.get(partition) is None else found[partition].offset
        for partition in partitions
    }


async def _read_until(
    consumer: AIOKafkaConsumer, left: dict[TopicPartition, int], since_ms: int, records: list[InboundRecord]
) -> None:
    held_bytes = 0
    while left:
        for partition, batch in (await consumer.getmany(timeout_ms=POLL_MS)).items():
            for record in map(inbound, batch):
                if record.timestamp_ms >= since_ms:
                    records.append(record)
                    held_bytes += len(record.value or b"")
            if partition in left and batch[-1].offset + 1 >= left[partition]:
                del left[partition]
                consumer.pause(partition)
        if held_bytes > MAX_TAIL_BYTES:
            log.warning("the end of the log is larger than can be kept at hand", records=len(records))
            return
        # Transaction markers have offsets and no records: the position passes them all the same.
        for partition in list(left):
            if await consumer.position(partition) >= left[partition]:
                del left[partition]
