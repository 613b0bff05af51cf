"""The async client that the commands and the MCP face share: a request out, its reply back.

Each client listens to one partition of the reply topic and asks for its replies there, so that many clients do not each
read everybody's replies.
"""

import asyncio
import contextlib
import json
import random
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError
from pydantic import ValidationError

from groundwire.schemas.headers import CORRELATION, REPLY_PARTITION, REPLY_TOPIC
from groundwire.schemas.reply import SearchReply
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import REQUESTS
from groundwire.streams.runtime.configuration import ConfigurationError
from groundwire.streams.runtime.connection import connection_kwargs
from groundwire.streams.runtime.reachability import BrokerUnreachable, reasons_kept, unreachable
from groundwire.streams.runtime.reseat import reseat
from groundwire.streams.runtime.topics_admin import cluster_facts

_CORRELATION = CORRELATION["groundwire"]

# What a client grants beyond the request's own timeout: a rebalance may stand between it and its reply.
GRACE_S = 20.0


class ClientError(Exception):
    """The request could not be sent, or no reply came. The message says what to do."""


class NoReply(ClientError):  # noqa: N818 - it is what happened, as in the message
    """No reply within the request's time and a rebalance."""


class GroundwireClient:
    """Asks over the request and reply topics. Use as `async with GroundwireClient(settings) as client`.

    `settings.brokers` must be given.

    Raises ClientError when the broker can't be reached or the topics are missing.
    """

    def __init__(self, settings: Settings) -> None:
        try:
            self._connection = connection_kwargs(settings)
        except ConfigurationError as error:
            raise ClientError(str(error)) from None
        self._settings = settings
        self._brokers = settings.brokers
        self._reply_topic = settings.reply.default_topic
        self._producer: AIOKafkaProducer | None = None
        self._consumer: AIOKafkaConsumer | None = None
        self._reader: asyncio.Task[None] | None = None
        self._partition = 0
        self._waiting: dict[bytes, asyncio.Future[SearchReply]] = {}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Connect and find the end of the reply partition, so that no reply sent from now on is missed."""
        self._producer = AIOKafkaProducer(**self._connection, linger_ms=1, acks="all")
        # A broker that was replaced by an empty one makes our position invalid: begin at its start, ids sort out the rest.
        self._consumer = AIOKafkaConsumer(
            **self._connection, auto_offset_reset="earliest", enable_auto_commit=False, fetch_max_wait_ms=20
        )
        try:
            with reasons_kept() as reasons:
                try:
                    await self._producer.start()
                    await self._consumer.start()
                except KafkaConnectionError:
                    raise unreachable(self._settings, reasons) from None
            self._partition = random.randrange(await self._reply_partitions())
            assigned = TopicPartition(self._reply_topic, self._partition)
            self._consumer.assign([assigned])
            await self._consumer.seek_to_end(assigned)
            await self._consumer.position(assigned)
        except BrokerUnreachable as error:
            await self.stop()
            raise ClientError(str(error)) from None
        except KafkaError as error:
            await self.stop()
            raise ClientError(f"the broker at {self._brokers} refuses us: {type(error).__name__}: {error}") from None
        except ClientError:
            await self.stop()
            raise
        self._reader = asyncio.create_task(self._read(self._consumer), name="groundwire-client-replies")

    async def stop(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
            self._reader = None
        # Both are begun, whatever becomes of the other: one that never heard of its end complains when it is collected.
        parts = [part for part in (self._consumer, self._producer) if part is not None]
        await asyncio.gather(*(part.stop() for part in parts), return_exceptions=True)
        self._consumer = self._producer = None
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ClientError("the client was stopped before the reply came"))
        self._waiting.clear()

    async def search(self, request: Mapping[str, Any], *, grace_s: float = GRACE_S) -> SearchReply:
        """Publish a request (the contract's fields) and wait for its reply.

        Raises NoReply after the request's `timeout_s` and `grace_s`, ClientError when it can't be sent.
        """
        if self._producer is None:
            raise ClientError("the client is not started")
        body = dict(request)
        body.setdefault("request_id", str(uuid.uuid4()))
        correlation = uuid.uuid4().hex.encode()
        future: asyncio.Future[SearchReply] = asyncio.get_running_loop().create_future()
        self._waiting[correlation] = future
        try:
            await self._producer.send_and_wait(
                REQUESTS.name, value=_encode(body), key=None, headers=self._headers(correlation)
            )
            timeout_s = body.get("timeout_s", 15.0)
            patience_s = (timeout_s if isinstance(timeout_s, int | float) else 15.0) + grace_s
            async with asyncio.timeout(patience_s):
                return await future
        except TimeoutError:
            raise NoReply(
                f"no reply within {patience_s:.0f} s: are the workers running? `groundwire doctor` looks at each part"
            ) from None
        except KafkaError as error:
            raise ClientError(f"the request could not be sent: {type(error).__name__}: {error}") from None
        finally:
            self._waiting.pop(correlation, None)

    def _headers(self, correlation: bytes) -> list[tuple[str, bytes]]:
        return [
            (_CORRELATION, correlation),
            (REPLY_TOPIC["groundwire"], self._reply_topic.encode()),
            (REPLY_PARTITION["groundwire"], str(self._partition).encode()),
        ]

    async def _reply_partitions(self) -> int:
        partitions = (await cluster_facts(self._settings)).partitions.get(self._reply_topic)
        if not partitions:
            raise ClientError(
                f"topic {self._reply_topic} does not exist on {self._brokers}: "
                "start `groundwire up`, or make the topics with `groundwire topics create`"
            )
        return partitions

    async def _read(self, consumer: AIOKafkaConsumer) -> None:
        while True:
            try:
                batches = await consumer.getmany(timeout_ms=1000)
            except KafkaError:
                await asyncio.sleep(0.5)  # the broker is away; aiokafka reconnects by itself
                continue
            for records in batches.values():
                for record in records:
                    self._deliver(record.headers, record.value)
            if not batches:
                await reseat(consumer)

    def _deliver(self, headers: list[tuple[str, bytes]], value: bytes | None) -> None:
        correlation = next((content for name, content in headers if name == _CORRELATION), None)
        future = self._waiting.get(correlation) if correlation is not None else None
        if future is None or future.done() or value is None:
            return
        try:
            future.set_result(SearchReply.model_validate_json(value))
        except ValidationError as error:
            future.set_exception(
                ClientError(f"a reply of a form this client does not know: {error.error_count()} faults")
            )


def _encode(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
