"""Producers and consumers of the outside topics, on aiokafka alone."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

REQUESTS = "search.requests.v1"
REPLIES = "search.replies.v1"
DEAD_LETTERS = "search.dead-letters.v1"
# One question is for one vendor, so that a bill can be compared call by call.
ONE_VENDOR = ["serper"]


@dataclass(frozen=True)
class Read:
    """One record as it was read."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes]
    timestamp_ms: int

    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.value or b"null")
        return document


class TopicLog:
    """Reads one topic from its beginning, again and again, without a group."""

    def __init__(self, brokers: str, topic: str) -> None:
        self._topic = topic
        self._consumer = AIOKafkaConsumer(bootstrap_servers=brokers, auto_offset_reset="earliest")
        self._partitions: list[TopicPartition] = []

    async def start(self, *, at_end: bool = False) -> "TopicLog":
        await self._consumer.start()
        found = await self._consumer._client._wait_on_metadata(self._topic)
        self._partitions = [TopicPartition(self._topic, number) for number in sorted(found)]
        self._consumer.assign(self._partitions)
        if at_end:
            await self._consumer.seek_to_end(*self._partitions)
            for partition in self._partitions:  # the end is looked up when first asked for: ask now
                await self._consumer.position(partition)
        else:
            await self._consumer.seek_to_beginning(*self._partitions)
        return self

    async def poll(self, timeout_s: float = 0.5) -> list[Read]:
        """What has come since the last poll; waits at most so long for the first of it."""
        try:
            found = await self._consumer.getmany(timeout_ms=int(timeout_s * 1000), max_records=5_000)
        except KafkaError:  # a broker that is down: what it holds comes later
            await asyncio.sleep(timeout_s)
            return []
        return [
            Read(r.partition, r.offset, r.key, r.value, dict(r.headers), r.timestamp)
            for records in found.values()
            for r in records
        ]

    async def stop(self) -> None:
        await self._consumer.stop()


class Asker:
    """Sends requests and finds their replies by request id."""

    def __init__(self, brokers: str) -> None:
        self._producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all", linger_ms=2)
        self._replies = TopicLog(brokers, REPLIES)
        self._found: dict[str, list[dict[str, Any]]] = {}

    async def start(self) -> "Asker":
        await self._producer.start()
        await self._replies.start(at_end=True)
        return self

    async def stop(self) -> None:
        await self._producer.stop()
        await self._replies.stop()

    async def send(self, query: str, *, partition: int | None = None, **fields: Any) -> str:
        """Publish a request and wait for its confirmation; gives back its id."""
        request = {"query": query, "request_id": uuid.uuid4().hex, "providers": ONE_VENDOR} | fields
        await self.send_raw(json.dumps(request).encode(), partition=partition)
        return str(request["request_id"])

    async def send_raw(
        self,
        value: bytes | None,
        *,
        key: bytes | None = None,
        headers: list[tuple[str, bytes]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        await self._producer.send_and_wait(
            REQUESTS, value, key=key, headers=headers, partition=partition, timestamp_ms=timestamp_ms
        )

    async def put(self, topic: str, value: bytes | None, *, partition: int) -> int:
        """Publish something to a topic that is not ours to write; gives back its offset."""
        return int((await self._producer.send_and_wait(topic, value, key=b"put", partition=partition)).offset)

    async def send_many(self, requests: list[dict[str, Any]]) -> None:
        """Publish all of them as fast as it goes, then wait for every confirmation."""
        waiting = [await self._producer.send(REQUESTS, json.dumps(request).encode()) for request in requests]
        await asyncio.gather(*waiting)

    async def replies_to(self, *request_ids: str, timeout_s: float = 30.0) -> list[dict[str, Any]]:
        """The first reply to each. Raises TimeoutError that names how many are missing."""
        end = time.monotonic() + timeout_s
        while missing := [name for name in request_ids if name not in self._found]:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(missing)} of {len(request_ids)} requests have no reply: {missing[:3]} …")
            await self._read()
        return [self._found[name][0] for name in request_ids]

    async def all_replies_to(self, request_id: str, *, settle_s: float = 2.0) -> list[dict[str, Any]]:
        """Every reply that comes within a while."""
        end = time.monotonic() + settle_s
        while time.monotonic() < end:
            await self._read()
        return self._found.get(request_id, [])

    async def ask(self, query: str, *, timeout_s: float = 30.0, **fields: Any) -> dict[str, Any]:
        return (await self.replies_to(await self.send(query, **fields), timeout_s=timeout_s))[0]

    async def _read(self) -> None:
        for record in await self._replies.poll(0.2):
            reply = record.json()
            self._found.setdefault(reply["request_id"], []).append(reply)


@asynccontextmanager
async def asking(brokers: str) -> AsyncIterator[Asker]:
    asker = await Asker(brokers).start()
    try:
        yield asker
    finally:
        await asker.stop()
