"""Faust's transport, tuned: what Faust hard-codes or leaves out of its settings, and a commit that sends our own positions.

Faust lets an app bring its own transport, and a transport its own consumer and producer. Ours differ in three things: the
aiokafka clients are made with our arguments, what is committed comes from `ContiguousAcks`, and before partitions are given
up the records in work get a little time to finish, so that a rebalance repeats as little as possible.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aiokafka
import faust
import structlog
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata, TopicPartition
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Producer, Transport

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.acks import ContiguousAcks, Partition
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.publisher import MAX_REQUEST_BYTES, Publisher

log = structlog.get_logger(__name__)

COMMIT_TIMEOUT_S = 3.0

Listener = Callable[[frozenset[Partition]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the transport needs to know of its app."""

    settings: Settings
    group: str
    fetch_max_wait_ms: int
    idempotent: bool
    acks: ContiguousAcks
    publisher: Publisher
    drain: Callable[[], Awaitable[None]]
    on_assigned: Listener
    on_revoked: Listener


class TunedConsumerThread(AIOKafkaConsumerThread):  # type: ignore[misc]
    """Faust's consumer thread around an aiokafka consumer with our arguments."""

    def _create_worker_consumer(self, _transport: Transport) -> aiokafka.AIOKafkaConsumer:
        tuning: Tuning = self.app.tuning
        kafka = tuning.settings.kafka
        self._assignor = RoundRobinPartitionAssignor  # Faust's base class reads it
        return aiokafka.AIOKafkaConsumer(
            **connection_kwargs(tuning.settings),
            client_id=tuning.group,
            group_id=tuning.group,
            partition_assignment_strategy=[RoundRobinPartitionAssignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=tuning.fetch_max_wait_ms,
            max_partition_fetch_bytes=MAX_REQUEST_BYTES,
            max_poll_records=self.app.conf.broker_max_poll_records,
            session_timeout_ms=int(kafka.session_timeout_s * 1000),
            rebalance_timeout_ms=int(kafka.rebalance_timeout_s * 1000),
            heartbeat_interval_ms=int(kafka.session_timeout_s * 1000 / 6),
            request_timeout_ms=int(self.app.conf.broker_request_timeout * 1000),
            retry_backoff_ms=50,
        )

    async def _commit(self, offsets: Mapping[Any, int]) -> bool:
        """False: not this time. Faust would end the worker for an error that the next commit does not have."""
        consumer = self._ensure_consumer()
        try:
            await consumer.commit(
                {
                    TopicPartition(partition.topic, partition.partition): OffsetAndMetadata(offset, "")
                    for partition, offset in offsets.items()
                }
            )
        except KafkaError as error:
            log.info("offsets were not committed this time", error=str(error))
            return False
        return True


class TunedConsumer(Consumer):  # type: ignore[misc]
    """Faust's consumer, committing what `ContiguousAcks` says instead of what Faust counted."""

    def _new_consumer_thread(self) -> TunedConsumerThread:
        self._committing = asyncio.Lock()
        return TunedConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def commit(self, *_topics: Any, **_transaction: Any) -> bool:
        """Send the positions that moved. False when nothing did, or the broker can't take them now."""
        acks = self.app.tuning.acks
        async with self._committing:
            assignment = self.assignment()
            offsets = {
                faust.types.TP(*partition): offset
                for partition, offset in acks.committable().items()
                if partition in assignment
            }
            if not offsets:
                return False
            try:
                committed = await asyncio.wait_for(self._commit(offsets), COMMIT_TIMEOUT_S)
            except TimeoutError:
                return False
            if committed:
                acks.committed({(tp.topic, tp.partition): offset for tp, offset in offsets.items()})
            return bool(committed)

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        """Let what is in work finish for a while, commit it, and forget the rest: whoever gets it begins it again."""
        tuning: Tuning = self.app.tuning
        self.stop_flow()
        self.app.flow_control.suspend()
        self.app.flow_control.clear()
        await tuning.drain()
        await self.commit()
        partitions = _partitions(revoked)
        tuning.acks.revoke(partitions)
        await tuning.on_revoked(partitions)
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[Any], generation_id: int = 0) -> None:
        tuning: Tuning = self.app.tuning
        partitions = _partitions(assigned)
        tuning.acks.assign(partitions)
        await tuning.on_assigned(partitions)
        await super().on_partitions_assigned(assigned, generation_id)

    async def verify_all_partitions_active(self) -> None:
        """Faust's own check writes a page of advice for every idle partition; ours is liveness.py."""


class TunedProducer(Producer):  # type: ignore[misc]
    """Faust's producer service, around our publisher: one connection for everything a worker sends."""

    async def on_start(self) -> None:
        await self.app.tuning.publisher.start(idempotent=self.app.tuning.idempotent)

    async def on_stop(self) -> None:
        await self.app.tuning.publisher.stop()

    async def flush(self) -> None:
        """Nothing is ever left unsent behind an acked record: outputs are confirmed first."""


class TunedTransport(Transport):  # type: ignore[misc]
    Consumer = TunedConsumer
    Producer = TunedProducer


class TunedFaust(faust.App):  # type: ignore[misc]
    """A Faust app on our transport, that leaves no files behind."""

    def __init__(self, tuning: Tuning, **options: Any) -> None:
        self.tuning = tuning
        super().__init__(tuning.group, **options)

    def _new_transport(self) -> TunedTransport:
        return TunedTransport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> TunedTransport:
        return TunedTransport(self.conf.broker_producer, self)

    def _create_directories(self) -> None:
        """No tables, no directories."""


def _partitions(tps: Iterable[Any]) -> frozenset[Partition]:
    return frozenset((tp.topic, tp.partition) for tp in tps)
