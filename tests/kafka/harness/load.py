"""A steady load: so many requests a second, some of them repeats, and a note of every one that the broker took."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from .records import ONE_VENDOR, REQUESTS

SUBJECTS = ("rivers", "bridges", "festivals", "minerals", "lighthouses", "orchards", "railways", "glaciers")
# Earlier questions that may be asked again.
REMEMBERED = 3_000


@dataclass
class Sent:
    """One request the broker confirmed. `deliveries` counts how often the very same record was sent."""

    request: dict[str, Any]
    first_sent_ms: int
    deliveries: int = 1


@dataclass
class SteadyLoad:
    """`rate` requests a second; `again` of them ask an earlier question under a new id, `redelivered` are an earlier record
    sent once more."""

    brokers: str
    rate: float
    again: float = 0.2
    redelivered: float = 0.1
    timeout_s: float = 60.0
    providers: list[str] = field(default_factory=lambda: list(ONE_VENDOR))
    seed: int = 7
    name: str = "load"
    accepted: dict[str, Sent] = field(default_factory=dict)
    unconfirmed: set[str] = field(default_factory=set)
    _earlier: list[str] = field(default_factory=list)

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; returns when every send is confirmed or given up."""
        chance = random.Random(self.seed)
        producer = AIOKafkaProducer(
            bootstrap_servers=self.brokers,
            acks="all",
            enable_idempotence=True,
            linger_ms=5,
            request_timeout_ms=120_000,
            retry_backoff_ms=100,
        )
        await producer.start()
        waiting: set[asyncio.Task[None]] = set()
        number, due = 0, time.monotonic()
        try:
            while not stop.is_set():
                number += 1
                task = asyncio.create_task(self._deliver(producer, self._next(chance, number)))
                waiting.add(task)
                task.add_done_callback(waiting.discard)
                due += 1 / self.rate
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            if waiting:
                await asyncio.wait(waiting, timeout=130)
        finally:
            await producer.stop()

    def _next(self, chance: random.Random, number: int) -> dict[str, Any]:
        if number % 50 == 0:
            self._earlier = list(self.accepted)[-REMEMBERED:]
        earlier, dice = self._earlier, chance.random()
        if earlier and dice < self.redelivered:
            return self.accepted[chance.choice(earlier)].request
        if earlier and dice < self.redelivered + self.again:
            query = self.accepted[chance.choice(earlier)].request["query"]
        else:
            query = f"which {chance.choice(SUBJECTS)} are described in {self.name} chapter {number}"
        return {
            "query": query,
            "request_id": f"{self.name}-{number}",
            "providers": self.providers,
            "timeout_s": self.timeout_s,
            "freshness": "static",
        }

    async def _deliver(self, producer: AIOKafkaProducer, request: dict[str, Any]) -> None:
        name = request["request_id"]
        sent_ms = time.time_ns() // 1_000_000
        self.unconfirmed.add(name)
        try:
            await producer.send_and_wait(REQUESTS, json.dumps(request).encode())
        except KafkaError:
            return  # it may be there or not: nobody was told that it was accepted
        self.unconfirmed.discard(name)
        known = self.accepted.get(name)
        if known is None:
            self.accepted[name] = Sent(request, sent_ms)
        else:
            known.deliveries += 1
