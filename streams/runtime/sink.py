"""The loop of a role that lands records in a store: collect a batch, make it durable, only then commit.

A crash between durable and committed writes the batch again, so the store has to take a record twice without harm: files are
named by their offsets and read once, cache entries are upserts.

Two ways to read. As a member of a group, where the group's committed offset says where to go on. Or all partitions, where the
store itself knows (`positions`): its own data and its own place in the log can't disagree. There the group's commits are for
monitoring, and to tell the log from an earlier one: the embedded broker starts empty, and a place in its last log means
nothing in this one.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import DEAD_LETTERS, TopicSpec
from groundwire.streams.runtime.connection import connection_kwargs, is_member, membership_kwargs
from groundwire.streams.runtime.failpoints import failpoint
from groundwire.streams.runtime.inbound import inbound
from groundwire.streams.runtime.liveness import Sight, watch
from groundwire.streams.runtime.log_ends import log_ends
from groundwire.streams.runtime.publisher import MAX_REQUEST_BYTES, Publisher
from groundwire.streams.runtime.topics_admin import cluster_facts

log = structlog.get_logger(__name__)

Refusal = tuple[InboundRecord, RecordError]
WriteBatch = Callable[[Sequence[InboundRecord]], Awaitable[Iterable[Refusal]]]
Chore = tuple[float, Callable[[], Awaitable[None]]]

GROUP_PREFIX = "groundwire."
# The embedded broker waits half of it when a fetch finds nothing; a sink is not in any request's way.
FETCH_MAX_WAIT_MS_EMBEDDED = 50
FETCH_MAX_WAIT_MS = 500
POLL_MS = 200
SIGHT_TIMEOUT_S = 5.0
MAX_BATCH_BYTES = 32 * 1024 * 1024
FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 10.0
SAY_EVERY_S = 30.0
# A batch that fails for no reason of the disk's is tried record by record after so many times.
ATTEMPTS_BEFORE_ISOLATING = 3


class BatchSink:
    """Reads one topic into a store, batch by batch. Is a Role."""

    def __init__(
        self,
        role: str,
        settings: Settings,
        topic: TopicSpec,
        write: WriteBatch,
        *,
        linger_s: float,
        max_rows: int,
        positions: Callable[[], Mapping[int, int]] | None = None,
        group_suffix: str = "",
        chores: Sequence[Chore] = (),
    ) -> None:
        """`write` makes a batch durable and gives back the records it refuses; it raises OSError when the disk won't.

        `positions`: next offset by partition, asked once at the start; then every partition is read, whoever else reads
        them. `chores` run between batches, each every so many seconds.
        """
        self.role = role
        self.group = GROUP_PREFIX + role + group_suffix
        self._settings = settings
        self._topic = topic
        self._write = write
        self._linger_s = linger_s
        self._max_rows = max_rows
        self._positions = positions
        self._chores = [_Timer(interval_s, chore) for interval_s, chore in chores]
        self._publisher = Publisher(settings, client_id=self.group)
        self._batch: list[InboundRecord] = []
        self._batch_bytes = 0
        self._batch_since = 0.0
        self._writing = asyncio.Lock()
        self._said = 0.0
        self.ready = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Read and write until `stop` is set; what was collected is written first. Raises BrokerUnreachable."""
        facts = await cluster_facts(self._settings)
        consumer = self._consumer(embedded=facts.embedded)
        await self._publisher.start(idempotent=not facts.embedded)
        watching: asyncio.Task[None] | None = None
        try:
            await consumer.start()
            await self._begin(consumer)
            watching = asyncio.create_task(watch(partial(self._sight, consumer), self._settings.kafka.idle_with_lag_s))
            while not stop.is_set():
                if watching.done():
                    watching.result()
                await self._collect(consumer)
                if self._is_due():
                    await self._flush(consumer, stop)
                for timer in self._chores:
                    await timer.run_if_due(self._say)
            await self._flush(consumer, stop)
        finally:
            if watching is not None:
                watching.cancel()
            await consumer.stop()
            await self._publisher.stop()
        log.info("stopped", role=self.role)

    def _consumer(self, *, embedded: bool) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **connection_kwargs(self._settings),
            **membership_kwargs(self._settings, embedded=embedded),
            client_id=self.group,
            group_id=self.group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=FETCH_MAX_WAIT_MS_EMBEDDED if embedded else FETCH_MAX_WAIT_MS,
            max_partition_fetch_bytes=MAX_REQUEST_BYTES,
        )

    async def _begin(self, consumer: AIOKafkaConsumer) -> None:
        if self._positions is None:
            consumer.subscribe([self._topic.name], listener=_Rebalance(self))
            return
        found = await consumer._client._wait_on_metadata(self._topic.name)
        partitions = [TopicPartition(self._topic.name, number) for number in sorted(found)]
        consumer.assign(partitions)
        first = await consumer.beginning_offsets(partitions)
        end = await log_ends(self._settings, partitions)
        positions = self._positions()
        for partition in partitions:
            known_log = await consumer.committed(partition) is not None
            position = positions.get(partition.partition)
            trusted = known_log and position is not None and first[partition] <= position <= end[partition]
            consumer.seek(partition, position if trusted else first[partition])
        self._say_ready(len(partitions))

    def _say_ready(self, partitions: int) -> None:
        if not self.ready.is_set():
            self.ready.set()
            log.info("ready", role=self.role, partitions=partitions)

    async def _sight(self, consumer: AIOKafkaConsumer) -> Sight | None:
        """None also while a batch waits for the disk: then reading on would be wrong."""
        if self._writing.locked():
            return None
        try:
            async with asyncio.timeout(SIGHT_TIMEOUT_S):
                partitions = list(consumer.assignment())
                ends = await consumer.end_offsets(partitions)
                positions = [await consumer.position(partition) for partition in partitions]
        except (KafkaError, TimeoutError):
            return None
        lag = sum(max(0, ends[partition] - at) for partition, at in zip(partitions, positions, strict=True))
        return Sight(lag=lag, progress=sum(positions))

    async def _collect(self, consumer: AIOKafkaConsumer) -> None:
        wait_ms = POLL_MS
        if self._batch:
            wait_ms = min(POLL_MS, max(0, int((self._batch_since + self._linger_s - time.monotonic()) * 1000)))
        found = await consumer.getmany(timeout_ms=wait_ms, max_records=self._max_rows - len(self._batch))
        for records in found.values():
            if not self._batch:
                self._batch_since = time.monotonic()
            self._batch.extend(map(inbound, records))
            self._batch_bytes += sum(len(record.value or b"") for record in records)

    def _is_due(self) -> bool:
        return bool(self._batch) and (
            len(self._batch) >= self._max_rows
            or self._batch_bytes >= MAX_BATCH_BYTES
            or time.monotonic() - self._batch_since >= self._linger_s
        )

    async def _flush(self, consumer: AIOKafkaConsumer, stop: asyncio.Event) -> None:
        async with self._writing:
            batch, self._batch, self._batch_bytes = self._batch, [], 0
            if not batch:
                return
            refused = await self._write_until_durable(batch, stop)
            if refused is None:
                return  # told to stop before it would go in: not committed, so read again
            failpoint(f"after-batch:{self.role}")
            if refused:
                await self._publisher.publish([self._dead_letter(record, error) for record, error in refused])
            await self._commit(consumer, batch)

    async def _write_until_durable(self, batch: Sequence[InboundRecord], stop: asyncio.Event) -> list[Refusal] | None:
        backoff_s = FIRST_BACKOFF_S
        attempts = 0
        while True:
            try:
                return list(await self._write(batch))
            except OSError as error:
                self._say("the store can't be written; trying again until it can", error)
            except Exception as error:
                attempts += 1
                self._say("the store refuses a batch", error)
                if attempts >= ATTEMPTS_BEFORE_ISOLATING:
                    return await self._write_one_by_one(batch)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), backoff_s)
            if stop.is_set():
                return None
            backoff_s = min(backoff_s * 2, LONGEST_BACKOFF_S)

    async def _write_one_by_one(self, batch: Sequence[InboundRecord]) -> list[Refusal]:
        """Some record breaks the batch: the others go in, that one becomes a dead letter."""
        refused: list[Refusal] = []
        for record in batch:
            try:
                refused.extend(await self._write([record]))
            except Exception as error:
                refused.append((record, RecordError("crash", f"{type(error).__name__}: {error}"[:2_000])))
        return refused

    async def _commit(self, consumer: AIOKafkaConsumer, batch: Sequence[InboundRecord]) -> None:
        if self._positions is None and not is_member(consumer):
            return
        last = {TopicPartition(record.topic, record.partition): record.offset + 1 for record in batch}
        try:
            await consumer.commit(last)
        except KafkaError as error:  # the group has changed meanwhile: whoever has the partition writes it again
            log.info("offsets were not committed this time", role=self.role, error=str(error))

    def _dead_letter(self, record: InboundRecord, error: RecordError) -> OutboundRecord:
        letter = DeadLetter.of(
            record,
            stage=self.role,
            reason=error.kind,
            message=error.message,
            field=error.field,
            now_ms=time.time_ns() // 1_000_000,
        )
        return OutboundRecord(DEAD_LETTERS.name, key=letter.dead_letter_id.encode(), value=letter.encode())

    def _say(self, message: str, error: Exception) -> None:
        now = time.monotonic()
        if now - self._said >= SAY_EVERY_S:
            self._said = now
            log.error(message, role=self.role, error=f"{type(error).__name__}: {error}")

    async def _forget(self) -> None:
        """Partitions are taken away: a batch that is being written is finished, one that is only collected is dropped."""
        async with self._writing:
            self._batch, self._batch_bytes = [], 0


class _Rebalance(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, sink: BatchSink) -> None:
        self._sink = sink

    async def on_partitions_revoked(self, _revoked: Sequence[TopicPartition]) -> None:
        await self._sink._forget()

    async def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        self._sink._say_ready(len(assigned))


class _Timer:
    """A chore that is due every so many seconds."""

    def __init__(self, interval_s: float, chore: Callable[[], Awaitable[None]]) -> None:
        self._interval_s = interval_s
        self._chore = chore
        self._due = time.monotonic() + interval_s

    async def run_if_due(self, say: Callable[[str, Exception], None]) -> None:
        if time.monotonic() < self._due:
            return
        try:
            await self._chore()
        except Exception as error:
            say("a chore of the store failed; it is tried again when it is next due", error)
        self._due = time.monotonic() + self._interval_s
