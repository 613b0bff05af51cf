"""Does the ledger equal the vendors' invoice, when everything goes wrong that can?

    python bench/ledger.py [--calls N] [--window W] [--crash-every N] [--seed S]

The real fetch stage (chain, retries, hedging, breaker, limits, single flight) asks all sixteen vendors through the real
adapters; the vendors are the sandbox, a process of its own that answers at once and spoils one call in ten. A log in memory
stands for Kafka. Again and again the worker dies as if killed: whatever it was doing ends, what it had published stays, and a
new one reads the log's tail and gets every request again that had not been committed.

The ledger is the sum of the attempt events, each id once. Its open ends are calls whose cost nobody on our side of the wire
can know: answers that never came or could not be read (`unknown`), calls that a crash swallowed (`lost`), and losers of a
hedge (`broken off`, booked at list price). Each of them is looked up in the sandbox's own list of calls, one by one; every
other attempt has to be there at exactly the price it was booked with, and no call may be there that nobody began. Then

    ledger − estimates of broken-off calls + what the open ones turn out to have cost = invoice, to the micro-dollar

for each vendor. Exit code 1 when it is not so.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundwire.adapters.registry import Registry
from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.event import AttemptEvent
from groundwire.schemas.lookup import Fetch, Lookup
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import EVENTS, FETCHES, LOOKUPS, PAYLOADS, REQUESTS
from groundwire.streams.runtime.configuration import load_settings
from groundwire.streams.stages.fetch import FetchStage
from groundwire.streams.stages.normalize import Normalize

# Per cent of requests that ask this vendor first.
SHARES = {
    **{
        "serper": 16,
        "brightdata": 10,
        "tavily": 10,
        "exa": 8,
        "firecrawl": 7,
        "brave": 7,
        "searxng": 6,
        "wikipedia": 6,
    },
    **{"perplexity": 5, "google_pse": 5, "linkup": 4, "you": 4, "jina": 4, "anthropic": 3, "openai": 3, "gemini": 2},
}

# Per cent of calls. `billed`: the vendor takes the money although its answer never came whole.
FAULTS: list[tuple[float, dict[str, Any]]] = [
    *((0.5, {"kind": "status", "status": status}) for status in (500, 503, 408)),
    *((0.4, {"kind": kind}) for kind in ("rate_limit", "quota", "auth", "masked", "key_echo", "html", "empty_body")),
    *((0.3, {"kind": kind}) for kind in ("truncated", "wrong_types", "null_values", "redirect", "reset", "close")),
    *((0.2, {"kind": kind, "billed": True}) for kind in ("truncated", "html", "reset", "close")),
    (0.1, {"kind": "hang", "billed": True}),
    (0.1, {"kind": "hang"}),
    (1.5, {"kind": "empty_results"}),
    (1.0, {"kind": "gzip"}),
    (0.2, {"kind": "drip", "seconds": 0.005}),
    (1.0, {"kind": "slow", "seconds": 0.15}),
]

SETTINGS: dict[str, Any] = {
    "retry": {"max_per_provider": 1, "backoff_s": 0.02, "retry_after_cap_s": 0.05},
    "hedging": {"enabled": True, "max_extra_cost": 0.05, "min_samples": 50},
    "breaker": {"window_s": 5.0, "open_s": 0.5},
    "fetch": {"recent_s": 2.0},
}
OF_EACH_PROVIDER = {"timeout_s": 1.5, "requests_per_s": 150.0, "api_keys": ["bench-one", "bench-two"]}

TAIL_RECORDS = 2_000  # as a worker reads it
COMMIT_EVERY = 40
# The sandbox keeps the newest 2,000 calls in full: they are fetched well before they are gone.
LOOK_EVERY_CALLS = 900
OUTAGE_EVERY_S = 4.0
OUTAGE_S = 1.0
REQUEST_ID = re.compile(rb'"request_id":"([^"]+)"')
TOKEN = re.compile(r"\bask\d{7}\b")

SUBJECTS = (
    "how tall is the eiffel tower",
    "python vs java for servers",
    "what is kimchi made of",
    "latest news on electric cars",
    "서울에서 부산까지 거리",
    "boiling point of water at high altitude",
)


@dataclass(slots=True)
class VendorLine:
    """One vendor's line of the table. Money is micro-USD."""

    calls: int = 0
    billed: int = 0
    invoice: int = 0
    ledger: int = 0
    estimated: int = 0
    looked_up: int = 0
    open: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def difference(self) -> int:
        return self.ledger - self.estimated + self.looked_up - self.invoice


