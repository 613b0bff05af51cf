"""Baseline: a bare Faust worker that echoes, and one of two chained agents, beside the same in Groundwire's runtime.

    python bench/echo_baseline.py [--brokers HOST:PORT] [--messages N]

Without --brokers it starts the embedded broker. Both workers get the two tunings that broker needs (a short fetch wait, a
short session), nothing else is done to Faust. Other benches import `Worker` and `drive` to run the baseline in their own run.
"""

import argparse
import asyncio
import itertools
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

PARTITIONS = 8
VALUE = b'{"query": "' + b"what a request may well look like " * 5 + b'"}'
READY_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Latencies in ms with one message in flight, and messages a second with many."""

    p50_ms: float
    p95_ms: float
    per_s: float
    p50_at_rate_ms: float


def topics(prefix: str, agents: int) -> list[str]:
    return [f"{prefix}.{number}" for number in range(agents + 1)]


async def create_topics(brokers: str, names: list[str]) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    await admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names])
    await admin.close()


@contextmanager
def worker(
    kind: str, brokers: str, prefix: str, agents: int, *, fetch_max_wait_ms: int
) -> Iterator[subprocess.Popen[bytes]]:
    """One worker process: `kind` is `bare` (plain Faust) or `groundwire`."""
    command = [sys.executable, __file__, "--worker", kind, "--brokers", brokers, "--prefix", prefix]
    command += ["--agents", str(agents), "--fetch-max-wait-ms", str(fetch_max_wait_ms)]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, cwd=folder)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


async def drive(
    brokers: str,
    first: str,
    last: str,
    *,
    messages: int,
    value: bytes | Callable[[bytes], bytes] = VALUE,
    fetch_max_wait_ms: int = 5,
    rate: float = 200,
) -> Figures:
    """Send to `first`, wait for the same keys on `last`: one by one, then at a rate, then as fast as it goes."""
    producer = AIOKafkaProducer(bootstrap_servers=brokers)
    consumer = AIOKafkaConsumer(
        last,
        bootstrap_servers=brokers,
        auto_offset_reset="latest",
        fetch_max_wait_ms=fetch_max_wait_ms,
        max_poll_records=1000,
    )
    await producer.start()
    await consumer.start()
    waiting: dict[bytes, asyncio.Future[float]] = {}

    async def listen() -> None:
        while True:
            for records in (await consumer.getmany(timeout_ms=1000)).values():
                now = time.perf_counter()
                for record in records:
                    future = waiting.pop(record.key, None)
                    if future is not None and not future.done():
                        future.set_result(now)

    async def ask(number: int) -> tuple[float, "asyncio.Future[float]"]:
        key = b"%d-%d" % (number, random.getrandbits(48))
        future = waiting[key] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        await producer.send(first, value(key) if callable(value) else value, key=key)
        return began, future

    listening = asyncio.create_task(listen())
    try:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while True:
            _, future = await ask(0)
            done, _ = await asyncio.wait([future], timeout=1.0)
            if done:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"no echo on {last} within {READY_TIMEOUT_S:g} s")
        for number in range(50):
            await (await ask(number))[1]
        alone = []
        for number in range(min(300, messages)):
            began, future = await ask(number)
            alone.append((await future - began) * 1000)
        at_rate = []
        begun: list[tuple[float, asyncio.Future[float]]] = []
        start = time.perf_counter()
        for number in range(int(rate * 3)):
            pause = start + number / rate - time.perf_counter()
            if pause > 0:
                await asyncio.sleep(pause)
            begun.append(await ask(number))
        for began, future in begun:
            at_rate.append((await future - began) * 1000)
        began = time.perf_counter()
        flood = [await ask(number) for number in range(messages)]
        last_at = max([await future for _, future in flood])
        return Figures(
            p50_ms=statistics.median(alone),
            p95_ms=statistics.quantiles(alone, n=20)[-1],
            per_s=messages / (last_at - began),
            p50_at_rate_ms=statistics.median(at_rate),
        )
    finally:
        listening.cancel()
        await producer.stop()
        await consumer.stop()


# ── the workers


def run_bare(brokers: str, prefix: str, agents: int, fetch_max_wait_ms: int) -> None:
    """Plain Faust: `async for`, `send`, nothing more."""
    import aiokafka
    import faust

    # Faust writes 1500 into the call; there is no setting.
    class Consumer(aiokafka.AIOKafkaConsumer):  # type: ignore[misc]
        def __init__(self, *topics: str, **options: Any) -> None:
            super().__init__(*topics, **{**options, "fetch_max_wait_ms": fetch_max_wait_ms})

    aiokafka.AIOKafkaConsumer = Consumer
    app = faust.App(
        f"bare.{prefix}",
        broker=f"kafka://{brokers}",
        web_enabled=False,
        topic_disable_leader=True,
        topic_allow_declare=False,
        broker_session_timeout=6.0,
        broker_heartbeat_interval=1.0,
        broker_rebalance_timeout=6.0,
        datadir=str(Path.cwd()),
    )
    names = topics(prefix, agents)

    def add(source: str, target: str) -> None:
        into = app.topic(target, key_type=bytes, value_type=bytes)

        async def echo(stream: Any) -> None:
            async for event in stream.events():
                await into.send(key=event.key, value=event.value)

        app.agent(app.topic(source, key_type=bytes, value_type=bytes), name=source)(echo)

    for source, target in itertools.pairwise(names):
        add(source, target)

    async def main() -> None:
        await app.start()
        await app.wait_until_stopped()

    asyncio.get_event_loop().run_until_complete(main())


def run_groundwire(brokers: str, prefix: str, agents: int, fetch_max_wait_ms: int) -> None:
    """The same through PipelineApp: window, tracker, confirmed outputs."""
    from groundwire.schemas.record import InboundRecord, OutboundRecord
    from groundwire.schemas.settings import KafkaSettings, Settings
    from groundwire.streams.runtime.app import Handler, PipelineApp

    settings = Settings(brokers=brokers, kafka=KafkaSettings(fetch_max_wait_ms=fetch_max_wait_ms))
    app = PipelineApp(f"bench.{prefix}", settings)
    names = topics(prefix, agents)

    def echo_to(target: str) -> Handler:
        async def echo(record: InboundRecord) -> list[OutboundRecord]:
            return [OutboundRecord(target, record.key, record.value or b"", record.headers)]

        return echo

    for source, target in itertools.pairwise(names):
        app.add_agent(source, echo_to(target), window=256)
    asyncio.run(app.run(asyncio.Event()))


# ── the comparison


async def compare(
    brokers: str, messages: int, fetch_max_wait_ms: int, kinds: list[str], agent_counts: list[int]
) -> None:
    print(f"{'':22}{'p50 ms':>8}{'p95 ms':>8}{'p50 at 200/s':>14}{'msg/s':>8}{'cpu ms/msg':>12}")
    for agents in agent_counts:
        figures: dict[str, Figures] = {}
        for kind in kinds:
            prefix = f"bench.{kind}.{agents}.{random.getrandbits(32):x}"
            names = topics(prefix, agents)
            await create_topics(brokers, names)
            with worker(kind, brokers, prefix, agents, fetch_max_wait_ms=fetch_max_wait_ms) as process:
                import psutil

                watched = psutil.Process(process.pid)
                figures[kind] = result = await drive(
                    brokers, names[0], names[-1], messages=messages, fetch_max_wait_ms=fetch_max_wait_ms
                )
                cpu = watched.cpu_times()
            name = f"{kind} {'echo' if agents == 1 else f'chain of {agents}'}"
            print(
                f"{name:22}{result.p50_ms:8.1f}{result.p95_ms:8.1f}{result.p50_at_rate_ms:14.1f}{result.per_s:8.0f}"
                f"{(cpu.user + cpu.system) * 1000 / (messages + 950):12.2f}"
            )
        if len(kinds) == 2:
            bare, ours = figures["bare"], figures["groundwire"]
            print(f"{'  ratio':22}{ours.p50_ms / bare.p50_ms:8.2f}{'':22}{ours.per_s / bare.per_s:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--brokers")
    parser.add_argument("--messages", type=int, default=4000)
    parser.add_argument("--fetch-max-wait-ms", type=int, default=3)
    parser.add_argument("--kinds", default="bare,groundwire")
    parser.add_argument("--chains", default="1,2")
    parser.add_argument("--worker", choices=["bare", "groundwire"], help=argparse.SUPPRESS)
    parser.add_argument("--prefix", help=argparse.SUPPRESS)
    parser.add_argument("--agents", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        run = run_bare if given.worker == "bare" else run_groundwire
        run(given.brokers, given.prefix, given.agents, given.fetch_max_wait_ms)
        return
    broker = None
    if given.brokers is None:
        from groundwire.schemas.settings import EmbeddedBrokerSettings
        from groundwire.streams.runtime.broker import EmbeddedBroker

        broker = EmbeddedBroker(Path(tempfile.mkdtemp()), EmbeddedBrokerSettings())
        given.brokers = broker.start()
    try:
        counts = [int(count) for count in given.chains.split(",")]
        asyncio.run(compare(given.brokers, given.messages, given.fetch_max_wait_ms, given.kinds.split(","), counts))
    finally:
        if broker is not None:
            broker.stop()


if __name__ == "__main__":
    main()
