"""A record as aiokafka hands it out, as the stages see it."""

from typing import Any

from groundwire.schemas.record import InboundRecord


def inbound(record: Any) -> InboundRecord:
    """From an aiokafka ConsumerRecord."""
    return InboundRecord(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value=record.value,
        headers=tuple(record.headers or ()),
        timestamp_ms=record.timestamp,
    )
