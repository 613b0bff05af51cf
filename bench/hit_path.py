"""Exact hits through the whole road, beside a bare two-agent Faust chain on the same broker in the same run.

    python bench/hit_path.py [--messages N] [--brokers HOST:PORT]

A request goes through requests → normalize → lookups → lookup → reply and leaves an event; the chain only passes bytes on.
"""

import argparse
import asyncio
import json
import random
import tempfile
from pathlib import Path

import echo_baseline

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import REPLIES, REQUESTS
from groundwire.streams.faces.background import start_up, stop
from groundwire.streams.faces.client import GroundwireClient

QUESTIONS = [f"what is the population of town number {number} in the lake district" for number in range(200)]
FETCH_MAX_WAIT_MS = 5


def request(key: bytes) -> bytes:
    body = {"query": random.choice(QUESTIONS), "request_id": key.decode(), "timeout_s": 120}
    return json.dumps(body).encode()


async def warm(brokers: str) -> None:
    async with GroundwireClient(Settings(brokers=brokers)) as client:
        for start in range(0, len(QUESTIONS), 20):
            await asyncio.gather(*(client.search({"query": question}) for question in QUESTIONS[start : start + 20]))
        await asyncio.sleep(1)
        again = [await client.search({"query": question}) for question in QUESTIONS]
        outcomes = {reply.cache.outcome if reply.cache else None for reply in again}
        if outcomes != {"exact"}:
            raise SystemExit(f"not warm: {outcomes}")


async def measure(brokers: str, messages: int) -> None:
    await warm(brokers)
    prefix = f"bench.chain.{random.getrandbits(32):x}"
    names = echo_baseline.topics(prefix, 2)
    await echo_baseline.create_topics(brokers, names)
    rounds: list[tuple[echo_baseline.Figures, echo_baseline.Figures]] = []
    print(f"{'':26}{'p50 ms':>8}{'p95 ms':>8}{'p50 at 200/s':>14}{'requests/s':>12}")
    with echo_baseline.worker("bare", brokers, prefix, 2, fetch_max_wait_ms=FETCH_MAX_WAIT_MS):
        for _ in range(3):
            bare = await echo_baseline.drive(
                brokers, names[0], names[-1], messages=messages, value=request, fetch_max_wait_ms=FETCH_MAX_WAIT_MS
            )
            ours = await echo_baseline.drive(
                brokers,
                REQUESTS.name,
                REPLIES.name,
                messages=messages,
                value=request,
                fetch_max_wait_ms=FETCH_MAX_WAIT_MS,
            )
            rounds.append((bare, ours))
            for name, figures in (("bare chain of two agents", bare), ("exact hit", ours)):
                print(
                    f"{name:26}{figures.p50_ms:8.1f}{figures.p95_ms:8.1f}{figures.p50_at_rate_ms:14.1f}{figures.per_s:12.0f}"
                )
    latency = sorted(ours.p50_ms / bare.p50_ms for bare, ours in rounds)[1]
    throughput = sorted(ours.per_s / bare.per_s for bare, ours in rounds)[1]
    print(f"ratio (median of 3): p50 {latency:.2f} × (at most 2), throughput {throughput:.2f} × (at least 0.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=3000)
    parser.add_argument("--brokers", help="a Kafka; default: the embedded broker")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="groundwire-bench-"))
    extra = ["--brokers", given.brokers] if given.brokers else []
    process, running = start_up(home, "--sandbox", "--median-ms", "0", *extra)
    try:
        asyncio.run(measure(running.brokers, given.messages))
    finally:
        stop(process)


if __name__ == "__main__":
    main()
