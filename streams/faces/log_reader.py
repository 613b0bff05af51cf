"""Reads a topic from its beginning to the end it has now: dead letters and doctor's questions, not a stream."""

from collections.abc import AsyncIterator

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.inbound import inbound
from groundwire.streams.runtime.log_ends import log_ends
from groundwire.streams.runtime.publisher import MAX_REQUEST_BYTES
from groundwire.streams.runtime.topics_admin import cluster_facts


async def read_topic(settings: Settings, topic: str) -> AsyncIterator[InboundRecord]:
    """Every record of the topic, partition by partition.

    Raises BrokerUnreachable, and CommandError when there is no such topic or the broker fails on the way.
    """
    count = (await cluster_facts(settings)).partitions.get(topic)
    if not count:
        raise CommandError(
            f"topic {topic} does not exist on {settings.brokers}; make the topics with `groundwire topics create`"
        )
    partitions = [TopicPartition(topic, number) for number in range(count)]
    consumer = AIOKafkaConsumer(
        **connection_kwargs(settings),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=20,
        max_partition_fetch_bytes=MAX_REQUEST_BYTES,
    )
    try:
        await consumer.start()
        ends = await log_ends(settings, partitions)
        starts = await consumer.beginning_offsets(partitions)
        for partition in partitions:
            if ends[partition] <= starts[partition]:
                continue
            consumer.assign([partition])
            consumer.seek(partition, starts[partition])
            async for record in consumer:
                yield inbound(record)
                if record.offset >= ends[partition] - 1:
                    break
    except KafkaError as error:
        raise CommandError(f"{settings.brokers}: {type(error).__name__}: {error}") from None
    finally:
        await consumer.stop()