class SandboxProcess:
    """The vendors, and every call they got."""

    def __init__(self, seed: int) -> None:
        command = [sys.executable, "-m", "groundwire.adapters.sandbox", "--median-ms", "0", "--json", "--with-parent"]
        self._process = subprocess.Popen([*command, "--seed", str(seed)], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        started = json.loads(self._process.stdout.readline())
        self.address: str = started["address"]
        self.environment: dict[str, str] = started["environment"]
        self.calls: set[tuple[Any, ...]] = set()

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(
            urllib.request.Request(f"{self.address}/_control/{path}", data), timeout=60
        ) as answer:
            return json.load(answer)

    def look(self) -> int:
        """Take in the newest calls; gives how many have arrived in all."""
        seen = self.ask("calls?limit=2000")
        self.calls.update(tuple(call.values()) for call in seen["calls"])
        return int(seen["count"])

    def look_until_all_are_in(self, patience_s: float = 10.0) -> int:
        """Calls that hang are listed when their client has left."""
        until = time.monotonic() + patience_s
        while (arrived := self.look()) != len(self.calls) and time.monotonic() < until:
            time.sleep(0.2)
        return arrived

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)


class Log:
    """What outlives a worker: the payload log's tail, and the attempt events by id."""

    def __init__(self) -> None:
        self.payloads: deque[InboundRecord] = deque(maxlen=TAIL_RECORDS)
        self.events: dict[str, AttemptEvent] = {}
        self.answered: set[str] = set()
        self.marked = 0
        self.copies = 0
        self.unequal = 0
        self.shared = 0

    def append(self, records: Sequence[OutboundRecord]) -> None:
        for record in records:
            if record.topic == PAYLOADS.name:
                self._payload(record)
            elif record.topic == EVENTS.name:
                self._event(AttemptEvent.decode(record.value))

    def _payload(self, record: OutboundRecord) -> None:
        now_ms = time.time_ns() // 1_000_000
        self.payloads.append(InboundRecord(record.topic, 0, 0, record.key, record.value, (), now_ms))
        # Thousands a minute, of which only two words are wanted here: decoding them would be most of the bench's own work.
        if b'"kind":"begun"' in record.value[:200]:
            self.marked += 1
            return
        self.shared += b'"kind":"shared"' in record.value[:200]
        request_id = REQUEST_ID.search(record.value)
        assert request_id is not None
        self.answered.add(request_id[1].decode())

    def _event(self, event: AttemptEvent) -> None:
        first = self.events.setdefault(event.event_id, event)
        self.copies += first is not event
        self.unequal += first != event


class Worker:
    """A fetch worker until it dies. What a dead one still wants to publish never arrives."""

    def __init__(self, registry: Registry, settings: Settings, log: Log) -> None:
        self._log = log
        self._dead = False
        self._last_words: int | None = None
        self.died = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.stage = FetchStage(registry, self.publish, settings, ttl_s)
        self.stage.restore(log.payloads)

    def die_after(self, publishings: int) -> None:
        self._last_words = publishings

    async def publish(self, records: Sequence[OutboundRecord]) -> None:
        if self._last_words is not None:
            self._last_words -= 1
            if self._last_words <= 0:
                self.died.set()
                if random.random() < 0.5:
                    await self._never()
        await asyncio.sleep(0)
        if self._dead:
            await self._never()
        self._log.append(records)
        await asyncio.sleep(0)

    async def serve(self, record: InboundRecord) -> None:
        outputs = await self.stage(record)
        await self.publish(outputs)

    async def kill(self) -> None:
        self._dead = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    @staticmethod
    async def _never() -> None:
        await asyncio.get_running_loop().create_future()


