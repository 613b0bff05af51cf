"""What was paid for a moment ago, kept at hand: for requests that come before the cache shows it, and for a request that is
delivered again after a crash. Filled as answers are published, and from the payload log's tail when a partition is taken over.

Bounded in bytes; the oldest go first.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from groundwire.schemas.cache_write import Purge
from groundwire.schemas.payload import AttemptMark, Payload, RawAnswer
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.streams.flow.consistency import is_consistent

MaxAge = Callable[[ProviderStep, Plan], float]
"""How many seconds an answer of this step may serve others from here; the answer's TTL where that is shorter."""

# What a kept payload costs beside its body: the plan, the marks, the objects.
_OVERHEAD_BYTES = 6 * 1024

# A redelivered request is recognised for so long; a rebalance and a restart take less.
_REDELIVERY_S = 600.0


@dataclass(slots=True)
class _Kept:
    payload: Payload
    at_ms: int
    bytes: int
    key: str | None = None
    shared: dict[str, Payload] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shareable:
    """A paid answer that serves another request. `paid_micro_usd` is what it cost, None when that is unknown."""

    payload_id: str
    raw: RawAnswer
    paid_micro_usd: int | None


class RecentAnswers:
    """Recent outcomes, by the cache key they answer and by the request that got them. Moments are Unix milliseconds."""

    def __init__(self, most_bytes: int, max_age: MaxAge) -> None:
        self._most_bytes = most_bytes
        self._max_age = max_age
        self._bytes = 0
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._by_key: dict[str, str] = {}
        self._by_reply: dict[str, str] = {}
        self._begun: OrderedDict[str, dict[str, AttemptMark]] = OrderedDict()

    @property
    def bytes(self) -> int:
        return self._bytes

    def begin(self, payload: Payload) -> None:
        """A `begun` mark from the log: until an outcome follows, these calls are lost."""
        marks = self._begun.setdefault(payload.plan.reply_id, {})
        marks.update((mark.attempt_id, mark) for mark in payload.marks)
        if len(self._begun) > 10_000:
            self._begun.popitem(last=False)

    def take_lost(self, reply_id: str) -> list[AttemptMark]:
        """The calls of this request that were begun and never ended, each given once."""
        return list(self._begun.pop(reply_id, {}).values())

    def add(self, payload: Payload, at_ms: int) -> None:
        """Keep an outcome (`answer` or `shared`). One that contradicts itself is left to unify, which says so."""
        if not is_consistent(payload):
            return
        reply_id = payload.plan.reply_id
        self._begun.pop(reply_id, None)
        if payload.kind == "shared" and payload.payload_id in self._kept:
            self._add_sharer(self._kept[payload.payload_id], payload)
        else:
            self._add_own(payload, at_ms)
        self._evict(at_ms)

    def outcome_of(self, reply_id: str) -> Payload | None:
        """What this very request got when it was delivered before."""
        payload_id = self._by_reply.get(reply_id)
        if payload_id is None:
            return None
        kept = self._kept[payload_id]
        return kept.shared.get(reply_id, kept.payload)

    def share(self, plan: Plan, now_ms: int) -> Shareable | None:
        """The first answer in chain order that may serve this request too: storable, young enough, for the same key."""
        for step in plan.chain:
            payload_id = self._by_key.get(step.cache_key) if step.storable else None
            if payload_id is None:
                continue
            kept = self._kept[payload_id]
            shareable = shareable_of(kept.payload)
            if shareable is None:
                continue
            age_s = (now_ms - shareable.raw.received_at_ms) / 1000
            limit_s = self._max_age(step, plan)
            if plan.max_age_s is not None:
                limit_s = min(limit_s, plan.max_age_s)
            if age_s <= limit_s:
                return shareable
        return None

    def forget(self, purge: Purge) -> None:
        """Drop what a purge names, so that it is not served from here. A request's own outcome stays known to it.

        Raw answers have no results yet, so a domain is looked for in the body's text.
        """
        for kept in self._kept.values():
            if kept.key is not None and _is_purged(kept.payload, purge):
                if self._by_key.get(kept.key) == kept.payload.payload_id:
                    del self._by_key[kept.key]
                kept.key = None

    def _add_own(self, payload: Payload, at_ms: int) -> None:
        if payload.payload_id in self._kept:
            return
        raw = payload.answers[payload.chosen] if payload.chosen is not None else None
        kept = _Kept(payload, at_ms, _OVERHEAD_BYTES + sum(len(answer.body.encode()) for answer in payload.answers))
        self._kept[payload.payload_id] = kept
        self._by_reply[payload.plan.reply_id] = payload.payload_id
        self._bytes += kept.bytes
        if raw is not None and shareable_of(payload) is not None:
            step = next((step for step in payload.plan.chain if step.provider == raw.provider), None)
            if step is not None and step.storable:
                kept.key = step.cache_key
                self._by_key[step.cache_key] = payload.payload_id

    def _add_sharer(self, kept: _Kept, payload: Payload) -> None:
        """The body is the one already kept: a thousand sharers hold it once."""
        if payload.plan.reply_id in kept.shared:
            return
        own = kept.payload.answers
        same = [next((raw for raw in own if raw.body == answer.body), answer) for answer in payload.answers]
        answers = [
            answer.model_copy(update={"body": raw.body}) for answer, raw in zip(payload.answers, same, strict=True)
        ]
        kept.shared[payload.plan.reply_id] = payload.model_copy(update={"answers": answers})
        kept.bytes += _OVERHEAD_BYTES
        self._bytes += _OVERHEAD_BYTES
        self._by_reply[payload.plan.reply_id] = payload.payload_id

    def _evict(self, now_ms: int) -> None:
        while self._kept:
            payload_id, oldest = next(iter(self._kept.items()))
            if self._bytes <= self._most_bytes and now_ms - oldest.at_ms <= _REDELIVERY_S * 1000:
                return
            del self._kept[payload_id]
            self._bytes -= oldest.bytes
            if oldest.key is not None and self._by_key.get(oldest.key) == payload_id:
                del self._by_key[oldest.key]
            for reply_id in (oldest.payload.plan.reply_id, *oldest.shared):
                if self._by_reply.get(reply_id) == payload_id:
                    del self._by_reply[reply_id]


def shareable_of(payload: Payload) -> Shareable | None:
    """What others may get of an outcome: an answer that was paid for and has results. None when nobody answered."""
    if payload.chosen is None or not is_consistent(payload):
        return None
    raw = payload.answers[payload.chosen]
    if payload.kind == "shared":
        return Shareable(payload.payload_id, raw, payload.paid_micro_usd)
    attempt = payload.attempts[raw.attempt]
    return Shareable(payload.payload_id, raw, attempt.cost_micro_usd) if attempt.outcome == "ok" else None


def _is_purged(payload: Payload, purge: Purge) -> bool:
    raw = payload.answers[payload.chosen] if payload.chosen is not None else None
    if raw is None:
        return False
    return (
        (purge.query is None or purge.query == payload.plan.normalized_query)
        and (purge.provider is None or purge.provider == raw.provider)
        and (purge.tenant is None or purge.tenant == payload.plan.tenant)
        and (purge.before_ms is None or raw.received_at_ms < purge.before_ms)
        and (purge.domain is None or purge.domain.lower().removeprefix("*.") in raw.body.lower())
    )
