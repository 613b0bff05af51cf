"""Stand-ins for what the stages need from the rest of the house, and short ways to make their records."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundwire.adapters.call import FREE, CallOutcome, Cost, MappedResult, ProviderCall, StorageTerms
from groundwire.adapters.errors import BadAnswer
from groundwire.adapters.spec import ProviderSpec
from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.cache_write import CacheEntry, CacheWrite
from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.lookup import Fetch, Lookup
from groundwire.schemas.payload import Payload
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.record import Headers, InboundRecord, OutboundRecord
from groundwire.schemas.reply import AttemptOutcome, SearchReply
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES, DEAD_LETTERS, EVENTS, FETCHES, LOOKUPS, PAYLOADS, REQUESTS
from groundwire.streams.stages.fetch import FetchStage
from groundwire.streams.stages.lookup import LookupStage
from groundwire.streams.stages.normalize import Normalize
from groundwire.streams.stages.serving_terms import ServingTerms
from groundwire.streams.stages.unify import Unify

# Tuesday, 1 December 2026, 12:00 UTC.
NOON_MS = 1_796_126_400_000
DAY_MS = 86_400_000

KEEP_A_WEEK = StorageTerms(allowed=True, max_ttl_s=7 * 86_400, shareable=True, terms_url=None, read_on=None)
KEEP_NOTHING = StorageTerms(allowed=False, max_ttl_s=0, shareable=True, terms_url=None, read_on=None)
KEEP_FOR_ONE_TENANT = StorageTerms(allowed=True, max_ttl_s=86_400, shareable=False, terms_url=None, read_on=None)


def spec(name: str, **changes: Any) -> ProviderSpec:
    return ProviderSpec.model_validate(
        {
            "name": name,
            "title": name.title(),
            "about": "a vendor of the tests",
            "request": {"base_url": "https://vendor.example"},
            "answer": {"recognise": ["rows"], "results": "rows", "url": "url", "title": "title", "body": "body"},
            "price": {},
            **changes,
        }
    )


@dataclass
class Options:
    options: dict[str, str] = field(default_factory=dict)


Script = Callable[[ProviderCall, float], Awaitable[CallOutcome]]


class FakeProvider:
    """A vendor that does what its script says; by default it answers at once with two rows about the query."""

    def __init__(
        self,
        name: str,
        *,
        script: Script | None = None,
        storage: StorageTerms = KEEP_A_WEEK,
        missing: str | None = None,
        unfit: str | None = None,
        max_depth: int = 10,
        price: int | None = 1_000,
        timeout_s: float = 8.0,
        warnings: Sequence[str] = (),
        keys: int = 1,
        requests_per_s: float | None = None,
        max_concurrency: int | None = None,
        spec_changes: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.spec = spec(name, **(spec_changes or {}))
        self.adapter = Options()
        self.storage = storage
        self.timeout_s = timeout_s
        self.requests_per_s = requests_per_s
        self.max_concurrency = max_concurrency
        self.key_count = keys
        self.fresh_keys = keys
        self.calls: list[tuple[ProviderCall, float]] = []
        self._script = script or self._answer
        self._missing = missing
        self._unfit = unfit
        self._max_depth = max_depth
        self.price = price
        self._warnings = list(warnings)

    def unavailable(self) -> str | None:
        return self._missing

    def unfit(self, call: ProviderCall) -> str | None:
        return self._missing or self._unfit

    def clamp_depth(self, depth: int) -> int:
        return min(depth, self._max_depth)

    def warnings(self, call: ProviderCall) -> list[str]:
        return self._warnings

    def price_micro_usd(self, call: ProviderCall) -> int | None:
        return self.price

    def has_another_key(self) -> bool:
        return self.fresh_keys > 0

    async def call(self, call: ProviderCall, timeout_s: float) -> CallOutcome:
        self.calls.append((call, timeout_s))
        return await self._script(call, timeout_s)

    def results(self, body: str, call: ProviderCall, received_at_ms: int) -> list[MappedResult]:
        try:
            rows = json.loads(body)["rows"]
        except (ValueError, KeyError, TypeError):
            raise BadAnswer("not the documented shape") from None
        return [MappedResult(row["title"], row["url"], row["body"], None, None) for row in rows][: call.depth]

    async def _answer(self, call: ProviderCall, timeout_s: float) -> CallOutcome:
        return answered(self.name, call.query, price=self.price)


def body_about(name: str, query: str, rows: int = 2) -> str:
    return json.dumps(
        {
            "rows": [
                {
                    "title": f"{query} {n}",
                    "url": f"https://{name}.example/{n}",
                    "body": f"{name} says {n} about {query}",
                }
                for n in range(1, rows + 1)
            ]
        }
    )


def answered(name: str, query: str, *, rows: int = 2, price: int | None = 1_000) -> CallOutcome:
    body = body_about(name, query, rows)
    cost = Cost(price, "price_list" if price is not None else "unknown")
    return CallOutcome("ok", None, 200, 12.0, cost, "application/json", body, len(body), rows, None)


def failed(
    outcome: AttemptOutcome,
    reason: str | None = None,
    *,
    status: int | None = 500,
    cost: Cost = FREE,
    retry_after_s: float | None = None,
    body: str | None = None,
) -> CallOutcome:
    size = len(body) if body else 0
    return CallOutcome(outcome, reason or outcome, status, 5.0, cost, "application/json", body, size, 0, retry_after_s)


def always(outcome: CallOutcome) -> Script:
    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        return outcome

    return script


def one_after_the_other(name: str, *outcomes: CallOutcome) -> Script:
    left = list(outcomes)

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        return left.pop(0) if left else answered(name, call.query)

    return script


def after(seconds: float, outcome: CallOutcome | None = None, name: str = "slow") -> Script:
    """Answers late, and gives up at its timeout as a real adapter does."""

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        await asyncio.sleep(min(seconds, timeout_s))
        if seconds > timeout_s:
            return failed("timeout", f"no answer within {timeout_s:.2f} s", status=None, cost=Cost(None, "unknown"))
        return outcome or answered(name, call.query)

    return script


class FakeDirectory:
    def __init__(self, *providers: FakeProvider) -> None:
        self.providers = {provider.name: provider for provider in providers}

    def get(self, name: str) -> FakeProvider:
        return self.providers[name]

    def names(self) -> list[str]:
        return list(self.providers)


class FakeCache:
    """The exact tier as a dictionary, fed with the cache writes that stages publish."""

    def __init__(self) -> None:
        self.entries: dict[str, CacheEntry] = {}
        self.asked: list[str] = []
        self.patience_s = 0.0
        self.broken = False

    async def exact(self, cache_key: str, now_ms: int, *, stale_s: int = 0, patience_s: float) -> CacheEntry | None:
        self.asked.append(cache_key)
        self.patience_s = patience_s
        if self.broken:
            raise OSError("the disk is gone")
        entry = self.entries.get(cache_key)
        return entry if entry is not None and entry.expires_at_ms + stale_s * 1000 > now_ms else None

    def apply(self, write: CacheWrite) -> None:
        assert write.entry is not None
        self.entries[write.entry.cache_key] = write.entry


class FakeEmbedder:
    model = "fake"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, text: str) -> list[float]:
        self.texts.append(text)
        return [1.0, 0.0, 0.5]


@dataclass
class Match:
    entry: CacheEntry
    similarity: float = 0.97
    probability: float = 0.995
    reason: str = "same numbers, same order"


class FakeSemantic:
    """Finds what it is told to, per provider."""

    def __init__(self) -> None:
        self.matches: dict[str, Match] = {}
        self.asked: list[tuple[str, str, int | None]] = []
        self.delay_s = 0.0
        self.broken = False

    def reads(self, query: str) -> bool:
        return len(query) < 1_000

    async def match(
        self,
        query: str,
        language: str | None,
        step: ProviderStep,
        vector: list[float],
        min_similarity: float | None,
        now_ms: int,
        *,
        stored_since_ms: int | None = None,
    ) -> Match | None:
        self.asked.append((query, step.provider, stored_since_ms))
        await asyncio.sleep(self.delay_s)
        if self.broken:
            raise RuntimeError("the index is gone")
        return self.matches.get(step.provider)


class ManualClock:
    """Wall clock and monotonic clock that move together, by hand or (with `real`) by themselves."""

    def __init__(self, now_ms: int = NOON_MS, *, real: bool = False) -> None:
        self._now_ms = now_ms
        self._real = real
        self._started = 0.0

    def now_ms(self) -> int:
        return self._now_ms + int(self._moved() * 1000)

    def monotonic(self) -> float:
        return self._now_ms / 1000 + self._moved()

    def move(self, seconds: float) -> None:
        self._now_ms += int(seconds * 1000)

    def _moved(self) -> float:
        if not self._real:
            return 0.0
        loop_time = asyncio.get_running_loop().time()
        self._started = self._started or loop_time
        return loop_time - self._started


def request_record(
    request: dict[str, Any] | bytes | None,
    *,
    headers: Headers = (),
    timestamp_ms: int = NOON_MS,
    partition: int = 0,
    offset: int = 0,
) -> InboundRecord:
    value = json.dumps(request).encode() if isinstance(request, dict) else request
    return InboundRecord(REQUESTS.name, partition, offset, None, value, headers, timestamp_ms)


def inbound(record: OutboundRecord, *, offset: int = 0, timestamp_ms: int = NOON_MS) -> InboundRecord:
    """An output as the next stage reads it."""
    return InboundRecord(record.topic, 0, offset, record.key, record.value, record.headers, timestamp_ms)


def plan_of(outputs: Sequence[OutboundRecord]) -> Plan:
    (record,) = outputs
    assert record.topic == LOOKUPS.name, record
    return Lookup.decode(record.value).plan


def reply_of(outputs: Iterable[OutboundRecord]) -> SearchReply:
    inner = {CACHE_WRITES.name, DEAD_LETTERS.name, EVENTS.name, FETCHES.name, LOOKUPS.name, PAYLOADS.name}
    (record,) = [record for record in outputs if record.topic not in inner]
    return SearchReply.decode(record.value)


def request_event_of(outputs: Iterable[OutboundRecord]) -> RequestEvent:
    (event,) = [event for event in events_of(outputs) if isinstance(event, RequestEvent)]
    return event


def events_of(outputs: Iterable[OutboundRecord]) -> list[RequestEvent | AttemptEvent]:
    return [
        AttemptEvent.decode(record.value)
        if json.loads(record.value)["kind"] == "attempt"
        else RequestEvent.decode(record.value)
        for record in outputs
        if record.topic == EVENTS.name
    ]


def attempts_of(outputs: Iterable[OutboundRecord]) -> list[AttemptEvent]:
    return [event for event in events_of(outputs) if isinstance(event, AttemptEvent)]


def dead_letters_of(outputs: Iterable[OutboundRecord]) -> list[DeadLetter]:
    return [DeadLetter.decode(record.value) for record in outputs if record.topic == DEAD_LETTERS.name]


def writes_of(outputs: Iterable[OutboundRecord]) -> list[CacheWrite]:
    return [CacheWrite.decode(record.value) for record in outputs if record.topic == CACHE_WRITES.name]


def payloads_of(outputs: Iterable[OutboundRecord], kind: str | None = None) -> list[Payload]:
    payloads = [Payload.decode(record.value) for record in outputs if record.topic == PAYLOADS.name]
    return [payload for payload in payloads if kind in (None, payload.kind)]


def fetch_record(plan: Plan, **more: Any) -> InboundRecord:
    value = Fetch(plan=plan, lookup_ms=1.0, **more).encode()
    return InboundRecord(FETCHES.name, 0, 0, plan.chain[0].cache_key.encode(), value, (), NOON_MS)


class Road:
    """All four stages in memory, wired as the agents wire them. `published` is what fetch published by itself."""

    def __init__(
        self, *providers: FakeProvider, settings: Settings | None = None, clock: ManualClock | None = None
    ) -> None:
        self.settings = settings or Settings(routes={"default": [provider.name for provider in providers]})
        self.clock = clock or ManualClock(real=True)
        self.directory = FakeDirectory(*providers)
        self.cache = FakeCache()
        self.embedder = FakeEmbedder()
        self.semantic = FakeSemantic()
        self.published: list[OutboundRecord] = []
        self.normalize = Normalize(self.settings, self.directory)
        self.lookup = LookupStage(self.cache, self.embedder, self.semantic, self.settings, self.terms())
        self.fetch = self.new_fetch()
        self.unify = Unify(self.directory, self.settings, ttl_s)
        self.dropped_cache_writes = False
        self._offset = 0

    def terms(self) -> ServingTerms:
        return ServingTerms(self.directory, self.settings.cache, ttl_s)

    def new_fetch(self) -> FetchStage:
        """A fetch worker that has just started."""
        return FetchStage(self.directory, self.publish, self.settings, ttl_s, self.clock)

    async def publish(self, records: Sequence[OutboundRecord]) -> None:
        await asyncio.sleep(0)
        self.published.extend(records)

    async def ask(self, request: dict[str, Any], headers: Headers = ()) -> list[OutboundRecord]:
        """Everything that one request leaves behind, in order."""
        self._offset += 1
        record = request_record(request, headers=headers, offset=self._offset, timestamp_ms=self.clock.now_ms())
        first = self.normalize(record, self.clock.now_ms())
        if first[0].topic != LOOKUPS.name:
            return first
        second = await self.lookup(inbound(first[0]), self.clock.now_ms())
        if second[0].topic != FETCHES.name:
            self._cache(second)
            return second
        return await self.take_to_vendors(second[0])

    async def take_to_vendors(self, fetch: OutboundRecord) -> list[OutboundRecord]:
        seen = len(self.published)
        outputs = await self.fetch(inbound(fetch))
        reply_id = Fetch.decode(fetch.value).plan.reply_id
        mine = [
            record
            for record in [*self.published[seen:], *outputs]
            if record.topic != PAYLOADS.name or Payload.decode(record.value).plan.reply_id == reply_id
        ]
        last = [record for record in mine if record.topic == PAYLOADS.name][-1]
        unified = self.unify(inbound(last), self.clock.now_ms())
        self._cache(unified)
        return [*mine, *unified]

    def _cache(self, outputs: Sequence[OutboundRecord]) -> None:
        if not self.dropped_cache_writes:
            for write in writes_of(outputs):
                self.cache.apply(write)