class Run:
    """Requests without end, until the vendors have had so many calls."""

    def __init__(
        self, given: argparse.Namespace, sandbox: SandboxProcess, settings: Settings, registry: Registry
    ) -> None:
        self.given = given
        self.sandbox = sandbox
        self.settings = settings
        self.registry = registry
        self.log = Log()
        self.normalize = Normalize(settings, registry)
        self.random = random.Random(given.seed)
        self.asked = 0
        self.crashes = 0
        self.redelivered = 0
        self._uncommitted: OrderedDict[int, InboundRecord] = OrderedDict()
        self._finished: set[int] = set()
        self._newest: deque[dict[str, Any]] = deque(maxlen=30)
        self._looked_at = 0
        self._looking: asyncio.Task[int] | None = None

    async def go(self) -> None:
        outages = asyncio.create_task(self._outages())
        fresh = self._requests()
        redeliver: deque[int] = deque()
        worker = self._started()
        began = time.monotonic()
        while self.log.marked < self.given.calls or self._uncommitted or worker.tasks:
            while len(worker.tasks) < self.given.window:
                if redeliver:
                    number = redeliver.popleft()
                elif self.log.marked < self.given.calls:
                    number, self._uncommitted[number] = next(fresh)
                else:
                    break
                self._begin(worker, number)
            dying = asyncio.ensure_future(worker.died.wait())
            await asyncio.wait({*worker.tasks, dying}, return_when=asyncio.FIRST_COMPLETED)
            dying.cancel()
            if worker.died.is_set():
                await worker.kill()
                self.crashes += 1
                redeliver = deque(self._uncommitted)
                self.redelivered += len(redeliver)
                self._finished.clear()
                worker = self._started()
            last = self.log.marked >= self.given.calls
            if len(self._finished) >= COMMIT_EVERY or last:
                for number in self._finished:
                    self._uncommitted.pop(number, None)
                self._finished.clear()
            await self._look(began)
        outages.cancel()
        await asyncio.gather(outages, *([self._looking] if self._looking else []), return_exceptions=True)

    def _started(self) -> Worker:
        worker = Worker(self.registry, self.settings, self.log)
        if self.log.marked < self.given.calls:
            worker.die_after(1 + int(self.random.expovariate(1 / self.given.crash_every)))
        return worker

    def _begin(self, worker: Worker, number: int) -> None:
        task = asyncio.create_task(worker.serve(self._uncommitted[number]))
        worker.tasks.add(task)

        def ended(done: asyncio.Task[None]) -> None:
            worker.tasks.discard(done)
            if not done.cancelled():
                done.result()
                self._finished.add(number)

        task.add_done_callback(ended)

    async def _look(self, began: float) -> None:
        if self.log.marked - self._looked_at < LOOK_EVERY_CALLS:
            return
        if self._looking is not None:
            await self._looking
        self._looked_at = self.log.marked
        self._looking = asyncio.create_task(asyncio.to_thread(self.sandbox.look))
        if sys.stderr.isatty():
            rate = self.log.marked / (time.monotonic() - began)
            sys.stderr.write(f"\r{self.log.marked:,} calls, {rate:.0f}/s, {self.crashes} crashes ")

    async def _outages(self) -> None:
        """One vendor after the other is down for a moment, long enough for its breaker to open."""
        while True:
            await asyncio.sleep(OUTAGE_EVERY_S)
            vendor = self.random.choice(list(SHARES))
            await asyncio.to_thread(self.sandbox.ask, "off", {"vendor": vendor, "status": 503})
            await asyncio.sleep(OUTAGE_S)
            await asyncio.to_thread(self.sandbox.ask, "on", {"vendor": vendor})

    def _requests(self) -> Iterator[tuple[int, InboundRecord]]:
        while True:
            self.asked += 1
            yield self.asked, self._planned(self.asked)

    def _planned(self, number: int) -> InboundRecord:
        """A request as the stages before fetch leave it."""
        # One in ten asks again what another asks at this moment, or has just asked.
        if self._newest and self.random.random() < 0.1:
            asked = {**self.random.choice(self._newest)}
        else:
            asked = self._question(number)
            self._newest.append(asked)
        asked |= {"request_id": f"{TOKEN.findall(asked['query'])[0]}-{number}"}
        asked |= {"cache": self.random.choices(("use", "refresh", "bypass"), (90, 5, 5))[0]}
        now_ms = time.time_ns() // 1_000_000
        record = InboundRecord(REQUESTS.name, 0, number, None, json.dumps(asked).encode(), (), now_ms)
        (lookup,) = self.normalize(record, now_ms)
        if lookup.topic != LOOKUPS.name:
            raise SystemExit(f"a request of the bench was refused: {lookup.value!r}")
        fetch = Fetch(plan=Lookup.decode(lookup.value).plan, lookup_ms=0.1).encode()
        return InboundRecord(FETCHES.name, 0, number, lookup.key, fetch, (), now_ms)

    def _question(self, number: int) -> dict[str, Any]:
        first, *others = self.random.choices(list(SHARES), list(SHARES.values()), k=3)
        asked: dict[str, Any] = {
            "query": f"{self.random.choice(SUBJECTS)} ask{number:07}",
            "providers": list(dict.fromkeys([first, *others])),
            "depth": self.random.choice((1, 3, 5, 5, 5, 10, 15, 20)),
            "timeout_s": 60,
        }
        if self.random.random() < 0.1:
            asked |= {"language": "ko", "country": "KR"}
        if self.random.random() < 0.1:
            asked["filters"] = {"exclude_domains": ["nowhere.example"]}
        return asked


