"""A producer for one command: connected, or one message that says why not; closed in any case."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.reachability import reasons_kept, unreachable


@asynccontextmanager
async def producing(settings: Settings, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
    """A started producer that waits for all replicas. Raises BrokerUnreachable, ConfigurationError."""
    producer = AIOKafkaProducer(**connection_kwargs(settings), acks="all", **options)
    try:
        with reasons_kept() as reasons:
            try:
                await producer.start()
            except KafkaConnectionError:
                raise unreachable(settings, reasons) from None
        yield producer
    finally:
        await producer.stop()
