"""Minutes of mixed load with faulty vendors on a real Kafka: what was answered, lost, doubled, paid twice, and who grows.

    make test-kafka            # once: brings Kafka's jars
    .venv/bin/python bench/soak.py --minutes 15

Starts its own broker, vendors and one worker of each role, on loopback and in a temporary folder. A third of the requests are
repeats. Vendors fail now and then in the ways vendors do. With --kills each role is killed that often as well. Memory is
measured every five seconds; its slope is fitted over the second half, when caches and pools have filled. Exit code 1 when
something was lost, doubled, paid twice or left unread.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "kafka"))

from checker import Findings, check
from harness.chaos import Done, Plan, break_things
from harness.cluster import Cluster, missing
from harness.load import SteadyLoad
from harness.pipeline import ROLES, Pipeline

SAMPLE_EVERY_S = 5.0
# Failures are free of charge at these vendors, so that the ledger still has to meet the invoice.
FAULTS: tuple[dict[str, object], ...] = (
    {"vendor": "serper", "kind": "status", "status": 500, "probability": 0.02},
    {"vendor": "serper", "kind": "rate_limit", "retry_after": "1", "probability": 0.005},
    {"vendor": "serper", "kind": "reset", "probability": 0.01},
    {"vendor": "tavily", "kind": "html", "probability": 0.05},
    {"vendor": "tavily", "kind": "close", "probability": 0.05},
)


@dataclass
class Watch:
    """What is seen while the load runs: memory by role, and each billed call of a vendor."""

    memory: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {role: [] for role in ROLES})
    billed: dict[tuple[str, str, float], int] = field(default_factory=dict)

    async def run(self, pipeline: Pipeline, stop: asyncio.Event) -> None:
        begun, due = time.monotonic(), 0.0
        while not stop.is_set():
            await asyncio.to_thread(self.note_bills, pipeline.vendors.address)
            if time.monotonic() >= due:
                due = time.monotonic() + SAMPLE_EVERY_S
                for role, workers in pipeline.workers.items():
                    self.memory[role].append((time.monotonic() - begun, sum(worker.rss_mib() for worker in workers)))
            await asyncio.sleep(1.0)

    def note_bills(self, vendors: str) -> None:
        """The newest calls in full; asked for often enough that none falls out between two looks."""
        with urllib.request.urlopen(f"{vendors}/_control/calls?limit=2000", timeout=30) as answer:
            for call in json.load(answer)["calls"]:
                if call["billed_micro_usd"]:
                    self.billed[(call["vendor"], call["query"], call["at"])] = call["billed_micro_usd"]

    def paid_twice(self) -> int:
        counted = Counter((vendor, query) for vendor, query, _ in self.billed)
        return sum(count - 1 for count in counted.values())

    def table(self) -> str:
        rows = [f"{'memory':<14} {'first':>8} {'last':>8} {'peak':>8} {'slope, MiB an hour':>20}"]
        for role, samples in self.memory.items():
            values = [mib for _, mib in samples]
            if values:
                rows.append(
                    f"{role:<14} {values[0]:>8.0f} {values[-1]:>8.0f} {max(values):>8.0f} {_slope(samples) * 3600:>20.1f}"
                )
        return "\n".join(rows)


def _slope(samples: list[tuple[float, float]]) -> float:
    """MiB a second, least squares over the second half."""
    half = samples[len(samples) // 2 :]
    if len(half) < 2:
        return 0.0
    mean_t = sum(t for t, _ in half) / len(half)
    mean_v = sum(v for _, v in half) / len(half)
    spread = sum((t - mean_t) ** 2 for t, _ in half)
    return sum((t - mean_t) * (v - mean_v) for t, v in half) / spread if spread else 0.0


async def soak(folder: Path, minutes: float, rate: float, kills: int) -> tuple[Findings, Watch, Done]:
    with Cluster(folder / "kafka") as cluster, Pipeline(folder / "road", cluster.brokers, median_ms=300) as pipeline:
        pipeline.start_all()
        for fault in FAULTS:
            pipeline.vendors.fault(**fault)
        load = SteadyLoad(cluster.brokers, rate, providers=["serper", "tavily", "exa"], name="soak")
        watch, done, stop, stop_watching = Watch(), Done(), asyncio.Event(), asyncio.Event()
        running, watching = asyncio.create_task(load.run(stop)), asyncio.create_task(watch.run(pipeline, stop_watching))
        end = time.monotonic() + minutes * 60
        if kills:
            each_s = minutes * 60 / (kills * len(ROLES)) - 4.0  # a successor takes about that long until it is ready
            done = await break_things(pipeline, cluster, Plan(kills_per_role=kills, pause_s=max(1.0, each_s)))
        await asyncio.sleep(max(0.0, end - time.monotonic()))
        stop.set()
        await running
        findings = await check(cluster.brokers, pipeline.vendors.address, pipeline.lake, load, patience_s=120)
        stop_watching.set()
        await watching
        watch.note_bills(pipeline.vendors.address)
        # A question may reach one vendor again when the first call failed and cost nothing: only bills count here.
        findings.paid_twice = watch.paid_twice()
        return findings, watch, done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rate", type=float, default=50.0, help="requests a second")
    parser.add_argument("--kills", type=int, default=0, help="kill -9 of each role")
    arguments = parser.parse_args()
    lacking = missing()
    if lacking is not None:
        print(f"soak: {lacking}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="groundwire-soak-") as folder:
        findings, watch, done = asyncio.run(soak(Path(folder), arguments.minutes, arguments.rate, arguments.kills))
    print(
        f"{arguments.minutes:g} minutes at {arguments.rate:g} requests a second\n\n{findings.table()}\n\n{watch.table()}"
    )
    if done.counts:
        print(f"\n{done.table()}")
    for sentence in findings.broken():
        print(f"BROKEN: {sentence}")
    answered = findings.accepted - len(findings.lost)
    print(
        f"\nsent {findings.accepted:,}, answered {answered:,}, lost {len(findings.lost)}, doubled {len(findings.doubled)}, "
        f"paid twice {findings.paid_twice}; ratio answered to sent {answered / max(1, findings.accepted):.4f}"
    )
    return 1 if findings.broken() else 0


if __name__ == "__main__":
    sys.exit(main())
