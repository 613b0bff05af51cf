"""Purging: a change of the cache's log, sent to every partition, so that every node forgets."""

import time

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError

from groundwire.schemas.cache_write import CacheWrite, Purge
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.connection import connection_kwargs


async def publish_purge(settings: Settings, purge: Purge) -> int:
    """Publish the purge to every partition of the cache's log; returns how many there are. Raises CommandError."""
    producer = AIOKafkaProducer(**connection_kwargs(settings), acks="all")
    try:
        await producer.start()
    except KafkaConnectionError:
        raise CommandError(f"no Kafka broker answers at {settings.brokers}") from None
    try:
        partitions = await producer.partitions_for(CACHE_WRITES.name)
        value = CacheWrite(kind="purge", purge=purge).encode()
        for partition in sorted(partitions):
            await producer.send_and_wait(CACHE_WRITES.name, value=value, partition=partition)
        return len(partitions)
    finally:
        await producer.stop()


def now_ms() -> int:
    return time.time_ns() // 1_000_000
