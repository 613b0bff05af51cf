"""The reply: what a consumer of the reply topic gets, one for every request. Contract §2."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from groundwire.schemas.record import Record
from groundwire.schemas.request import FreshnessClass

Status = Literal["grounded", "ungrounded", "error"]
CacheOutcome = Literal["exact", "semantic", "coalesced", "stale", "miss", "bypass"]
AttemptOutcome = Literal[
    "ok",
    "empty",
    "timeout",
    "transport",
    "rate_limited",
    "quota",
    "auth",
    "rejected",
    "server_error",
    "bad_answer",
    "skipped",
    "lost",
]
CostSource = Literal["answer", "price_list", "unknown"]
ErrorKind = Literal["invalid_json", "invalid_request", "too_large", "not_allowed", "conflict", "rejected"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_inf_nan="null")


class Result(_Part):
    """One search result. `index` counts from 1 and is the number the context cites."""

    index: int = Field(ge=1)
    title: str
    url: str
    body: str
    published_at: str | None = Field(default=None, description="ISO 8601, only when the vendor's date was certain.")
    score: float | None = Field(
        default=None, description="Only when the vendor gives one; not comparable between vendors."
    )
    provider: str


class CacheReceipt(_Part):
    """Where the answer came from. The last four are there on a semantic hit only."""

    outcome: CacheOutcome
    age_s: float | None = None
    expires_at: str | None = None
    matched_query: str | None = None
    similarity: float | None = None
    probability: float | None = None
    reason: str | None = None


class Latency(_Part):
    """Milliseconds by stage. `total` runs from the request record's timestamp; a stage not reached is null."""

    total: float
    queue: float | None = None
    normalize: float | None = None
    lookup: float | None = None
    fetch: float | None = None
    unify: float | None = None


class Attempt(_Part):
    """One line of the receipt: one vendor call, or a vendor passed over (`skipped`, with the reason)."""

    provider: str
    outcome: AttemptOutcome
    reason: str | None = None
    status_code: int | None = None
    latency_ms: float | None = None
    cost_micro_usd: int | None = Field(default=None, description="null: the price is unknown, never silently zero.")
    cost_source: CostSource
    cost_detail: str | None = Field(default=None, description="JSON, the parts of a cost that has several.")
    hedged: bool = False


class ReplyError(_Part):
    kind: ErrorKind
    message: str
    field: str | None = None


class SearchReply(Record):
    """The answer to one request. A repeated reply has the same `reply_id`, status, results and context."""

    request_id: str
    reply_id: str
    status: Status
    query: str | None
    normalized_query: str | None
    freshness: FreshnessClass | None
    results: list[Result]
    context: str
    provider: str | None
    cache: CacheReceipt | None
    cost_micro_usd: int | None
    saved_micro_usd: int | None
    latency_ms: Latency
    attempts: list[Attempt]
    error: ReplyError | None
    warnings: list[str]
    metadata: dict[str, str]
    completed_at: str
