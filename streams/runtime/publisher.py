"""Publishing that returns when the broker has confirmed, whatever happens in between short of the end of the process.

A send that timed out is unknown, not failed: it is sent again until the broker says yes. At-least-once is the price, and
readers know it: ids are deterministic and sinks idempotent.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import (
    InvalidTopicError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerClosed,
    RecordListTooLargeError,
    TopicAuthorizationFailedError,
)
from aiokafka.partitioner import murmur2

from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import TOPICS
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.failpoints import failpoint

log = structlog.get_logger(__name__)

# Above the largest record of the table of topics (8 MiB), with room for its headers and framing.
MAX_REQUEST_BYTES = 9 * 1024 * 1024
MAX_BATCH_BYTES = 256 * 1024
REQUEST_TIMEOUT_MS = 15_000
RETRY_BACKOFF_MS = 50
NEW_PRODUCER_BACKOFF_S = 0.5
METADATA_POLL_S = 0.2
# A topic that was just made may not be in the first answer.
ABSENT_AFTER_DENIALS = 2
ABSENT_FOR_S = 10.0
MAX_REMEMBERED = 1_000
COUNTS_FOR_S = 30.0

# Nothing becomes right by trying again.
REFUSALS = (MessageSizeTooLargeError, RecordListTooLargeError, TopicAuthorizationFailedError, InvalidTopicError)


class PublishRefused(Exception):  # noqa: N818 - it is what happened, as in the message
    """The broker will never take this record: it is too large, or we may not write there."""

    def __init__(self, record: OutboundRecord, reason: str) -> None:
        super().__init__(f"a record of {len(record.value):,} bytes for {record.topic} was refused: {reason}")
        self.record = record
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A record and the place the broker gave it. `offset` is -1 when the broker had it already and does not say where."""

    record: OutboundRecord
    topic: str
    partition: int
    offset: int


