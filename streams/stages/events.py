"""Events made of replies and payloads. The same reply or payload makes the same event, with the same id."""

from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.payload import AttemptMark, Payload
from groundwire.schemas.plan import Plan
from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.reply import Attempt, SearchReply
from groundwire.schemas.topics import EVENTS
from groundwire.streams.stages.tokens import estimate_tokens


def request_event(
    reply: SearchReply,
    *,
    tenant: str,
    requested_at_ms: int,
    completed_at_ms: int,
    route: str | None = None,
    language: str | None = None,
    depth: int | None = None,
) -> OutboundRecord:
    cache, latency = reply.cache, reply.latency_ms
    event = RequestEvent(
        event_id=reply.reply_id,
        request_id=reply.request_id,
        reply_id=reply.reply_id,
        tenant=tenant,
        route=route,
        query=reply.query,
        normalized_query=reply.normalized_query,
        language=language,
        freshness=reply.freshness,
        depth=depth,
        status=reply.status,
        provider=reply.provider,
        cache_outcome=cache.outcome if cache else None,
        cache_age_s=cache.age_s if cache else None,
        similarity=cache.similarity if cache else None,
        probability=cache.probability if cache else None,
        matched_query=cache.matched_query if cache else None,
        cost_micro_usd=reply.cost_micro_usd,
        saved_micro_usd=reply.saved_micro_usd,
        results=len(reply.results),
        context_tokens=estimate_tokens(reply.context),
        total_ms=latency.total,
        queue_ms=latency.queue,
        normalize_ms=latency.normalize,
        lookup_ms=latency.lookup,
        fetch_ms=latency.fetch,
        unify_ms=latency.unify,
        attempts=len(reply.attempts),
        error_kind=reply.error.kind if reply.error else None,
        requested_at_ms=requested_at_ms,
        completed_at_ms=completed_at_ms,
        metadata=reply.metadata,
    )
    return OutboundRecord(EVENTS.name, reply.request_id.encode(), event.encode())


def planned_request_event(reply: SearchReply, plan: Plan, completed_at_ms: int) -> OutboundRecord:
    return request_event(
        reply,
        tenant=plan.tenant,
        requested_at_ms=plan.requested_at_ms,
        completed_at_ms=completed_at_ms,
        route=plan.route,
        language=plan.language,
        depth=plan.depth,
    )


def attempt_event(plan: Plan, mark: AttemptMark, attempt: Attempt) -> OutboundRecord:
    event = AttemptEvent(
        event_id=mark.attempt_id,
        request_id=plan.request_id,
        attempt_id=mark.attempt_id,
        provider=attempt.provider,
        attempt=mark.attempt,
        outcome=attempt.outcome,
        reason=attempt.reason,
        status_code=attempt.status_code,
        latency_ms=attempt.latency_ms,
        cost_micro_usd=attempt.cost_micro_usd,
        cost_source=attempt.cost_source,
        cost_detail=attempt.cost_detail,
        hedged=attempt.hedged,
        depth=mark.depth,
        results=mark.results,
        bytes=mark.bytes,
        started_at_ms=mark.started_at_ms,
        tenant=plan.tenant,
    )
    return OutboundRecord(EVENTS.name, plan.request_id.encode(), event.encode())


def attempt_events(payload: Payload) -> list[OutboundRecord]:
    """One event for each attempt of an answered request: its marks and its receipt, line by line."""
    pairs = zip(payload.marks, payload.attempts, strict=True)
    return [attempt_event(payload.plan, mark, attempt) for mark, attempt in pairs]
