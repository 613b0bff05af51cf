"""Faust's transport, tuned: one aiokafka consumer in the worker's own loop, and a commit that sends our own positions.

Faust lets an app bring its own transport, and a transport its own consumer and producer. Ours differ in four things:

- the aiokafka clients are made with our arguments, some of which Faust hard-codes (`fetch_max_wait_ms`);
- the consumer lives in the worker's loop, not in a thread of its own: every fetch saves two changes of thread, which is most
  of what a hop costs. Handlers don't block the loop, so heartbeats are not late for it;
- what is committed comes from `ContiguousAcks`, not from what Faust counted;
- before partitions are given up, the records in work get a little time to finish, so that a rebalance repeats as little as
  possible.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiokafka
import faust
import structlog
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import ConsumerStoppedError, IllegalStateError, KafkaError
from aiokafka.structs import OffsetAndMetadata, TopicPartition
from faust.events import Event
from faust.sensors import Monitor
from faust.transport.consumer import Consumer
from faust.transport.drivers.aiokafka import Producer, Transport
from faust.types import TP, ConsumerMessage

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.acks import ContiguousAcks, Partition
from groundwire.streams.runtime.connection import connection_kwargs, is_member, membership_kwargs
from groundwire.streams.runtime.failpoints import failpoint
from groundwire.streams.runtime.liveness import Sight
from groundwire.streams.runtime.publisher import Publisher

log = structlog.get_logger(__name__)

COMMIT_TIMEOUT_S = 3.0
SIGHT_TIMEOUT_S = 5.0
# A partition's share of one fetch. A single record may be larger: the broker hands it out all the same.
PARTITION_FETCH_BYTES = 1024 * 1024
FETCH_BYTES = 8 * 1024 * 1024
RETRY_BACKOFF_MS = 50
IDLE_AFTER_S = 2.0
GETMANY_TIMEOUT_S = 0.5

# Faust logs under the name of the module that a service's class is from; this one is ours.
FAUST_LOGGER = logging.getLogger("faust.tuned")

Listener = Callable[[frozenset[Partition]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the transport needs to know of its app."""

    settings: Settings
    group: str
    fetch_wait_ms: int
    idle_fetch_wait_ms: int
    embedded: bool
    acks: ContiguousAcks
    publisher: Publisher
    drain: Callable[[], Awaitable[None]]
    on_assigned: Listener
    on_revoked: Listener


