"""Reads a topic from its beginning to the end it has now: dead letters and doctor's questions, not a stream."""

from collections.abc import AsyncIterator

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError

from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.connection import connection_kwargs


async def read_topic(settings: Settings, topic: str) -> AsyncIterator[InboundRecord]:
    """Every record of the topic, partition by partition. Raises CommandError when broker or topic is not there."""
    consumer = AIOKafkaConsumer(
        **connection_kwargs(settings), enable_auto_commit=False, auto_offset_reset="earliest", fetch_max_wait_ms=20
    )
    try:
        await consumer.start()
        await consumer.topics()
        partitions = sorted(consumer.partitions_for_topic(topic) or ())
        if not partitions:
            raise CommandError(
                f"topic {topic} does not exist on {settings.brokers}; make the topics with `groundwire topics create`"
            )
        for number in partitions:
            partition = TopicPartition(topic, number)
            consumer.assign([partition])
            end = (await consumer.end_offsets([partition]))[partition]
            start = (await consumer.beginning_offsets([partition]))[partition]
            if end <= start:
                continue
            await consumer.seek_to_beginning(partition)
            async for record in consumer:
                yield InboundRecord(
                    topic=topic,
                    partition=number,
                    offset=record.offset,
                    key=record.key,
                    value=record.value,
                    headers=tuple(record.headers),
                    timestamp_ms=record.timestamp,
                )
                if record.offset >= end - 1:
                    break
    except KafkaConnectionError:
        raise CommandError(f"no Kafka broker answers at {settings.brokers}") from None
    except KafkaError as error:
        raise CommandError(f"{settings.brokers}: {type(error).__name__}: {error}") from None
    finally:
        await consumer.stop()