def compared(run: Run) -> dict[str, VendorLine]:
    """Attempts against calls, question by question."""
    lines = {name: VendorLine() for name in SHARES}
    calls: dict[tuple[str, str], list[int]] = {}
    for vendor, query, _, billed, *_ in run.sandbox.calls:
        token = TOKEN.search(query or "")
        if token is None:
            lines[vendor].wrong.append(f"a call for a question that nobody asked: {query!r}")
            continue
        calls.setdefault((vendor, token[0]), []).append(billed or 0)
    attempts: dict[tuple[str, str], list[AttemptEvent]] = {}
    for event in run.log.events.values():
        lines[event.provider].ledger += event.cost_micro_usd or 0
        if event.outcome != "skipped":
            attempts.setdefault((event.provider, event.request_id.partition("-")[0]), []).append(event)
    for place in calls.keys() | attempts.keys():
        _match(lines[place[0]], place[1], attempts.get(place, []), sorted(calls.get(place, [])))
    for vendor, line in run.sandbox.ask("invoice")["providers"].items():
        lines[vendor].calls, lines[vendor].billed, lines[vendor].invoice = line.values()
    return lines


def _match(line: VendorLine, question: str, attempts: list[AttemptEvent], calls: list[int]) -> None:
    """Take each call that an attempt accounts for off the list; what is left belongs to the open ends."""
    open_ends = 0
    for event in sorted(attempts, key=lambda event: event.cost_micro_usd or 0):
        kind = _open_end(event)
        if kind is not None:
            open_ends += 1
            line.open[kind] += 1
            line.estimated += event.cost_micro_usd or 0
        elif event.cost_micro_usd in calls:
            calls.remove(event.cost_micro_usd or 0)
        elif event.cost_micro_usd or event.status_code is not None:
            line.wrong.append(
                f"{question}: {event.outcome} booked at {event.cost_micro_usd}, the vendor billed {calls}"
            )
    line.looked_up += sum(calls)
    if len(calls) > open_ends:
        line.wrong.append(f"{question}: {len(calls)} calls left for {open_ends} attempts of open cost")


def _open_end(event: AttemptEvent) -> str | None:
    if event.outcome == "lost":
        return "lost"
    if event.cost_micro_usd is None:
        return "unknown"
    return "broken off" if (event.reason or "").startswith("broken off") else None


