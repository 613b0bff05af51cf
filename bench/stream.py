"""A stream of real queries in its order through the whole pipeline: what the exact tier finds, and what the semantic one adds.

    python bench/stream.py FILE [--brokers HOST:PORT] [--semantic on|off|both] [--times 1000] [--hits OUT.txt]

FILE has a query a line, gzipped or not. The vendors are local stand-ins. Lifetimes are divided by --times, so that minutes of
running stand for days of traffic. Prints the share of each kind of hit, part by part, and what the vendors were paid; --hits
writes every semantic hit, asked and matched, for a human eye.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from groundwire.lake.events.scan import scan
from groundwire.schemas.settings import CacheSettings, Settings
from groundwire.streams.faces.background import start_up, stop
from groundwire.streams.faces.client import GroundwireClient

KINDS = ("exact", "semantic", "coalesced", "miss")
PARTS = 10
TIMEOUT_S = 60.0
LAKE_SETTLES_S = 10.0


def queries(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        yield from (line.strip() for line in lines if line.strip())


async def ask_all(brokers: str, asked: list[str], at_once: int) -> float:
    """In order, so many at once; gives the seconds it took."""
    waiting = iter(enumerate(asked, start=1))
    began = time.perf_counter()

    async def ask() -> None:
        for number, query in waiting:
            await client.search({"query": query, "timeout_s": TIMEOUT_S})
            if number % 500 == 0:
                print(f"\r{number:,} of {len(asked):,}", end="", flush=True)

    async with GroundwireClient(Settings(brokers=brokers)) as client:
        await asyncio.gather(*(ask() for _ in range(at_once)))
    print("\r", end="")
    return time.perf_counter() - began


def shares(rows: pl.DataFrame) -> list[str]:
    return [f"{100 * rows['cache_outcome'].eq(kind).sum() / rows.height:.2f} %" for kind in KINDS]


def usd(rows: pl.DataFrame) -> float:
    return int(rows["cost_micro_usd"].sum()) / 1e6


def show(name: str, rows: pl.DataFrame, took_s: float) -> None:
    print(f"\n{name}: {rows.height:,} requests in {took_s:.0f} s, all grounded: {rows['status'].eq('grounded').all()}")
    print("| requests | " + " | ".join(KINDS) + " | vendors, USD |\n|---|" + "---:|" * (len(KINDS) + 1))
    size = -(-rows.height // PARTS)
    for start in range(0, rows.height, size):
        part = rows.slice(start, size)
        print(f"| {start + 1:,} to {start + part.height:,} | " + " | ".join(shares(part)) + f" | {usd(part):.3f} |")
    print("| **all** | " + " | ".join(shares(rows)) + f" | {usd(rows):.3f} |")
    for (freshness,), some in sorted(rows.group_by("freshness")):
        print(f"| {freshness} ({some.height:,}) | " + " | ".join(shares(some)) + " | |")


def write_hits(path: Path, rows: pl.DataFrame) -> None:
    hits = rows.filter(pl.col("cache_outcome") == "semantic").unique(["normalized_query", "matched_query"])
    columns = ("similarity", "probability", "normalized_query", "matched_query")
    lines = ["\t".join(str(row[column]) for column in columns) for row in hits.sort("normalized_query").to_dicts()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} different semantic hits: {path}")


def run(given: argparse.Namespace, asked: list[str], *, semantic: bool) -> None:
    home = Path(tempfile.mkdtemp(prefix="groundwire-bench-"))
    lifetimes = {name: max(1, seconds // given.times) for name, seconds in CacheSettings().ttl_s.items()}
    environ = {
        "GROUNDWIRE_CACHE__SEMANTIC__ENABLED": str(semantic).lower(),
        "GROUNDWIRE_CACHE__TTL_S": json.dumps(lifetimes),
    }
    extra = ["--brokers", given.brokers] if given.brokers else []
    process, running = start_up(home, "--sandbox", "--median-ms", "0", *extra, environ=environ)
    try:
        took_s = asyncio.run(ask_all(running.brokers, asked, given.at_once))
        time.sleep(LAKE_SETTLES_S)
    finally:
        stop(process)
    rows = scan("requests", home / "lake").sort("requested_at").collect()
    show("exact and semantic" if semantic else "exact only", rows, took_s)
    if semantic and given.hits:
        write_hits(given.hits, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--brokers", help="a Kafka; default: the embedded broker")
    parser.add_argument("--semantic", choices=["on", "off", "both"], default="both")
    parser.add_argument("--times", type=int, default=1000, help="how much faster lifetimes pass")
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--hits", type=Path)
    given = parser.parse_args()
    asked = list(queries(given.file))[: given.limit]
    for semantic in {"on": [True], "off": [False], "both": [False, True]}[given.semantic]:
        run(given, asked, semantic=semantic)


if __name__ == "__main__":
    main()
