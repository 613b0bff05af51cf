"""A reader whose log was replaced by an empty one has a position that means nothing any more.

A Kafka says so (OFFSET_OUT_OF_RANGE) and aiokafka goes to the start by itself. The embedded broker says nothing: a fetch
beyond the end of its log is simply empty, for ever.
"""

from typing import Any


async def reseat(consumer: Any) -> int:
    """Send every partition that stands beyond the end of its log back to the start; gives back how many did."""
    moved = 0
    for partition in consumer.assignment():
        end = consumer.highwater(partition)
        if end is not None and await consumer.position(partition) > end:
            consumer.seek(partition, 0)
            moved += 1
    return moved