def show(lines: dict[str, VendorLine]) -> VendorLine:
    """The table; gives the sums."""
    head = (
        "provider",
        "calls",
        "billed",
        "ledger",
        "invoice",
        "unknown",
        "lost",
        "broken off",
        "estimated",
        "looked up",
    )
    print("| " + " | ".join((*head, "difference")) + " |")
    print("|---|" + "---:|" * len(head))
    total = VendorLine()
    for line in lines.values():
        for name in ("calls", "billed", "invoice", "ledger", "estimated", "looked_up"):
            setattr(total, name, getattr(total, name) + getattr(line, name))
        total.open.update(line.open)
        total.wrong.extend(line.wrong)
    for name, line in [*lines.items(), ("**all**", total)]:
        cells = [f"{line.calls:,}", f"{line.billed:,}", _usd(line.ledger), _usd(line.invoice)]
        cells += [f"{line.open[kind]:,}" for kind in ("unknown", "lost", "broken off")]
        cells += [_usd(line.estimated), _usd(line.looked_up), _usd(line.difference)]
        print("| " + " | ".join((name, *cells)) + " |")
    return total


def _usd(micro: int) -> str:
    return f"{micro / 1_000_000:.6f}".rstrip("0").rstrip(".")


def report(run: Run, seconds: float) -> bool:
    arrived = run.sandbox.look_until_all_are_in()
    lines = compared(run)
    total = show(lines)
    events = run.log.events.values()
    reasons = Counter(
        (event.reason or "").split(":")[0].split(" for ")[0] for event in events if event.outcome == "skipped"
    )
    passed = ", ".join(f"{reason} {number:,}" for reason, number in reasons.most_common(5))
    retried = sum(event.attempt > 0 for event in events)
    print(
        f"\n{run.asked:,} requests, {len(run.log.answered):,} answered ({run.log.shared:,} without a call of their own); "
        f"{run.crashes:,} crashes, {run.redelivered:,} requests delivered again, {run.log.copies:,} copies of events; "
        f"{retried:,} attempts after the first, {sum(event.hedged for event in events):,} of them hedges; "
        f"passed over: {passed or 'none'}; {seconds:.0f} s"
    )
    for problem in total.wrong[:20]:
        print(f"wrong: {problem}")
    checks = {
        "every call of the sandbox was looked at": arrived == len(run.sandbox.calls) == total.calls,
        "every request was answered": len(run.log.answered) == run.asked,
        "copies of an event say the same": run.log.unequal == 0,
        "every attempt of known cost is on the invoice at that cost, and nothing else is": not total.wrong,
        "ledger without estimates ≤ invoice": all(
            line.ledger - line.estimated <= line.invoice for line in lines.values()
        ),
        "no vendor differs": all(line.difference == 0 for line in lines.values()),
    }
    for what, holds in checks.items():
        print(f"{'ok   ' if holds else 'WRONG'} {what}")
    settled = total.ledger - total.estimated + total.looked_up
    print(
        f"ratio: ledger / invoice {total.ledger / total.invoice:.6f} as booked, "
        f"{settled / total.invoice:.6f} with the open ends looked up"
    )
    return all(checks.values())


async def bench(given: argparse.Namespace) -> bool:
    random.seed(given.seed)
    sandbox = SandboxProcess(given.seed)
    try:
        faults = [{"vendor": "*", "probability": share / 100, **fault} for share, fault in FAULTS]
        sandbox.ask("faults", faults)
        overrides = {**SETTINGS, "providers": dict.fromkeys(SHARES, OF_EACH_PROVIDER)}
        settings = load_settings(environ=sandbox.environment, overrides=overrides)
        registry = Registry.load(settings, sandbox.environment)
        run = Run(given, sandbox, settings, registry)
        began = time.monotonic()
        await run.go()
        seconds = time.monotonic() - began
        await registry.aclose()
        return report(run, seconds)
    finally:
        sandbox.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--window", type=int, default=96, help="requests under way at once")
    parser.add_argument("--crash-every", type=int, default=10_000, help="records published between crashes, on average")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(0 if asyncio.run(bench(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