class LoopConsumer(Consumer):  # type: ignore[misc]
    """Faust's consumer on an aiokafka consumer in the same loop."""

    logger = FAUST_LOGGER
    consumer_stopped_errors = (ConsumerStoppedError,)
    _begun = False  # Faust stops a consumer that it has not started yet, asks for its assignment and lets it commit

    async def on_start(self) -> None:
        tuning: Tuning = self.app.tuning
        self._committing = asyncio.Lock()
        self._commits_fail = False
        self._last_record_at = time.monotonic()
        self._kafka = aiokafka.AIOKafkaConsumer(
            **connection_kwargs(tuning.settings),
            **membership_kwargs(tuning.settings, embedded=tuning.embedded),
            client_id=tuning.group,
            group_id=tuning.group,
            partition_assignment_strategy=[RoundRobinPartitionAssignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=tuning.fetch_wait_ms,
            max_partition_fetch_bytes=PARTITION_FETCH_BYTES,
            fetch_max_bytes=FETCH_BYTES,
            max_poll_records=self.app.conf.broker_max_poll_records,
            retry_backoff_ms=RETRY_BACKOFF_MS,
        )
        self._begun = True
        await self._kafka.start()

    async def on_stop(self) -> None:
        await super().on_stop()
        if self._begun:
            await self._kafka.stop()

    # ── reading

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, ConsumerMessage]]:
        """Records of the active partitions, by turns from each topic and partition."""
        if not self.flow_active:
            await self.wait(self.can_resume_flow)
        active = self._get_active_partitions()
        if not active:
            await self.sleep(0.1)
            return
        generation = self.app.consumer_generation_id
        found = await self._getmany(active, timeout)
        given: Counter[TP] = Counter()
        for tp, record in self.scheduler.iterate(found):
            if not self.flow_active or self.app.consumer_generation_id != generation:
                self._give_back({tp: records[given[tp] :] for tp, records in found.items()})
                return
            given[tp] += 1
            yield tp, self._to_message(tp, record)

    def _give_back(self, left: Mapping[TP, Sequence[Any]]) -> None:
        """What was fetched under another assignment is fetched again.

        The fetch may have begun before a rebalance and been answered after it, from the committed positions that the
        rebalance went back to: then the position has moved past records that nobody has seen, and has to go back.
        """
        for tp, records in left.items():
            partition = TopicPartition(*tp)
            if not records or partition not in self._kafka.assignment():
                continue
            state = self._kafka._subscription.subscription.assignment.state_value(partition)
            # Without a position it is read from the committed one; one further back is on its way here already.
            if state is not None and state.has_valid_position and state.position > records[0].offset:
                self._kafka.seek(partition, records[0].offset)

    async def _getmany(self, active_partitions: set[TP], timeout: float) -> Mapping[TP, list[Any]]:
        wanted = [TopicPartition(*tp) for tp in active_partitions]
        try:
            found = await self._kafka.getmany(*wanted, timeout_ms=int(timeout * 1000))
        except IllegalStateError:  # a rebalance took one of them meanwhile
            return {}
        self._choose_fetch_wait(bool(found))
        return {TP(*partition): records for partition, records in found.items()}

    def _choose_fetch_wait(self, found: bool) -> None:
        """A broker that sleeps through a fetch's wait is asked often while there is work, and seldom when there is none."""
        now = time.monotonic()
        if found:
            self._last_record_at = now
        tuning: Tuning = self.app.tuning
        is_idle = now - self._last_record_at > IDLE_AFTER_S
        self._kafka._fetcher._fetch_max_wait_ms = tuning.idle_fetch_wait_ms if is_idle else tuning.fetch_wait_ms

    async def _drain_messages(self, fetcher: Any) -> None:
        """Faust's loop from fetches to agents, without the two tasks that Faust makes for every record."""
        deliver = self.callback
        try:
            while not (self.should_stop or fetcher.should_stop):
                async for _, message in self.getmany(timeout=GETMANY_TIMEOUT_S):
                    await deliver(message)
        except (ConsumerStoppedError, asyncio.CancelledError):
            if not self.app.should_stop:  # then this is how the loop ends
                raise
        finally:
            fetcher.set_shutdown()

    def _to_message(self, tp: TP, record: Any) -> ConsumerMessage:
        return ConsumerMessage(
            record.topic,
            record.partition,
            record.offset,
            record.timestamp / 1000,
            record.timestamp_type,
            record.headers,
            record.key,
            record.value,
            record.checksum,
            record.serialized_key_size,
            record.serialized_value_size,
            tp,
            generation_id=self.app.consumer_generation_id,
        )

    # ── committing

    async def commit(self, *_topics: Any, **_transaction: Any) -> bool:
        """Send the positions that moved. False when nothing did, or the broker can't take them now."""
        if not self._begun:
            return False
        acks: ContiguousAcks = self.app.tuning.acks
        async with self._committing:
            assignment = self.assignment()
            offsets = {partition: at for partition, at in acks.committable().items() if partition in assignment}
            if not offsets or not is_member(self._kafka):
                return False
            failpoint("before-commit")
            if not await self._commit({TP(*partition): at for partition, at in offsets.items()}):
                return False
            acks.committed(offsets)
            return True

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        try:
            async with asyncio.timeout(COMMIT_TIMEOUT_S):
                await self._kafka.commit({TopicPartition(*tp): OffsetAndMetadata(at, "") for tp, at in offsets.items()})
        except (KafkaError, TimeoutError) as error:
            # The next commit sends them, or those who have the partitions now read the records again.
            if not self._commits_fail:
                log.warning(
                    "offsets can't be committed now; it is tried again", group=self.app.tuning.group, error=repr(error)
                )
            self._commits_fail = True
            return False
        if self._commits_fail:
            log.info("offsets are committed again", group=self.app.tuning.group)
        self._commits_fail = False
        return True

    # ── rebalances

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Let what is in work finish for a while, commit it, and forget the rest: whoever gets it begins it again."""
        tuning: Tuning = self.app.tuning
        self.stop_flow()
        self.app.flow_control.suspend()
        self.app.flow_control.clear()
        await tuning.drain()
        failpoint("in-rebalance")
        await self.commit()
        partitions = frozenset(map(tuple, revoked))
        tuning.acks.revoke(partitions)
        await tuning.on_revoked(partitions)
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        tuning: Tuning = self.app.tuning
        self.app.consumer_generation_id = generation_id
        partitions = frozenset(map(tuple, assigned))
        tuning.acks.assign(partitions)
        await tuning.on_assigned(partitions)
        await super().on_partitions_assigned(assigned, generation_id)

    async def sight(self) -> Sight | None:
        """Lag and progress, for the liveness probe; None when the broker does not answer or partitions are on the move."""
        try:
            async with asyncio.timeout(SIGHT_TIMEOUT_S):
                partitions = list(self._kafka.assignment())
                ends = await self._kafka.end_offsets(partitions)
                positions = [await self._kafka.position(partition) for partition in partitions]
        except (KafkaError, TimeoutError):
            return None
        lag = sum(max(0, ends[partition] - at) for partition, at in zip(partitions, positions, strict=True))
        return Sight(lag=lag, progress=sum(positions))

    async def verify_all_partitions_active(self) -> None:
        """Faust's own check writes a page of advice for every idle partition; ours is liveness.py."""

    # ── what Faust asks of a consumer

    async def subscribe(self, topics: Iterable[str]) -> None:
        self._kafka.subscribe(topics=set(topics), listener=_Rebalance(self))

    def assignment(self) -> set[TP]:
        return {TP(*partition) for partition in self._kafka.assignment()} if self._begun else set()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """A partition that was just assigned is read from its committed offset anyway; one that stayed has to go back to it."""
        found = await self._kafka.seek_to_committed()
        return {TP(*partition): offset for partition, offset in found.items()}

    async def position(self, tp: TP) -> int | None:
        at: int | None = await self._kafka.position(TopicPartition(*tp))
        return at

    async def _seek(self, partition: TP, offset: int) -> None:
        self._kafka.seek(TopicPartition(*partition), offset)

    async def seek_wait(self, partitions: Mapping[TP, int]) -> None:
        for tp, offset in partitions.items():
            await self._seek(tp, offset)

    async def earliest_offsets(self, *partitions: TP) -> Mapping[TP, int]:
        found = await self._kafka.beginning_offsets([TopicPartition(*tp) for tp in partitions])
        return {TP(*partition): offset for partition, offset in found.items()}

    async def highwaters(self, *partitions: TP) -> Mapping[TP, int]:
        found = await self._kafka.end_offsets([TopicPartition(*tp) for tp in partitions])
        return {TP(*partition): offset for partition, offset in found.items()}

    def highwater(self, tp: TP) -> int:
        return int(self._kafka.highwater(TopicPartition(*tp)) or 0)

    def topic_partitions(self, topic: str) -> int | None:
        known = self._kafka.partitions_for_topic(topic)
        return len(known) if known else None

    def key_partition(self, topic: str, key: bytes | None, partition: int | None = None) -> int | None:  # noqa: ARG002
        return partition  # records are placed by the publisher

    async def create_topic(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("topics are made by topics_admin.py, before any worker starts")

    def _new_topicpartition(self, topic: str, partition: int) -> TP:
        return TP(topic, partition)

    def close(self) -> None:
        """Faust calls this when partitions come while the app stops; stopping is what `on_stop` does."""


class _Rebalance(aiokafka.ConsumerRebalanceListener):  # type: ignore[misc]
    """aiokafka's rebalances, told to Faust in its own terms."""

    def __init__(self, consumer: LoopConsumer) -> None:
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._consumer.app.on_rebalance_start()
        await self._consumer.on_partitions_revoked({TP(*partition) for partition in revoked})

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        generation = self._consumer._kafka._coordinator.generation
        await self._consumer.on_partitions_assigned({TP(*partition) for partition in assigned}, generation)


class PublisherService(Producer):  # type: ignore[misc]
    """Faust's producer service, around our publisher: one connection for everything a worker sends."""

    logger = FAUST_LOGGER

    async def on_start(self) -> None:
        tuning: Tuning = self.app.tuning
        await tuning.publisher.start(idempotent=not tuning.embedded)

    async def on_stop(self) -> None:
        await self.app.tuning.publisher.stop()

    async def flush(self) -> None:
        """Nothing is ever left unsent behind a committed record: outputs are confirmed first."""


class TunedTransport(Transport):  # type: ignore[misc]
    Consumer = LoopConsumer
    Producer = PublisherService


class RawSchema(faust.Schema):  # type: ignore[misc]
    """Records as they are: handlers read them, and know what to do with one that can't be read."""

    def compile(self, app: faust.App, **_: Any) -> Callable[..., Awaitable[Event]]:
        async def decode(message: ConsumerMessage, *, propagate: bool = False) -> Event:  # noqa: ARG001 - nothing can fail
            return Event(app, None, message.value, None, message)

        return decode


class QuietMonitor(Monitor):  # type: ignore[misc]
    """Faust keeps statistics of every record, which nobody asks for here."""

    logger = FAUST_LOGGER

    def on_message_in(self, *_: Any) -> None: ...
    def on_message_out(self, *_: Any) -> None: ...
    def on_stream_event_in(self, *_: Any) -> None: ...
    def on_stream_event_out(self, *_: Any) -> None: ...
    def on_topic_buffer_full(self, *_: Any) -> None: ...


class TunedFaust(faust.App):  # type: ignore[misc]
    """A Faust app on our transport, that leaves no files behind."""

    logger = FAUST_LOGGER

    def __init__(self, tuning: Tuning, **options: Any) -> None:
        self.tuning = tuning
        super().__init__(tuning.group, Monitor=QuietMonitor, **options)

    def _new_transport(self) -> TunedTransport:
        return TunedTransport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> TunedTransport:
        return TunedTransport(self.conf.broker_producer, self)

    def _create_directories(self) -> None:
        """No tables, no directories."""
