"""Judges a run from outside: requests sent, replies got, what the vendors billed, what the lake holds, what is left unread.

It knows the contract and nothing of the code: aiokafka on the topics, Polars on the Parquet files, HTTP for the invoice.
As a command it drives a steady load against a running pipeline and prints the table:

    python tests/kafka/checker.py --brokers 127.0.0.1:9092 --vendors http://127.0.0.1:8700 --lake .groundwire/lake \\
        --rate 100 --seconds 60
"""

import argparse
import asyncio
import hashlib
import json
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

sys.path.insert(0, str(Path(__file__).parent))

from harness.load import Sent, SteadyLoad
from harness.records import DEAD_LETTERS, REPLIES, TopicLog

# A rebalance: a member that was killed is missed after the session timeout, and the others wait this long for it.
ONE_REBALANCE_S = 30.0
# Cases of each kind that are shown in full.
SHOWN = 5


@dataclass
class Answered:
    """All replies to one request id."""

    first_ms: int
    count: int = 0
    contents: dict[str, str] = field(default_factory=dict)
    statuses: set[str] = field(default_factory=set)
    status: str = ""
    outcome: str = ""


class ReplyBook:
    """Every reply on the default reply topic, read as they come or all at the end."""

    def __init__(self, brokers: str) -> None:
        self._log = TopicLog(brokers, REPLIES)
        self.answered: dict[str, Answered] = {}

    async def start(self) -> "ReplyBook":
        await self._log.start()
        return self

    async def stop(self) -> None:
        await self._log.stop()

    async def read(self, timeout_s: float = 0.5) -> int:
        """Take in what has come; how many records that was."""
        records = await self._log.poll(timeout_s)
        for record in records:
            reply = record.json()
            known = self.answered.setdefault(reply["request_id"], Answered(record.timestamp_ms))
            known.first_ms = min(known.first_ms, record.timestamp_ms)
            known.count += 1
            known.status = reply["status"]
            known.statuses.add(known.status)
            known.outcome = (reply["cache"] or {}).get("outcome") or ""
            known.contents.setdefault(
                _content(reply),
                f"at {record.timestamp_ms}: {known.status} {known.outcome}, {len(reply['results'])} results, "
                f"reply_id {reply['reply_id'][:8]}, warnings {reply['warnings']}",
            )
        return len(records)

    async def wait_for(self, requests: Mapping[str, Sent], timeout_s: float) -> None:
        """Until every request has a reply, or the time is over."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            await self.read()
            if all(name in self.answered for name in requests):
                while await self.read(1.0):  # repeated replies may still be on their way
                    pass
                return


def _content(reply: dict[str, Any]) -> str:
    """What has to be the same in every copy of a reply (contract §2)."""
    same = {name: reply[name] for name in ("reply_id", "status", "results", "context")}
    return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()


@dataclass
class Findings:
    """The numbers of one run. Money is micro-USD."""

    accepted: int = 0
    deliveries: int = 0
    unconfirmed: int = 0
    replies: int = 0
    by_status: Counter[str] = field(default_factory=Counter)
    by_outcome: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    repeated: int = 0
    doubled: list[str] = field(default_factory=list)
    changed_status: int = 0
    lake_requests: int = 0
    lake_copies: int = 0
    lake_missing: list[str] = field(default_factory=list)
    lake_twice: list[str] = field(default_factory=list)
    lake_attempts: int = 0
    unreadable_files: list[str] = field(default_factory=list)
    invoice_calls: int = 0
    invoice: int = 0
    ledger: int = 0
    lost_attempts: int = 0
    unknown_attempts: int = 0
    dearest_call: int = 0
    paid_twice: int = 0
    dead_letters: Counter[str] = field(default_factory=Counter)
    lag: dict[str, int] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)

    def broken(self) -> list[str]:
        """Which promises were not kept, one sentence each; empty when all were."""
        # A call that timed out or broke off may be billed or not; it is in the lake with a cost of null, as a lost one is.
        ceiling = self.ledger + (self.lost_attempts + self.unknown_attempts) * self.dearest_call
        checks = [
            (not self.lost, f"{len(self.lost)} accepted requests were never answered: {self.lost[:3]}"),
            (not self.late, f"{len(self.late)} were answered later than deadline and rebalance: {self.late[:3]}"),
            (not self.doubled, f"{len(self.doubled)} got two different replies: {self.doubled[:3]}"),
            (not self.lake_missing, f"{len(self.lake_missing)} are not in the lake: {self.lake_missing[:3]}"),
            (not self.lake_twice, f"{len(self.lake_twice)} have several rows in the lake: {self.lake_twice[:3]}"),
            (not self.unreadable_files, f"unreadable Parquet files: {self.unreadable_files[:3]}"),
            (self.ledger <= self.invoice, f"the ledger {self.ledger:,} is above the invoice {self.invoice:,}"),
            (self.invoice <= ceiling, f"the invoice {self.invoice:,} is above ledger and open calls {ceiling:,}"),
            (
                self.paid_twice <= self.lost_attempts + self.unknown_attempts,
                f"{self.paid_twice} answers were paid again, and only {self.lost_attempts} calls were lost and "
                f"{self.unknown_attempts} got no answer",
            ),
            (not self.dead_letters, f"dead letters nobody asked for: {dict(self.dead_letters)}"),
            (not any(self.lag.values()), f"records left unread: {self.lag}"),
        ]
        return [sentence for kept, sentence in checks if not kept]

    def table(self) -> str:
        """The numbers, a row each, for people."""
        rows: list[tuple[str, object]] = [
            ("requests accepted", f"{self.accepted:,}"),
            ("  delivered, with repeats of the same record", f"{self.deliveries:,}"),
            ("  sent and never confirmed (may be answered)", f"{self.unconfirmed:,}"),
            ("replies", f"{self.replies:,}"),
            ("  by status", _counted(self.by_status)),
            ("  by where from", _counted(self.by_outcome)),
            ("  same reply again", f"{self.repeated:,}"),
            ("LOST: no reply", f"{len(self.lost):,}"),
            ("LATE: after deadline and one rebalance", f"{len(self.late):,}"),
            ("DOUBLED: two different replies", f"{len(self.doubled):,}"),
            ("  of them grounded and ungrounded", f"{self.changed_status:,}"),
            ("lake: requests, each once", f"{self.lake_requests:,}"),
            ("  copies that the scan drops", f"{self.lake_copies:,}"),
            ("MISSING in the lake", f"{len(self.lake_missing):,}"),
            ("TWICE in the lake", f"{len(self.lake_twice):,}"),
            ("lake: vendor calls", f"{self.lake_attempts:,}"),
            ("invoice: vendor calls", f"{self.invoice_calls:,}"),
            ("ledger, micro-USD", f"{self.ledger:,}"),
            ("invoice, micro-USD", f"{self.invoice:,}"),
            ("calls a crash swallowed (lost)", f"{self.lost_attempts:,}"),
            ("calls without an answer (cost unknown)", f"{self.unknown_attempts:,}"),
            ("PAID TWICE: answers paid again", f"{self.paid_twice:,}"),
            ("dead letters", _counted(self.dead_letters) or "0"),
            ("LAG: records left unread", f"{sum(self.lag.values()):,}"),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name or '-'} {count:,}" for name, count in sorted(counter.items()))


async def check(
    brokers: str,
    vendors: str,
    lake: Path,
    load: SteadyLoad,
    *,
    patience_s: float = 90.0,
    grace_s: float = ONE_REBALANCE_S,
) -> Findings:
    """Wait until the run has come to rest (at most `patience_s`), then count.

    `grace_s` past its deadline an answer counts as late: one rebalance, and more where the only worker of a role was killed
    again and again.
    """
    findings = Findings(
        accepted=len(load.accepted),
        deliveries=sum(sent.deliveries for sent in load.accepted.values()),
        unconfirmed=len(load.unconfirmed - load.accepted.keys()),
    )
    book = await ReplyBook(brokers).start()
    try:
        await book.wait_for(load.accepted, patience_s)
    finally:
        await book.stop()
    _compare_replies(findings, load, book, grace_s)
    findings.lag = await _wait_for_no_lag(brokers, patience_s)
    await _wait_for_lake(lake, load, patience_s)
    _compare_lake(findings, load, lake)
    _compare_money(findings, vendors)
    findings.dead_letters = await _dead_letters(brokers)
    return findings


def _compare_replies(findings: Findings, load: SteadyLoad, book: ReplyBook, grace_s: float) -> None:
    for name, sent in load.accepted.items():
        answered = book.answered.get(name)
        if answered is None:
            findings.lost.append(name)
            continue
        findings.replies += answered.count
        findings.by_status[answered.status] += 1
        findings.by_outcome[answered.outcome] += 1
        findings.repeated += answered.count - len(answered.contents)
        if len(answered.contents) > 1:
            findings.doubled.append(name)
            findings.changed_status += len(answered.statuses) > 1
            if len(findings.doubled) <= SHOWN:
                findings.evidence += [f"doubled {name} {content}" for content in answered.contents.values()]
        if answered.first_ms > sent.first_sent_ms + (load.timeout_s + grace_s) * 1000:
            findings.late.append(name)


# ── the lake


def _rows(lake: Path, table: str, findings: Findings | None = None) -> pl.DataFrame:
    """Every row of every file that can be read, copies included."""
    frames = []
    for file in sorted((lake / table).glob("date=*/*.parquet")):
        try:
            frames.append(pl.read_parquet(file, hive_partitioning=False))
        except Exception as error:
            if findings is not None:
                findings.unreadable_files.append(f"{file.name}: {error}")
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()


async def _wait_for_lake(lake: Path, load: SteadyLoad, timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        rows = _rows(lake, "requests")
        if rows.height and load.accepted.keys() <= set(rows["request_id"].to_list()):
            await asyncio.sleep(6.0)  # a file is written every 5 s: the vendor calls of the last requests
            return
        await asyncio.sleep(1.0)


def _compare_lake(findings: Findings, load: SteadyLoad, lake: Path) -> None:
    requests = _rows(lake, "requests", findings)
    if requests.height:
        once = requests.unique("event_id")
        counted = Counter(once["request_id"].to_list())
        findings.lake_requests = once.height
        findings.lake_copies = requests.height - once.height
        findings.lake_missing = [name for name in load.accepted if name not in counted]
        findings.lake_twice = [name for name in load.accepted if counted[name] > 1]
    else:
        findings.lake_missing = list(load.accepted)
    attempts = _rows(lake, "attempts", findings)
    if attempts.height:
        # A call that was counted as lost and whose outcome came to light after all is one call: the outcome counts.
        once = attempts.sort(pl.col("outcome") == "lost").unique("event_id", keep="first", maintain_order=True)
        called = once.filter(pl.col("outcome") != "skipped")
        findings.lake_attempts = called.height
        findings.lost_attempts = called.filter(pl.col("outcome") == "lost").height
        findings.unknown_attempts = called.filter(
            pl.col("outcome") != "lost", pl.col("cost_micro_usd").is_null()
        ).height
        findings.ledger = int(called["cost_micro_usd"].sum() or 0)
        findings.dearest_call = int(called["cost_micro_usd"].max() or 0)  # type: ignore[arg-type]
        _show_paid_twice(findings, requests, called)


def _show_paid_twice(findings: Findings, requests: pl.DataFrame, called: pl.DataFrame) -> None:
    """When and how the calls went that asked one vendor the same question again."""
    asked = called.join(requests.unique("event_id").select("request_id", "query"), on="request_id", how="left")
    again = asked.group_by("provider", "query").agg(pl.len(), pl.col("started_at", "outcome", "request_id"))
    for row in again.filter(pl.col("len") > 1).sort("query").head(SHOWN).iter_rows(named=True):
        calls = zip(row["started_at"], row["outcome"], row["request_id"], strict=True)
        findings.evidence.append(
            f"paid twice {row['query']!r}: "
            + "; ".join(f"{at:%H:%M:%S.%f} {how} for {name}" for at, how, name in sorted(calls))
        )


# ── the money


def _compare_money(findings: Findings, vendors: str) -> None:
    invoice = _control(vendors, "invoice")
    findings.invoice = invoice["total_micro_usd"]
    findings.invoice_calls = sum(line["calls"] for line in invoice["providers"].values())
    repeated = _control(vendors, "calls?limit=1000000")["repeated"]
    findings.paid_twice = sum(count - 1 for count in repeated.values())


def _control(vendors: str, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{vendors}/_control/{path}", timeout=60) as answer:
        document: dict[str, Any] = json.load(answer)
        return document


# ── the topics


async def _dead_letters(brokers: str) -> Counter[str]:
    log = await TopicLog(brokers, DEAD_LETTERS).start()
    reasons: Counter[str] = Counter()
    try:
        while records := await log.poll(1.0):
            reasons.update(record.json()["reason"] for record in records)
    finally:
        await log.stop()
    return reasons


async def lag_of_groups(brokers: str) -> dict[str, int]:
    """`group topic` → records not yet committed, for each of Groundwire's groups that has committed anything."""
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    consumer = AIOKafkaConsumer(bootstrap_servers=brokers)
    await admin.start()
    await consumer.start()
    lag: Counter[str] = Counter()
    try:
        groups = [name for name, *_ in await admin.list_consumer_groups() if name.startswith("groundwire.")]
        for group in groups:
            committed = await admin.list_consumer_group_offsets(group)
            partitions = [TopicPartition(*partition) for partition in committed]
            ends = await consumer.end_offsets(partitions) if partitions else {}
            for partition, position in committed.items():
                lag[f"{group} {partition.topic}"] += ends[TopicPartition(*partition)] - max(position.offset, 0)
    finally:
        await consumer.stop()
        await admin.close()
    return dict(lag)


async def _wait_for_no_lag(brokers: str, timeout_s: float) -> dict[str, int]:
    end = time.monotonic() + timeout_s
    while any((lag := await lag_of_groups(brokers)).values()) and time.monotonic() < end:
        await asyncio.sleep(1.0)
    return {name: count for name, count in lag.items() if count}


# ── as a command


async def _drive(arguments: argparse.Namespace) -> Findings:
    load = SteadyLoad(arguments.brokers, arguments.rate, name=f"check{int(time.time())}")
    stop = asyncio.Event()
    running = asyncio.create_task(load.run(stop))
    await asyncio.sleep(arguments.seconds)
    stop.set()
    await running
    return await check(arguments.brokers, arguments.vendors, arguments.lake, load)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True)
    parser.add_argument(
        "--vendors", required=True, help="address of the vendors' stand-ins, as `groundwire sandbox` says"
    )
    parser.add_argument("--lake", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=100.0, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    findings = asyncio.run(_drive(parser.parse_args()))
    print(findings.table())
    for sentence in findings.broken():
        print(f"BROKEN: {sentence}")
    return 1 if findings.broken() else 0


if __name__ == "__main__":
    sys.exit(main())
