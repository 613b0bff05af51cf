"""Cache hits while another vendor hangs, beside hits alone and beside the same work without hanging, on a real Kafka.

    make test-kafka            # once: brings Kafka's jars
    .venv/bin/python bench/hanging_vendor.py [--rounds N] [--seconds S]

One worker of each role, on loopback and in a temporary folder. Phases take turns: hits alone; hits while new questions go to a
vendor that hangs; and, to tell what hanging does from what more work does, the same with a vendor that refuses at once (equal
work, but for the waiting) and with one that answers (more work: the answers are stored). The breaker is off, so that the vendor
is asked, and hangs, to the end. A hit's time runs from when it was due to when its reply was read. Exit code 1 when the median
p99 beside the hanging vendor is more than 1.5 times the one beside the vendor that refuses, or a hit was no hit.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "kafka"))

from harness.cluster import Cluster, missing
from harness.pipeline import Pipeline
from harness.records import REPLIES, REQUESTS

MOST = 1.5
KNOWN = [f"what is the population of town number {number} in the lake district" for number in range(200)]
HITS_PER_S = 50.0
MISSES_PER_S = 20.0
# Six of them at random make a question that is near no other one: nothing but the vendor is to be found out about.
WORDS = (
    *(
        "amber",
        "anchor",
        "barley",
        "basalt",
        "beacon",
        "candle",
        "cedar",
        "comet",
        "copper",
        "coral",
        "cotton",
        "falcon",
    ),
    *(
        "fjord",
        "garnet",
        "glacier",
        "harbour",
        "island",
        "ivory",
        "jasper",
        "lantern",
        "magnet",
        "marble",
        "meadow",
        "mercury",
    ),
    *(
        "nectar",
        "oasis",
        "orchard",
        "otter",
        "pearl",
        "pepper",
        "quartz",
        "raven",
        "saffron",
        "thistle",
        "tundra",
        "walnut",
    ),
)
ASKED, HANGS = "serper", "tavily"
MISS_TIMEOUT_S = 10.0
PATIENCE_S = 60.0
WARM_ROUNDS = 20
PHASES = ("hits alone", "vendor hangs", "vendor refuses", "vendor answers")
FAULTS: dict[str, dict[str, object]] = {
    "vendor hangs": {"kind": "hang"},
    "vendor refuses": {"kind": "status", "status": 500},
}
SETTINGS = {
    "GROUNDWIRE_BREAKER__ENABLED": "false",
    # Its own limits would keep most of the calls from ever reaching the vendor.
    f"GROUNDWIRE_PROVIDERS__{HANGS.upper()}__REQUESTS_PER_S": "1000",
    f"GROUNDWIRE_PROVIDERS__{HANGS.upper()}__MAX_CONCURRENCY": "1000",
}


@dataclass
class Phase:
    """One phase's hits, milliseconds each, what came of everything that was asked, and who was busy meanwhile.

    `frontline_cores` and `machine_cores`: processor time over wall time while hits were asked; the machine's is everybody's.
    """

    frontline_cores: float = 0.0
    machine_cores: float = 0.0
    hits_ms: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    vendor_calls: int = 0

    def percentile(self, share: float) -> float:
        return statistics.quantiles(self.hits_ms, n=1000, method="inclusive")[int(share * 1000) - 1]


class Client:
    """Asks, and notes when each reply was read."""

    def __init__(self, brokers: str) -> None:
        self._producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all")
        self._consumer = AIOKafkaConsumer(
            REPLIES, bootstrap_servers=brokers, auto_offset_reset="latest", max_poll_records=1_000
        )
        self._waiting: dict[bytes, asyncio.Future[tuple[float, dict[str, Any]]]] = {}

    async def __aenter__(self) -> "Client":
        await self._producer.start()
        await self._consumer.start()
        await self._consumer.seek_to_end()
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.cancel()
        await self._producer.stop()
        await self._consumer.stop()

    async def _listen(self) -> None:
        while True:
            for records in (await self._consumer.getmany(timeout_ms=1_000)).values():
                now = time.perf_counter()
                for record in records:
                    future = self._waiting.pop(record.key, None)
                    if future is not None and not future.done():
                        future.set_result((now, json.loads(record.value)))

    async def ask(self, query: str, provider: str, timeout_s: float) -> "asyncio.Future[tuple[float, dict[str, Any]]]":
        name = uuid.uuid4().hex
        future = self._waiting[name.encode()] = asyncio.get_running_loop().create_future()
        body = {"query": query, "request_id": name, "providers": [provider], "timeout_s": timeout_s}
        await self._producer.send(REQUESTS, json.dumps(body | {"freshness": "static"}).encode(), key=name.encode())
        return future

    async def ask_steadily(
        self, per_s: float, seconds: float, queries: list[str], provider: str, timeout_s: float
    ) -> list[tuple[float, "asyncio.Future[tuple[float, dict[str, Any]]]"]]:
        """When each was due, and what its reply will be."""
        began, asked = time.perf_counter(), []
        for number in range(int(per_s * seconds)):
            due = began + number / per_s
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            asked.append((due, await self.ask(queries[number % len(queries)], provider, timeout_s)))
        return asked


async def warm(client: Client) -> None:
    """Until every known question comes from the cache."""
    outcomes: Counter[str] = Counter()
    for _ in range(WARM_ROUNDS):
        replies = [await client.ask(query, ASKED, 30) for query in KNOWN]
        outcomes = Counter([(await asyncio.wait_for(reply, PATIENCE_S))[1]["cache"]["outcome"] for reply in replies])
        if outcomes == {"exact": len(KNOWN)}:
            return
        await asyncio.sleep(1.0)
    raise RuntimeError(f"the cache is not warm: {dict(outcomes)}")


async def run_phase(name: str, client: Client, pipeline: Pipeline, seconds: float, chance: random.Random) -> Phase:
    phase, calls_before = Phase(), _calls(pipeline)
    frontline = psutil.Process(pipeline.workers["frontline"][0].pid)
    if name in FAULTS:
        pipeline.vendors.fault(vendor=HANGS, **FAULTS[name])
    began, before, all_before = time.perf_counter(), frontline.cpu_times(), psutil.cpu_times()
    hits = asyncio.create_task(client.ask_steadily(HITS_PER_S, seconds, KNOWN, ASKED, 30))
    if name == PHASES[0]:
        misses = []
    else:
        queries = [" ".join(chance.choices(WORDS, k=6)) for _ in range(int(MISSES_PER_S * seconds))]
        misses = await client.ask_steadily(MISSES_PER_S, seconds, queries, HANGS, MISS_TIMEOUT_S)
    for due, reply in await hits:
        at, body = await asyncio.wait_for(reply, PATIENCE_S)
        phase.hits_ms.append((at - due) * 1000)
        phase.outcomes[f"hit: {body['cache']['outcome']}"] += 1
    spent_s, after, all_after = time.perf_counter() - began, frontline.cpu_times(), psutil.cpu_times()
    phase.frontline_cores = (after.user + after.system - before.user - before.system) / spent_s
    phase.machine_cores = (_busy_s(all_after) - _busy_s(all_before)) / spent_s
    # The next phase begins when nothing of this one is under way.
    for _, reply in misses:
        _, body = await asyncio.wait_for(reply, PATIENCE_S)
        phase.outcomes[f"miss: {body['status']}"] += 1
    pipeline.vendors.heal()
    phase.vendor_calls = _calls(pipeline) - calls_before
    return phase


def _busy_s(times: Any) -> float:
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _calls(pipeline: Pipeline) -> int:
    return int(pipeline.vendors.calls(limit=0)["by_vendor"].get(HANGS, 0))


async def measure(pipeline: Pipeline, rounds: int, seconds: float) -> dict[str, list[Phase]]:
    phases: dict[str, list[Phase]] = {name: [] for name in PHASES}
    chance = random.Random(3)
    async with Client(pipeline.brokers) as client:
        await warm(client)
        await run_phase(
            PHASES[2], client, pipeline, 3, chance
        )  # connections to the other vendor are made before it counts
        print(f"{'':<16} {'p50 ms':>8} {'p99 ms':>8} {'calls':>8} {'cores: frontline':>17} {'machine':>8}  outcomes")
        for _ in range(rounds):
            for name in PHASES:
                phase = await run_phase(name, client, pipeline, seconds, chance)
                phases[name].append(phase)
                outcomes = ", ".join(f"{what} {count:,}" for what, count in sorted(phase.outcomes.items()))
                p50, p99 = phase.percentile(0.5), phase.percentile(0.99)
                cores = f"{phase.frontline_cores:>17.2f} {phase.machine_cores:>8.2f}"
                print(f"{name:<16} {p50:>8.1f} {p99:>8.1f} {phase.vendor_calls:>8} {cores}  {outcomes}", flush=True)
                await asyncio.sleep(1.0)
    return phases


def report(phases: dict[str, list[Phase]]) -> bool:
    """Print the ratios; True when the promise was kept."""
    p99 = {name: statistics.median(phase.percentile(0.99) for phase in some) for name, some in phases.items()}
    alone, hangs, refuses, answers = (p99[name] for name in PHASES)
    print("\nmedian p99: " + ", ".join(f"{name} {p99[name]:.1f} ms" for name in PHASES))
    print(f"vendor hangs ÷ vendor refuses {hangs / refuses:.2f} (at most {MOST:g})")
    print(f"vendor hangs ÷ vendor answers {hangs / answers:.2f}, vendor hangs ÷ hits alone {hangs / alone:.2f}")
    no_hits = sum(
        count
        for some in phases.values()
        for phase in some
        for what, count in phase.outcomes.items()
        if what.startswith("hit: ") and what != "hit: exact"
    )
    if no_hits:
        print(f"{no_hits} hits were none")
    return hangs <= MOST * refuses and not no_hits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each phase")
    given = parser.parse_args()
    lacking = missing()
    if lacking is not None:
        print(f"hanging_vendor: {lacking}", file=sys.stderr)
        return 2
    print(f"load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="groundwire-hanging-") as name,
        Cluster(Path(name) / "kafka") as cluster,
        Pipeline(Path(name) / "road", cluster.brokers, median_ms=5, settings=SETTINGS) as pipeline,
    ):
        pipeline.start_all()
        phases = asyncio.run(measure(pipeline, given.rounds, given.seconds))
    return 0 if report(phases) else 1


if __name__ == "__main__":
    sys.exit(main())
