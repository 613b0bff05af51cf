"""What a miss costs on top of the vendor's own latency: request in, vendor asked, reply out.

    python bench/miss_overhead.py [--requests N] [--brokers HOST:PORT]

The sandbox vendor answers after exactly --vendor-ms. What is above that is ours: five hops, the embedding, the semantic
lookup, the mark before the call, the HTTP call itself, the mapping, and the client.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp

from groundwire.schemas.reply import SearchReply
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.background import start_up, stop
from groundwire.streams.faces.client import GroundwireClient


async def measure(brokers: str, sandbox: str, requests: int, vendor_ms: float) -> None:
    async with aiohttp.ClientSession() as session:
        pace = {"median_ms": vendor_ms, "sigma": 0}
        async with session.post(f"{sandbox.rstrip('/')}/_control/latency", json=pace) as answer:
            answer.raise_for_status()
    run = f"{random.getrandbits(32):x}"
    totals: list[float] = []
    replies: list[SearchReply] = []
    async with GroundwireClient(Settings(brokers=brokers)) as client:
        for number in range(requests + 20):
            began = time.perf_counter()
            reply = await client.search({"query": f"where does the river {run} rise and how long is part {number}"})
            if number >= 20:
                totals.append((time.perf_counter() - began) * 1000)
                replies.append(reply)
    outcomes = {reply.cache.outcome if reply.cache else None for reply in replies}
    if outcomes != {"miss"}:
        raise SystemExit(f"not misses alone: {outcomes}")
    over = [total - vendor_ms for total in totals]
    print(f"{'ms':28}{'p50':>8}{'p95':>8}")
    rows = [
        ("client, whole request", totals),
        ("server, whole request", [reply.latency_ms.total for reply in replies]),
        ("queue", [reply.latency_ms.queue or 0 for reply in replies]),
        ("normalize", [reply.latency_ms.normalize or 0 for reply in replies]),
        ("lookup (embedding too)", [reply.latency_ms.lookup or 0 for reply in replies]),
        ("fetch (mark, vendor, log)", [reply.latency_ms.fetch or 0 for reply in replies]),
        ("vendor call as we saw it", [reply.attempts[-1].latency_ms or 0 for reply in replies]),
        ("unify", [reply.latency_ms.unify or 0 for reply in replies]),
        ("overhead over the vendor", over),
    ]
    for name, values in rows:
        print(f"{name:28}{statistics.median(values):8.1f}{statistics.quantiles(values, n=20)[-1]:8.1f}")
    p50 = statistics.median(over)
    print(f"ratio: overhead p50 {p50:.1f} ms (at most 15), {p50 / vendor_ms:.2f} × the vendor's {vendor_ms:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--vendor-ms", type=float, default=100.0)
    parser.add_argument("--brokers", help="a Kafka; default: the embedded broker")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="groundwire-bench-"))
    extra = ["--brokers", given.brokers] if given.brokers else []
    process, running = start_up(home, "--sandbox", "--median-ms", str(given.vendor_ms), *extra)
    try:
        asyncio.run(measure(running.brokers, running.sandbox or "", given.requests, given.vendor_ms))
    finally:
        stop(process)


if __name__ == "__main__":
    main()
