"""`search.cache-writes.v1`: the cache's log. LanceDB on every node is a view of it."""

from typing import Literal

from pydantic import BaseModel, Field

from groundwire.schemas.lookup import Embedding
from groundwire.schemas.plan import PLAN_CONFIG
from groundwire.schemas.record import Record
from groundwire.schemas.reply import Result
from groundwire.schemas.request import FreshnessClass


class CacheEntry(BaseModel):
    """One answer that may be served again. Times are Unix milliseconds.

    `semantic` False keeps an entry out of the semantic tier: live answers, and back-fills (they stand for the question that
    was asked, not the one that was answered; matching against them would let meaning drift from hit to hit).
    """

    model_config = PLAN_CONFIG

    cache_key: str
    facet: str
    provider: str
    tenant: str
    normalized_query: str
    language: str | None = None
    freshness: FreshnessClass
    depth: int
    results: list[Result]
    cost_micro_usd: int | None = Field(description="What the answer cost: the saving of every later hit.")
    stored_at_ms: int
    expires_at_ms: int
    payload_id: str
    semantic: bool
    fetched_for: str | None = Field(
        default=None, description="On a back-fill: the question this answer was fetched for. None: this one."
    )
    embedding: Embedding | None = None


class Purge(BaseModel):
    """What is to be forgotten: entries that match every field that is given. None given matches everything.

    `query` is a normalized query; `before_ms` means stored before that moment; `domain` matches an entry any of whose
    results is from that domain or below it.
    """

    model_config = PLAN_CONFIG

    query: str | None = None
    provider: str | None = None
    domain: str | None = None
    tenant: str | None = None
    before_ms: int | None = None
    requested_at_ms: int


class CacheWrite(Record):
    """One change of the cache: an entry put, or entries purged. Keyed by cache key; a purge goes to every partition."""

    kind: Literal["put", "purge"]
    entry: CacheEntry | None = None
    purge: Purge | None = None