class Publisher:
    """One producer with acks=all, idempotent where the broker can, replaced by a new one when the broker no longer knows it.

    Records of one `publish` share one wait, and records of many share the batches that form while a request is under way:
    lingering would only add to the latency.
    """

    def __init__(self, settings: Settings, client_id: str) -> None:
        self._settings = settings
        self._client_id = client_id
        self._producer: AIOKafkaProducer | None = None
        self._replacing: asyncio.Task[None] | None = None
        self._closing = False
        self._idempotent = True
        self._own_topics = frozenset(spec.name for spec in TOPICS)
        self._counts: dict[str, int] = {}
        self._counted_at = 0.0
        self._absent: dict[str, float] = {}

    async def start(self, *, idempotent: bool = True) -> None:
        """Connect. The embedded broker hands out no producer ids: `idempotent` False. Raises KafkaError when nobody answers."""
        self._idempotent = idempotent
        self._producer = await self._connect()

    async def stop(self) -> None:
        """Send what is waiting, then close."""
        self._closing = True
        if self._replacing is not None:
            self._replacing.cancel()
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def publish(self, records: Sequence[OutboundRecord]) -> list[Confirmed]:
        """Returns when the broker has confirmed every record, with their places in no particular order.

        A reply partition that does not exist is ignored, and the record placed by its key. A topic that does not exist is
        replaced by the default reply topic, when it was a caller who named it.

        Raises PublishRefused for a record that can never be taken; ProducerClosed after `stop`.
        """
        for record in records:
            failpoint(f"before-publish:{record.topic}")
        left: Sequence[OutboundRecord] = records
        confirmed: list[Confirmed] = []
        while left:
            producer = self._producer
            if producer is None:
                raise ProducerClosed
            left = await self._send(producer, left, confirmed)
        for record in records:
            failpoint(f"after-publish:{record.topic}")
        return confirmed

    async def partitions(self, topic: str) -> int | None:
        """How many partitions a topic has; None when there is no such topic."""
        producer = self._producer
        if producer is None:
            raise ProducerClosed
        return await self._count(producer, topic) or None

    async def _count(self, producer: AIOKafkaProducer, topic: str) -> int:
        """How many partitions a topic has, 0 when there is no such topic. Remembered: aiokafka makes a set for each answer."""
        count = len(await self._known_partitions(producer, topic))
        if count:
            self._counts[topic] = count
        return count

    def _forget_old_counts(self) -> None:
        if time.monotonic() - self._counted_at > COUNTS_FOR_S or len(self._counts) >= MAX_REMEMBERED:
            self._counts.clear()
            self._counted_at = time.monotonic()

    async def _send(
        self, producer: AIOKafkaProducer, records: Sequence[OutboundRecord], confirmed: list[Confirmed]
    ) -> list[OutboundRecord]:
        """Send and wait; adds what was `confirmed` and gives back what has to be sent again."""
        sent: list[tuple[OutboundRecord, asyncio.Future[Any]]] = []
        again: list[OutboundRecord] = []
        refused: PublishRefused | None = None
        replace = False
        self._forget_old_counts()
        for record in records:
            try:
                sent.append((record, await self._hand_over(producer, record)))
            except REFUSALS as error:
                refused = PublishRefused(record, str(error) or type(error).__name__)
            except AssertionError:  # aiokafka's word for a partition that is no longer there
                self._counts.clear()
                again.append(record)
            except KafkaError as error:
                again.append(record)
                replace = replace or _is_forgotten(error)
        for record, future in sent:
            try:
                place = await future
                confirmed.append(Confirmed(record, place.topic, place.partition, place.offset))
            except REFUSALS as error:
                refused = PublishRefused(record, str(error) or type(error).__name__)
            except KafkaError as error:
                again.append(record)
                replace = replace or _is_forgotten(error)
        if refused is not None:
            raise refused
        if again:
            await (self._replace(producer) if replace else asyncio.sleep(RETRY_BACKOFF_MS / 1000))
        return again

    async def _hand_over(self, producer: AIOKafkaProducer, record: OutboundRecord) -> "asyncio.Future[Any]":
        count = self._counts.get(record.topic) or await self._count(producer, record.topic)
        target = record.topic if count else self._settings.reply.default_topic
        if not count:
            log.warning("there is no such topic: sent to the default reply topic", topic=record.topic)
        partition = record.partition
        if partition is None or not 0 <= partition < count:
            partition = _placed_by(record.key, count) if record.key is not None and count else None
        sending: asyncio.Future[Any] = await producer.send(
            target, record.value, key=record.key, partition=partition, headers=list(record.headers)
        )
        return sending

    async def _known_partitions(self, producer: AIOKafkaProducer, topic: str) -> set[int]:
        """The partitions of a topic; empty when the broker says, twice, that there is no such topic.

        Our own topics are there by contract (a broker that has just been replaced makes them again): they are waited for.
        Others are looked for in the list of all topics: asked by name, a broker may make the topic that was asked for.
        """
        client = producer.client
        known: set[int] | None = client.cluster.partitions_for_topic(topic)
        if known:
            return known
        if self._absent.get(topic, 0.0) > time.monotonic():
            return set()
        denials = 0
        while self._producer is producer:
            if topic in self._own_topics:
                found: set[int] | None = await self._refreshed(client, topic)
            else:
                found = await self._listed(client, topic)
                denials += int(found is not None)
            if found:
                return found
            if denials >= ABSENT_AFTER_DENIALS:
                self._remember_absent(topic)
                return set()
            await asyncio.sleep(METADATA_POLL_S)
        return set()

    async def _refreshed(self, client: Any, topic: str) -> set[int] | None:
        client.add_topic(topic)
        await client.force_metadata_update()
        found: set[int] | None = client.cluster.partitions_for_topic(topic)
        return found

    async def _listed(self, client: Any, topic: str) -> set[int] | None:
        """None: the broker did not answer."""
        try:
            listed = (await client.fetch_all_metadata()).partitions_for_topic(topic)
        except KafkaError:
            return None
        return await self._refreshed(client, topic) if listed else set()

    def _remember_absent(self, topic: str) -> None:
        if len(self._absent) >= MAX_REMEMBERED:
            self._absent.clear()
        self._absent[topic] = time.monotonic() + ABSENT_FOR_S

    async def _connect(self) -> AIOKafkaProducer:
        compression = self._settings.kafka.compression
        producer = AIOKafkaProducer(
            **connection_kwargs(self._settings),
            client_id=self._client_id,
            acks="all",
            enable_idempotence=self._idempotent,
            compression_type=None if compression == "none" else compression,
            linger_ms=0,
            max_batch_size=MAX_BATCH_BYTES,
            max_request_size=MAX_REQUEST_BYTES,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            retry_backoff_ms=RETRY_BACKOFF_MS,
        )
        try:
            await producer.start()
            await producer.client.set_topics(sorted(self._own_topics))
        except BaseException:
            await producer.stop()
            raise
        return producer

    async def _replace(self, broken: AIOKafkaProducer) -> None:
        """A new producer in the place of one the broker no longer takes anything from; one replacement for all who wait."""
        if self._producer is not broken or self._closing:
            return
        if self._replacing is None or self._replacing.done():
            self._replacing = asyncio.create_task(self._do_replace(broken))
        await asyncio.shield(self._replacing)

    async def _do_replace(self, broken: AIOKafkaProducer) -> None:
        log.warning("the broker no longer knows this producer: a new one takes over")
        while True:
            try:
                self._producer = await self._connect()
                break
            except (KafkaError, OSError):
                await asyncio.sleep(NEW_PRODUCER_BACKOFF_S)
        await broken.stop()
        await asyncio.sleep(
            NEW_PRODUCER_BACKOFF_S
        )  # whatever the broker has against us, it is not asked in a tight loop


def _is_forgotten(error: KafkaError) -> bool:
    """Whether no later record of this producer would be taken either: the broker has lost its id or its sequence, or was
    replaced by an empty one. aiokafka calls a timeout not retriable too, and that one only says that nobody knows."""
    return not error.retriable and not isinstance(error, KafkaTimeoutError)


def _placed_by(key: bytes, partitions: int) -> int:
    """As every Kafka client places a key, so that equal keys of other producers meet ours."""
    return int((murmur2(key) & 0x7FFFFFFF) % partitions)
