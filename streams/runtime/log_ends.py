"""Where the logs end. The embedded broker's answer to that question is the last batch's first record plus one, whatever the
batch holds; the high-water mark that comes with every fetch is right on every broker, so it is asked for that way.
"""

import time
from collections.abc import Collection

from aiokafka import AIOKafkaConsumer, TopicPartition

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.connection import connection_kwargs

FETCH_MAX_WAIT_MS = 10
POLL_MS = 50
TIMEOUT_S = 5.0


async def log_ends(settings: Settings, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    """The offset that the next record of each partition will get. Raises KafkaError when the broker can't be asked."""
    if not partitions:
        return {}
    consumer = AIOKafkaConsumer(
        **connection_kwargs(settings), enable_auto_commit=False, fetch_max_wait_ms=FETCH_MAX_WAIT_MS
    )
    await consumer.start()
    try:
        consumer.assign(list(partitions))
        said: dict[TopicPartition, int] = await consumer.end_offsets(list(partitions))
        for partition, offset in said.items():
            consumer.seek(partition, offset)
        deadline = time.monotonic() + TIMEOUT_S
        while any(consumer.highwater(partition) is None for partition in partitions) and time.monotonic() < deadline:
            await consumer.getmany(timeout_ms=POLL_MS)
        return {partition: max(said[partition], consumer.highwater(partition) or 0) for partition in partitions}
    finally:
        await consumer.stop()
