"""The lake's speed: landing events, scanning them, and the report, beside Polars reading the same files plainly.

    python bench/lake.py [--requests 1000000] [--days 4] [--files-a-day 50]

Prints what each step took and, last, how many times longer `scan` needs than `pl.read_parquet` of the same files and
columns. The difference pays for page checksums, leaving bad files out, and each event once.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from groundwire.lake import scan
from groundwire.lake.events.compaction import compact
from groundwire.lake.events.staging import Staging
from groundwire.lake.events.tables import ATTEMPTS, REQUESTS, Table
from groundwire.lake.events.writer import EventWriter, write_parquet
from groundwire.lake.reports.report import build_report
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import LakeSettings, Settings

FIRST_DAY = datetime(2026, 11, 1, tzinfo=UTC)
COLUMNS = [
    "provider",
    "cache_outcome",
    "cost_micro_usd",
    "saved_micro_usd",
    "total_ms",
    "requested_at",
    "tenant",
    "status",
]
LANDED = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--files-a-day", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder)
        records = _records(LANDED)
        with EventWriter(lake / "landing", LakeSettings()) as writer:
            landing_s = _best(wanted.repeats, lambda: writer.write(records))
        print(f"land {LANDED:,} events: {landing_s:.2f} s ({LANDED / landing_s:,.0f}/s)")

        made = lake / "made"
        _fill(made, wanted.requests, wanted.days, wanted.files_a_day)
        ratio = _compare(made, wanted.repeats, f"{wanted.days * wanted.files_a_day} files")
        settings = Settings.model_validate({"lake": {"path": made}})
        report_s = _best(wanted.repeats, lambda: build_report(settings))
        print(f"report over {wanted.requests:,} requests and as many attempts: {report_s:.2f} s")

        started = time.perf_counter()
        done = compact(made)
        print(f"compact {done.files_before:,} files into {done.files_after:,}: {time.perf_counter() - started:.2f} s")
        _compare(made, wanted.repeats, f"{wanted.days} files, compacted")
        report_s = _best(wanted.repeats, lambda: build_report(settings))
        print(f"report after compaction: {report_s:.2f} s")
    print(f"ratio: {ratio:.2f}")


def _compare(lake: Path, repeats: int, what: str) -> float:
    files = sorted(str(file) for file in (lake / "requests").rglob("*.parquet"))
    plain_s = _best(repeats, lambda: pl.read_parquet(files, columns=["event_id", *COLUMNS], hive_partitioning=False))
    scan_s = _best(repeats, lambda: scan(path=lake).select(["event_id", *COLUMNS]).collect())
    print(f"{what}: pl.read_parquet {plain_s:.2f} s, scan {scan_s:.2f} s, {scan_s / plain_s:.2f} times as long")
    return scan_s / plain_s


def _best(repeats: int, step: Callable[[], object]) -> float:
    """Seconds of the quickest of several runs: the machine's other work only ever adds."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        step()
        taken.append(time.perf_counter() - started)
    return min(taken)


def _fill(lake: Path, requests: int, days: int, files_a_day: int) -> None:
    random = np.random.default_rng(7)
    rows = requests // (days * files_a_day)
    staging = Staging(lake)
    for day in range(days):
        for number in range(files_a_day):
            start = FIRST_DAY + timedelta(days=day, seconds=80_000 * number / files_a_day)
            for table in (REQUESTS, ATTEMPTS):
                folder = lake / table.name / f"date={start:%Y-%m-%d}"
                with staging.file(folder, f"bench-{number}") as file:
                    write_parquet(file.content, table, [_columns(table, rows, start, random)])
    staging.close()


def _columns(table: Table, rows: int, start: datetime, random: np.random.Generator) -> pa.Table:
    hit = random.random(rows) < 0.5
    ids = [f"{high:016x}{low:016x}" for high, low in random.integers(0, 2**63, (rows, 2))]
    questions = [f"what is the height of mountain number {number}" for number in random.zipf(1.3, rows) % 100_000]
    known: dict[str, Any] = {
        "event_id": ids,
        "request_id": ids,
        "reply_id": ids,
        "attempt_id": ids,
        "tenant": np.array(["default", "agents", "batch"])[random.integers(0, 3, rows)],
        "query": questions,
        "normalized_query": questions,
        "freshness": np.array(["slow", "static", "daily"])[random.integers(0, 3, rows)],
        "status": np.full(rows, "grounded"),
        "provider": np.array(["serper", "tavily", "exa"])[random.integers(0, 3, rows)],
        "cache_outcome": np.where(hit, "exact", "miss"),
        "outcome": np.where(random.random(rows) < 0.97, "ok", "timeout"),
        "cost_micro_usd": np.where(hit, 0, 1000),
        "saved_micro_usd": np.where(hit, 1000, 0),
        "total_ms": np.where(hit, random.lognormal(1, 0.4, rows), random.lognormal(5.7, 0.5, rows)),
        "latency_ms": random.lognormal(5.7, 0.5, rows),
        "results": np.full(rows, 5),
        "context_tokens": random.integers(100, 2000, rows),
        "attempts": np.where(hit, 0, 1),
        table.time: [start + timedelta(milliseconds=int(at)) for at in np.sort(random.integers(0, 1_000_000, rows))],
    }
    return pa.table(
        [
            pa.array(known[field.name], field.type) if field.name in known else pa.nulls(rows, field.type)
            for field in table.schema
        ],
        schema=table.schema,
    )


def _records(number: int) -> list[InboundRecord]:
    """Half requests, half attempts, as they stand in one partition."""
    start_ms = int(FIRST_DAY.timestamp() * 1000)
    records = []
    for offset in range(number):
        event = _request(offset, start_ms + offset) if offset % 2 else _attempt(offset, start_ms + offset)
        records.append(InboundRecord("search.events.v1", 0, offset, None, event.encode(), (), start_ms))
    return records


def _request(number: int, at_ms: int) -> RequestEvent:
    return RequestEvent(
        event_id=f"{number:032x}",
        request_id=f"question-{number}",
        reply_id=f"{number:032x}",
        tenant="default",
        route="default",
        query=f"what is the height of mountain number {number}?",
        normalized_query=f"what is the height of mountain number {number}",
        language="en",
        freshness="slow",
        depth=5,
        status="grounded",
        provider="serper",
        cache_outcome="miss",
        cache_age_s=None,
        similarity=None,
        probability=None,
        matched_query=None,
        cost_micro_usd=1000,
        saved_micro_usd=None,
        results=5,
        context_tokens=412,
        total_ms=312.5,
        queue_ms=0.8,
        normalize_ms=0.2,
        lookup_ms=1.4,
        fetch_ms=301.2,
        unify_ms=2.2,
        attempts=1,
        requested_at_ms=at_ms,
        completed_at_ms=at_ms + 312,
    )


def _attempt(number: int, at_ms: int) -> AttemptEvent:
    return AttemptEvent(
        event_id=f"{number:032x}",
        request_id=f"question-{number}",
        attempt_id=f"{number:032x}",
        provider="serper",
        attempt=0,
        outcome="ok",
        reason=None,
        status_code=200,
        latency_ms=300.1,
        cost_micro_usd=1000,
        cost_source="answer",
        cost_detail=None,
        hedged=False,
        depth=5,
        results=5,
        bytes=8123,
        started_at_ms=at_ms,
        tenant="default",
    )


if __name__ == "__main__":
    main()
