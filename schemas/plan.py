"""The plan that normalize makes of a request and that travels with it: who is asked, under which cache key, until when."""

from pydantic import BaseModel, ConfigDict, Field

from groundwire.schemas.headers import ReturnAddress
from groundwire.schemas.request import CacheMode, Filters, FreshnessClass

PLAN_CONFIG = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_inf_nan="null")


class Origin(BaseModel):
    """Where a request stood in `search.requests.v1`."""

    model_config = PLAN_CONFIG

    topic: str
    partition: int
    offset: int


class ProviderStep(BaseModel):
    """One provider of the chain, for this request.

    `cache_key` names the one answer it may share; `facet` is the same without the query's text: only entries of one facet
    are comparable by meaning (same provider, depth, locale, filters and scope, and a freshness that lets them be compared).
    `skip` says why the provider can't serve this request (no key, a filter it can't do); it is then never called.
    """

    model_config = PLAN_CONFIG

    provider: str
    depth: int = Field(ge=1)
    cache_key: str
    facet: str
    storable: bool = Field(description="False: the vendor's terms or the caller forbid keeping the answer.")
    skip: str | None = None
    warnings: list[str] = Field(
        default_factory=list, description="What the caller should know when this provider's answer is the one served."
    )


class Plan(BaseModel):
    """A request after normalize. Times are Unix milliseconds."""

    model_config = PLAN_CONFIG

    request_id: str
    reply_id: str
    tenant: str
    route: str
    query: str
    normalized_query: str
    freshness: FreshnessClass
    depth: int
    chain: list[ProviderStep] = Field(min_length=1)
    cache: CacheMode
    max_age_s: int | None = None
    min_similarity: float | None = None
    language: str | None = None
    country: str | None = None
    filters: Filters = Field(default_factory=Filters)
    context_tokens: int
    metadata: dict[str, str] = Field(default_factory=dict)
    address: ReturnAddress
    origin: Origin
    content_hash: str = Field(description="Of the request as sent: the same id with other content is a conflict.")
    requested_at_ms: int
    deadline_ms: int
    queue_ms: float
    normalize_ms: float
    refreshes_for: str | None = Field(
        default=None,
        description="Set on the refresh of a cached answer ahead of its end: the tenant it was cached for. Nobody waits for it.",
    )
    warnings: list[str] = Field(default_factory=list)
