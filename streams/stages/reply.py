"""The reply to a planned request, and the record that carries it to whoever waits for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from groundwire.schemas.headers import ReturnAddress
from groundwire.schemas.plan import Plan
from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.reply import Attempt, CacheReceipt, Latency, ReplyError, Result, SearchReply, Status
from groundwire.streams.stages.moments import iso_utc


@dataclass(frozen=True, slots=True)
class Answer:
    """What a stage found for a request; `reply_to` adds what the plan knows."""

    status: Status
    cache: CacheReceipt
    results: list[Result] = field(default_factory=list)
    context: str = ""
    provider: str | None = None
    cost_micro_usd: int | None = 0
    saved_micro_usd: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    error: ReplyError | None = None
    warnings: Sequence[str] = ()


def reply_to(plan: Plan, answer: Answer, latency: Latency, completed_at_ms: int) -> SearchReply:
    return SearchReply(
        request_id=plan.request_id,
        reply_id=plan.reply_id,
        status=answer.status,
        query=plan.query,
        normalized_query=plan.normalized_query,
        freshness=plan.freshness,
        results=answer.results,
        context=answer.context,
        provider=answer.provider,
        cache=answer.cache,
        cost_micro_usd=answer.cost_micro_usd,
        saved_micro_usd=answer.saved_micro_usd,
        latency_ms=latency,
        attempts=answer.attempts,
        error=answer.error,
        warnings=[*plan.warnings, *answer.warnings],
        metadata=plan.metadata,
        completed_at=iso_utc(completed_at_ms),
    )


def reply_record(reply: SearchReply, address: ReturnAddress) -> OutboundRecord:
    return OutboundRecord(
        topic=address.topic,
        key=reply.request_id.encode(),
        value=reply.encode(),
        headers=address.headers(),
        partition=address.partition,
    )


def latency_of(
    plan: Plan,
    completed_at_ms: int,
    *,
    lookup_ms: float | None = None,
    fetch_ms: float | None = None,
    unify_ms: float | None = None,
) -> Latency:
    return Latency(
        total=float(max(completed_at_ms - plan.requested_at_ms, 0)),
        queue=plan.queue_ms,
        normalize=plan.normalize_ms,
        lookup=lookup_ms,
        fetch=fetch_ms,
        unify=unify_ms,
    )


def step_warnings(plan: Plan, provider: str) -> list[str]:
    """What the caller should know about an answer of this provider: a depth it can't give, a filter it approximates."""
    return next((step.warnings for step in plan.chain if step.provider == provider), [])
