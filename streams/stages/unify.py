"""unify: a paid answer becomes results, a context, a reply and a cache entry. `search.payloads.v1` → `search.replies.v1`."""

import time
from collections.abc import Sequence

from groundwire.schemas.cache_write import CacheEntry, CacheWrite
from groundwire.schemas.payload import Payload, RawAnswer
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.reply import Attempt, CacheOutcome, CacheReceipt, ReplyError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES
from groundwire.streams.flow.consistency import is_consistent
from groundwire.streams.stages.answer_freshness import class_for_ttl
from groundwire.streams.stages.dead_letters import dead_letter
from groundwire.streams.stages.events import planned_request_event
from groundwire.streams.stages.hosts import hosts_of
from groundwire.streams.stages.mapped import Mapped, MappedAnswers
from groundwire.streams.stages.moments import iso_utc
from groundwire.streams.stages.nothing_found import nothing_entry
from groundwire.streams.stages.ports import MappingDirectory, Timer, TtlRule
from groundwire.streams.stages.reply import Answer, latency_of, reply_record, reply_to, step_warnings
from groundwire.streams.stages.stale import stale_answer


class Unify:
    """The last stage. Never raises: an answer that can't be read is an ungrounded reply that says so."""

    def __init__(
        self,
        providers: MappingDirectory,
        settings: Settings,
        ttl: TtlRule,
        *,
        timer: Timer = time.perf_counter,
    ) -> None:
        self._providers = providers
        self._cache = settings.cache
        self._ttl = ttl
        self._answers = MappedAnswers(providers)
        self._timer = timer

    def __call__(self, record: InboundRecord, now_ms: int) -> list[OutboundRecord]:
        started = self._timer()
        try:
            payload = Payload.decode(record.value)
        except RecordError as error:
            return [dead_letter(record, error, stage="unify", now_ms=now_ms)]
        if payload.kind == "begun":
            return []
        if not is_consistent(payload):
            poison = RecordError("poison", "Payload: chosen or attempt: an index points at nothing", "chosen")
            return [dead_letter(record, poison, stage="unify", now_ms=now_ms)]
        plan = payload.plan
        if plan.refreshes_for is not None and payload.kind == "shared":
            return []  # somebody else's answer is written by whoever paid for it
        raw = payload.answers[payload.chosen] if payload.chosen is not None else None
        step = _step_of(plan, raw)
        mapped = self._answers.get(payload, raw, step) if raw is not None and step is not None else None
        entry = None
        if raw is not None and step is not None and mapped is not None and mapped.results:
            entry = self._entry(payload, raw, step, mapped)
            answer = _grounded(payload, raw, mapped, entry, now_ms)
        else:
            answer = _nothing(payload, mapped, now_ms)
            if raw is None or (mapped is not None and mapped.problem is None):
                entry = nothing_entry(payload, self._cache.negative_ttl_s, now_ms)
        unify_ms = (self._timer() - started) * 1000
        completed_at_ms = now_ms + round(unify_ms)
        latency = latency_of(
            plan, completed_at_ms, lookup_ms=payload.lookup_ms, fetch_ms=payload.fetch_ms, unify_ms=unify_ms
        )
        reply = reply_to(plan, answer, latency, completed_at_ms)
        # Nobody waits for a refresh, and it is no request: its vendor calls have their own events.
        outputs = []
        if plan.refreshes_for is None:
            outputs = [reply_record(reply, plan.address), planned_request_event(reply, plan, completed_at_ms)]
        if entry is not None and payload.kind == "answer":
            write = CacheWrite(kind="put", entry=entry)
            outputs.append(OutboundRecord(CACHE_WRITES.name, entry.cache_key.encode(), write.encode()))
        return outputs

    def _entry(self, payload: Payload, raw: RawAnswer, step: ProviderStep, mapped: Mapped) -> CacheEntry | None:
        """The answer as it may be served again; None when the vendor's terms, the caller or a TTL of 0 forbid it."""
        plan = payload.plan
        if not step.storable:
            return None
        # Asked again here: the operator may have forbidden storage since the request was planned.
        terms = self._providers.get(raw.provider).storage
        if not terms.allowed:
            return None
        ttl_s = self._ttl(
            self._cache,
            provider=raw.provider,
            freshness=class_for_ttl(plan.freshness, mapped.results, raw.received_at_ms),
            domains=hosts_of(mapped.results),
            cap_s=terms.max_ttl_s,
        )
        if ttl_s <= 0:
            return None
        return CacheEntry(
            cache_key=step.cache_key,
            facet=step.facet,
            provider=raw.provider,
            tenant=plan.refreshes_for or plan.tenant,
            normalized_query=plan.normalized_query,
            language=plan.language,
            freshness=plan.freshness,
            depth=step.depth,
            results=mapped.results,
            cost_micro_usd=_price_paid(payload, raw),
            stored_at_ms=raw.received_at_ms,
            expires_at_ms=raw.received_at_ms + ttl_s * 1000,
            payload_id=payload.payload_id,
            semantic=plan.freshness != "live",
            embedding=payload.embedding,
        )


