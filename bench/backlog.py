"""A backlog of 100,000 requests on a real Kafka: how much each role grows by it, and how fast it is worked off.

    make test-kafka            # once: brings Kafka's jars
    .venv/bin/python bench/backlog.py [--requests N] [--brokers HOST:PORT]

One worker of each role, on loopback and in a temporary folder, vendors that answer at once. 2 % of the requests are new
questions, the others ask one of 200 that are in the cache. In one run: memory under a steady load, then the rate of some thousand
requests sent at once, three times (the steady rate: roles that run, nothing left behind), then all roles end, the backlog is
sent, and the roles start and work it off. Each role's highest memory while they do is held against its highest under the steady
load. Exit code 1 when a role grew by more than 200 MiB, a request has no reply or several, or records are left unread.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "kafka"))

from checker import lag_of_groups
from harness.cluster import Cluster, missing
from harness.pipeline import READY_WITHIN_S, ROLES, Pipeline
from harness.records import ONE_VENDOR, REPLIES, REQUESTS, asking

GROWTH_MIB = 200.0
KNOWN = [f"what is the population of town number {number} in the lake district" for number in range(200)]
MISS_SHARE = 0.02
STEADY_PER_S = 100.0
STEADY_S = 20.0
FLOODS = 3
FLOOD = 4_000
LOOK_EVERY_S = 0.2
PATIENCE_S = 400.0
WARM_ROUNDS = 20
SPANS = 10
# The longest a request may ask for. It counts from the record's time, or from when it is read if that is earlier: records of the
# backlog are stamped so far ahead that no deadline passes while they wait, and every one has to be worked on in full.
TIMEOUT_S = 120
AHEAD_MS = 30 * 60 * 1000


@dataclass
class Memory:
    """The highest resident memory of each role since the watch began, MiB."""

    peak_mib: dict[str, float] = field(default_factory=lambda: dict.fromkeys(ROLES, 0.0))

    async def watch(self, pipeline: Pipeline) -> None:
        while True:
            for role, workers in pipeline.workers.items():
                self.peak_mib[role] = max(self.peak_mib[role], sum(worker.rss_mib() for worker in workers))
            await asyncio.sleep(LOOK_EVERY_S)


@contextmanager
def watching(pipeline: Pipeline) -> Iterator[Memory]:
    memory = Memory()
    task = asyncio.create_task(memory.watch(pipeline))
    try:
        yield memory
    finally:
        task.cancel()


@dataclass
class Answers:
    """The replies to one batch of requests. They are read when it is done: reading meanwhile would take CPU from the roles."""

    by_id: Counter[str] = field(default_factory=Counter)
    by_outcome: Counter[str] = field(default_factory=Counter)
    at_ms: list[int] = field(default_factory=list)

    def per_s(self, since_ms: float) -> float:
        """From a moment to the last reply."""
        later = [at for at in self.at_ms if at >= since_ms]
        return len(later) * 1000 / max(1.0, max(later) - since_ms) if later else 0.0


class Mix:
    """Requests with ids of their own. The broker is asked for nothing but ends of logs while they are worked on."""

    def __init__(self, brokers: str) -> None:
        self._brokers = brokers
        self._chance = random.Random(5)
        self._number = 0

    def next(self, prefix: str) -> tuple[str, bytes]:
        self._number += 1
        name = f"{prefix}-{self._number}"
        new = self._chance.random() < MISS_SHARE
        query = f"which lighthouse is described in chapter {self._number}" if new else self._chance.choice(KNOWN)
        body = {
            "query": query,
            "request_id": name,
            "providers": ONE_VENDOR,
            "freshness": "static",
            "timeout_s": TIMEOUT_S,
        }
        return name, json.dumps(body).encode()

    async def send(self, prefix: str, count: int, *, ahead_ms: int = 0) -> tuple[set[str], float, float]:
        """Send as fast as the broker takes them; their ids, the Unix time it began, and the seconds it took."""
        producer = AIOKafkaProducer(bootstrap_servers=self._brokers, acks="all", linger_ms=5)
        await producer.start()
        names: set[str] = set()
        began = time.time()
        try:
            waiting = []
            for _ in range(count):
                name, value = self.next(prefix)
                names.add(name)
                stamp = time.time_ns() // 1_000_000 + ahead_ms
                waiting.append(await producer.send(REQUESTS, value, key=name.encode(), timestamp_ms=stamp))
            await asyncio.gather(*waiting)
        finally:
            await producer.stop()
        return names, began, time.time() - began

    async def send_steadily(self, seconds: float) -> set[str]:
        names: set[str] = set()
        producer = AIOKafkaProducer(bootstrap_servers=self._brokers, acks="all", linger_ms=5)
        await producer.start()
        begun = time.monotonic()
        try:
            while (at := len(names) / STEADY_PER_S) < seconds:
                await asyncio.sleep(max(0.0, begun + at - time.monotonic()))
                name, value = self.next("steady")
                names.add(name)
                await producer.send(REQUESTS, value, key=name.encode())
        finally:
            await producer.stop()
        return names


class Replies:
    """The end of the reply topic, and what lies between two looks at it."""

    def __init__(self, brokers: str) -> None:
        self._consumer = AIOKafkaConsumer(bootstrap_servers=brokers, fetch_max_bytes=16 * 2**20)

    async def start(self) -> "Replies":
        await self._consumer.start()
        found = await self._consumer._client._wait_on_metadata(REPLIES)
        self._partitions = [TopicPartition(REPLIES, number) for number in sorted(found)]
        self._consumer.assign(self._partitions)
        return self

    async def stop(self) -> None:
        await self._consumer.stop()

    async def ends(self) -> dict[TopicPartition, int]:
        ends: dict[TopicPartition, int] = await self._consumer.end_offsets(self._partitions)
        return ends

    async def wait_for(self, count: int, since: dict[TopicPartition, int], timeout_s: float = PATIENCE_S) -> None:
        """Until so many replies lie behind `since`, or the time is over."""
        end = time.monotonic() + timeout_s
        while sum((await self.ends()).values()) - sum(since.values()) < count and time.monotonic() < end:
            await asyncio.sleep(LOOK_EVERY_S)

    async def read(self, since: dict[TopicPartition, int]) -> Answers:
        ends = await self.ends()
        for partition, offset in since.items():
            self._consumer.seek(partition, offset)
        answers, left = Answers(), sum(ends.values()) - sum(since.values())
        while left > 0:
            for records in (await self._consumer.getmany(timeout_ms=1000, max_records=2_000)).values():
                left -= len(records)
                for record in records:
                    reply = json.loads(record.value)
                    answers.by_id[reply["request_id"]] += 1
                    answers.by_outcome[f"{reply['status']} {(reply['cache'] or {}).get('outcome') or '-'}"] += 1
                    answers.at_ms.append(record.timestamp)
        return answers


async def warm(brokers: str) -> None:
    """Until every known question comes from the cache."""
    outcomes: Counter[str] = Counter()
    body = {"providers": ONE_VENDOR, "freshness": "static"}
    async with asking(brokers) as asker:
        for _ in range(WARM_ROUNDS):
            names = [f"warm-{random.getrandbits(60):x}" for _ in KNOWN]
            pairs = zip(KNOWN, names, strict=True)
            await asker.send_many([{"query": query, "request_id": name, **body} for query, name in pairs])
            outcomes = Counter(reply["cache"]["outcome"] for reply in await asker.replies_to(*names, timeout_s=60))
            if outcomes == {"exact": len(KNOWN)}:
                return
            await asyncio.sleep(1.0)
    raise RuntimeError(f"the cache is not warm: {dict(outcomes)}")


async def nothing_left(brokers: str, timeout_s: float) -> int:
    """Records that no role has read and committed, once there are none or the time is over."""
    end = time.monotonic() + timeout_s
    while (left := sum((await lag_of_groups(brokers)).values())) and time.monotonic() < end:
        await asyncio.sleep(1.0)
    return left


async def measure(folder: Path, brokers: str, requests: int) -> bool:
    with Pipeline(folder / "road", brokers, median_ms=0) as pipeline:
        pipeline.start_all()
        await warm(brokers)
        mix, replies = Mix(brokers), await Replies(brokers).start()
        try:
            since = await replies.ends()
            with watching(pipeline) as steady:
                names = await mix.send_steadily(STEADY_S)
                await replies.wait_for(len(names), since, 60)
                await nothing_left(brokers, 60)

            rates = []
            for number in range(FLOODS):
                since = await replies.ends()
                names, began, _ = await mix.send(f"flood{number}", FLOOD)
                await replies.wait_for(len(names), since)
                rates.append((await replies.read(since)).per_s(began * 1000))
                await nothing_left(brokers, 60)
            steady_per_s = statistics.median(rates)
            print(f"steady rate: {', '.join(f'{rate:,.0f}' for rate in rates)} requests a second", flush=True)

            await asyncio.to_thread(pipeline.stop)
            since = await replies.ends()
            names, _, seconds = await mix.send("backlog", requests, ahead_ms=AHEAD_MS)
            print(f"backlog: {len(names):,} requests, sent in {seconds:.0f} s while no role ran", flush=True)
            with watching(pipeline) as draining:
                started = [pipeline.begin(role) for role in ROLES]
                waits = (asyncio.to_thread(worker.wait_for, "ready", READY_WITHIN_S) for worker in started)
                await asyncio.gather(*waits)
                ready_ms = time.time() * 1000
                await replies.wait_for(len(names), since)
                left = await nothing_left(brokers, 120)
            answers = await replies.read(since)
        finally:
            await replies.stop()
        await asyncio.to_thread(pipeline.stop)
    return report(names, answers, left, steady_per_s, answers.per_s(ready_ms), steady, draining)


def report(
    names: set[str],
    answers: Answers,
    left: int,
    steady_per_s: float,
    drain_per_s: float,
    steady: Memory,
    draining: Memory,
) -> bool:
    """Print the tables; True when everything was kept."""
    lost = len(names - answers.by_id.keys())
    several = sum(count > 1 for name, count in answers.by_id.items() if name in names)
    print(f"\n{'peak memory, MiB':<18} {'steady':>8} {'backlog':>8} {'growth':>8}")
    worst = 0.0
    for role in ROLES:
        before, after = steady.peak_mib[role], draining.peak_mib[role]
        worst = max(worst, after - before)
        print(f"{role:<18} {before:>8.0f} {after:>8.0f} {after - before:>+8.0f}")
    print(f"\nanswered: {', '.join(f'{name} {count:,}' for name, count in answers.by_outcome.most_common())}")
    print(f"no reply {lost}, several replies {several}, records left unread {left}")
    print(
        f"worked off at {drain_per_s:,.0f} a second once all roles ran, {drain_per_s / steady_per_s:.2f} × the steady rate"
    )
    spans = statistics.quantiles(answers.at_ms, n=SPANS, method="inclusive")
    each = [len(answers.at_ms) / SPANS * 1000 / max(1.0, b - a) for a, b in itertools.pairwise(spans)]
    print(f"in {SPANS} equal parts but the first and the last: {', '.join(f'{rate:,.0f}' for rate in each)} a second")
    print(f"largest growth {worst:+.0f} MiB (at most {GROWTH_MIB:+.0f})")
    return worst <= GROWTH_MIB and not lost and not several and not left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--brokers", help="a Kafka that nothing else uses; default: one of its own")
    given = parser.parse_args()
    lacking = None if given.brokers else missing()
    if lacking is not None:
        print(f"backlog: {lacking}", file=sys.stderr)
        return 2
    print(f"load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory(prefix="groundwire-backlog-") as name:
        folder = Path(name)
        if given.brokers:
            kept = asyncio.run(measure(folder, given.brokers, given.requests))
        else:
            with Cluster(folder / "kafka") as cluster:
                kept = asyncio.run(measure(folder, cluster.brokers, given.requests))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
