"""`search.events.v1`: one event a request and one a vendor call. They become the lake's rows. Contract §4.

An event's id is the same in every copy of it, so that at-least-once delivery still counts each thing once.
"""

from typing import Literal

from pydantic import Field

from groundwire.schemas.record import Record
from groundwire.schemas.reply import AttemptOutcome, CacheOutcome, CostSource, Status

# Whose the vendor calls are that refresh cached answers ahead of their end.
REFRESH_TENANT = "groundwire-refresh"


class RequestEvent(Record):
    """One answered request. Times are Unix milliseconds, durations milliseconds."""

    kind: Literal["request"] = "request"
    event_id: str
    request_id: str
    reply_id: str
    tenant: str
    route: str | None
    query: str | None
    normalized_query: str | None
    language: str | None
    freshness: str | None
    depth: int | None
    status: Status
    provider: str | None
    cache_outcome: CacheOutcome | None
    cache_age_s: float | None
    similarity: float | None
    probability: float | None
    matched_query: str | None
    cost_micro_usd: int | None
    saved_micro_usd: int | None
    results: int
    context_tokens: int
    total_ms: float
    queue_ms: float | None
    normalize_ms: float | None
    lookup_ms: float | None
    fetch_ms: float | None
    unify_ms: float | None
    attempts: int
    error_kind: str | None = None
    requested_at_ms: int
    completed_at_ms: int
    metadata: dict[str, str] = Field(default_factory=dict)


class AttemptEvent(Record):
    """One vendor call, or a vendor passed over (`skipped`). `event_id` equals `attempt_id`."""

    kind: Literal["attempt"] = "attempt"
    event_id: str
    request_id: str
    attempt_id: str
    provider: str
    attempt: int
    outcome: AttemptOutcome
    reason: str | None
    status_code: int | None
    latency_ms: float | None
    cost_micro_usd: int | None
    cost_source: CostSource
    cost_detail: str | None
    hedged: bool
    depth: int
    results: int
    bytes: int
    started_at_ms: int
    tenant: str