def _grounded(payload: Payload, raw: RawAnswer, mapped: Mapped, entry: CacheEntry | None, now_ms: int) -> Answer:
    plan, shared = payload.plan, payload.kind == "shared"
    results = mapped.results[: plan.depth]
    attempts: Sequence[Attempt] = () if shared else payload.attempts
    cost, cost_warnings = _sum_of_costs(attempts)
    context = mapped.context(plan.context_tokens)
    warnings = [*payload.warnings, *cost_warnings, *mapped.warnings, *step_warnings(plan, raw.provider)]
    if not context:
        warnings.append(f"no excerpt fits into a context of {plan.context_tokens} tokens")
    return Answer(
        status="grounded",
        cache=CacheReceipt(
            outcome=_outcome(payload),
            age_s=max(now_ms - raw.received_at_ms, 0) / 1000 if shared else None,
            expires_at=iso_utc(entry.expires_at_ms) if entry is not None else None,
        ),
        results=results,
        context=context,
        provider=raw.provider,
        cost_micro_usd=cost,
        saved_micro_usd=payload.paid_micro_usd if shared else None,
        attempts=list(attempts),
        warnings=warnings,
    )


def _nothing(payload: Payload, mapped: Mapped | None, now_ms: int) -> Answer:
    """Nobody answered, or nothing that can be used: an older answer where there is one, else the truth."""
    plan, shared = payload.plan, payload.kind == "shared"
    attempts: Sequence[Attempt] = () if shared else payload.attempts
    cost, cost_warnings = _sum_of_costs(attempts)
    warnings = [*payload.warnings, *cost_warnings]
    if mapped is not None and mapped.problem is not None:
        warnings.append(mapped.problem)
    rejected = next((attempt for attempt in payload.attempts if attempt.outcome == "rejected"), None)
    if rejected is None and payload.stale is not None:
        return stale_answer(plan, payload.stale, now_ms, warnings, attempts=attempts, cost_micro_usd=cost)
    error = None
    if rejected is not None:
        message = f"{rejected.provider} rejected the query: {rejected.reason or 'no reason given'}"
        error = ReplyError(kind="rejected", message=message, field="query")
    elif shared and payload.attempts:
        tried = "; ".join(f"{attempt.provider}: {attempt.outcome}" for attempt in payload.attempts)
        warnings.append(f"nobody answered the equal request this one was coalesced with ({tried})")
    return Answer(
        status="error" if error is not None else "ungrounded",
        cache=CacheReceipt(outcome=_outcome(payload)),
        cost_micro_usd=cost,
        attempts=list(attempts),
        error=error,
        warnings=warnings,
    )


def _outcome(payload: Payload) -> CacheOutcome:
    if payload.kind == "shared":
        return "coalesced"
    return "bypass" if payload.plan.cache == "bypass" else "miss"


def _step_of(plan: Plan, raw: RawAnswer | None) -> ProviderStep | None:
    return None if raw is None else next((step for step in plan.chain if step.provider == raw.provider), None)


def _price_paid(payload: Payload, raw: RawAnswer) -> int | None:
    if payload.kind == "shared":
        return payload.paid_micro_usd
    return payload.attempts[raw.attempt].cost_micro_usd


def _sum_of_costs(attempts: Sequence[Attempt]) -> tuple[int | None, list[str]]:
    """The sum in micro-USD; None as soon as one price is unknown, and then a warning that says whose."""
    unknown = [attempt for attempt in attempts if attempt.cost_micro_usd is None]
    if unknown:
        named = ", ".join(dict.fromkeys(f"{attempt.provider} ({attempt.outcome})" for attempt in unknown))
        known = sum(attempt.cost_micro_usd or 0 for attempt in attempts)
        return None, [f"the cost is unknown for {named}; the known part is {known} micro-USD"]
    return sum(attempt.cost_micro_usd or 0 for attempt in attempts), []
