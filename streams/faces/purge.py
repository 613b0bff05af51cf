"""Purging: a change of the cache's log, sent to every partition, so that every node forgets."""

import time

from groundwire.schemas.cache_write import CacheWrite, Purge
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES
from groundwire.streams.faces.producing import producing


async def publish_purge(settings: Settings, purge: Purge) -> int:
    """Publish the purge to every partition of the cache's log; returns how many there are. Raises BrokerUnreachable."""
    async with producing(settings) as producer:
        partitions = await producer.partitions_for(CACHE_WRITES.name)
        value = CacheWrite(kind="purge", purge=purge).encode()
        for partition in sorted(partitions):
            await producer.send_and_wait(CACHE_WRITES.name, value=value, partition=partition)
        return len(partitions)


def now_ms() -> int:
    return time.time_ns() // 1_000_000
