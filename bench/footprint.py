"""What everything together takes with a full cache: time until ready, and memory of each process.

    python bench/footprint.py [--entries 100000] [--ask 200]

Fills a view with entries (random unit vectors, five results each), starts `up --sandbox` on it, asks some of the stored
questions so that every path has run, and reads each process's memory. PSS counts a shared page once for all who share it.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from groundwire.lake.cache.embedder import PACKAGED_DIMENSIONS, PACKAGED_MODEL
from groundwire.lake.cache.writer import CacheWriter
from groundwire.schemas.cache_write import CacheEntry, CacheWrite
from groundwire.schemas.lookup import Embedding
from groundwire.schemas.reply import Result
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.background import start_up, stop
from groundwire.streams.faces.client import GroundwireClient

BATCH = 2_000
LIMIT_MIB = 1536
LIMIT_S = 20


def fill(home: Path, entries: int) -> None:
    random = np.random.default_rng(1)
    writer = CacheWriter(Settings(home=home))
    writer.open()
    now_ms = time.time_ns() // 1_000_000
    offset = 0
    for start in range(0, entries, BATCH):
        vectors = random.standard_normal((BATCH, PACKAGED_DIMENSIONS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        batch: list[tuple[int, int, CacheWrite | None]] = []
        for number, vector in enumerate(vectors, start=start):
            offset += 1
            batch.append((0, offset, CacheWrite(kind="put", entry=entry(number, vector.tolist(), now_ms))))
        writer.apply(batch)
        print(f"\r{start + BATCH:,} entries", end="", flush=True)
    print()
    writer.optimize(wait=True)
    writer.close()


def entry(number: int, vector: list[float], now_ms: int) -> CacheEntry:
    results = [
        Result(
            index=index,
            title=f"Document {index} about subject {number}",
            url=f"https://site{number % 997}.example/{number}/{index}",
            body=f"What is to be said of subject {number}, part {index}. " * 8,
            provider="bench",
        )
        for index in range(1, 6)
    ]
    return CacheEntry(
        cache_key=f"{number:064x}",
        facet=f"{number % 7:064x}",
        provider="bench",
        tenant="default",
        normalized_query=f"what is to be said of subject {number}",
        freshness="static",
        depth=5,
        results=results,
        cost_micro_usd=1000,
        stored_at_ms=now_ms,
        expires_at_ms=now_ms + 86_400_000,
        payload_id=f"{number:032x}",
        semantic=True,
        embedding=Embedding.of(PACKAGED_MODEL, vector),
    )


async def ask(brokers: str, requests: int) -> None:
    async with GroundwireClient(Settings(brokers=brokers)) as client:
        for number in range(requests):
            await client.search({"query": f"how long is river number {number % 50}"})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--ask", type=int, default=200)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="groundwire-bench-"))
    fill(home, given.entries)
    began = time.monotonic()
    process, running = start_up(home, "--sandbox", "--median-ms", "0")
    ready_s = time.monotonic() - began
    try:
        asyncio.run(ask(running.brokers, given.ask))
        everyone = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        print(f"{'':16}{'RSS MiB':>10}{'PSS MiB':>10}")
        rss_all = pss_all = 0.0
        for one in everyone:
            memory = one.memory_full_info()
            rss, pss = memory.rss / 2**20, memory.pss / 2**20
            rss_all, pss_all = rss_all + rss, pss_all + pss
            words = one.cmdline()
            name = next((word for word in words if word in ROLES_SHOWN), Path(words[0]).name if words else "?")
            print(f"{name:16}{rss:10.0f}{pss:10.0f}")
        print(f"{'together':16}{rss_all:10.0f}{pss_all:10.0f}")
        print(f"ready after {ready_s:.1f} s (at most {LIMIT_S})")
        print(f"ratio: {rss_all / LIMIT_MIB:.2f} of {LIMIT_MIB:,} MiB with {given.entries:,} entries")
    finally:
        stop(process)


ROLES_SHOWN = {"frontline", "fetch", "unify", "cache-writer", "lake-writer", "groundwire.adapters.sandbox", "up"}

if __name__ == "__main__":
    main()
