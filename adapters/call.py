"""What goes into a vendor call and what comes out of it."""

from dataclasses import dataclass

from groundwire.schemas.reply import AttemptOutcome, CostSource
from groundwire.schemas.request import Filters, FreshnessClass


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """One question for one provider. `depth` is the number of results wanted, already clamped to the provider's maximum."""

    query: str
    depth: int
    language: str | None
    country: str | None
    freshness: FreshnessClass
    filters: Filters


@dataclass(frozen=True, slots=True)
class Cost:
    """What an attempt cost. `micro_usd` None means the price is unknown, never zero; `detail` is JSON, the parts of the sum."""

    micro_usd: int | None
    source: CostSource
    detail: str | None = None


FREE = Cost(0, "price_list")
UNKNOWN_COST = Cost(None, "unknown")


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Exactly one outcome of one vendor call.

    `reason` is short, for people, and holds no key. `body` is the decoded answer of a call that the vendor answered with
    success (also when it could not be read), and None when there was none; `body_bytes` is its size after decompression.
    `retry_after_s` is the vendor's wish, capped.
    """

    outcome: AttemptOutcome
    reason: str | None
    status_code: int | None
    latency_ms: float
    cost: Cost
    content_type: str
    body: str | None
    body_bytes: int
    results: int
    retry_after_s: float | None


@dataclass(frozen=True, slots=True)
class MappedResult:
    """One result in our words. Texts are clean and never None; `published_at` is ISO 8601 or None when not certain."""

    title: str
    url: str
    body: str
    published_at: str | None
    score: float | None


@dataclass(frozen=True, slots=True)
class StorageTerms:
    """What may be kept of a provider's answers, from its file, with the operator's overrides applied."""

    allowed: bool
    max_ttl_s: int
    shareable: bool
    terms_url: str | None
    read_on: str | None
