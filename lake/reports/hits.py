"""Where answers came from: hit rates by kind, the semantic hits one by one, and how much of the traffic repeats itself."""

from typing import get_args

import polars as pl
from pydantic import BaseModel, Field

from groundwire.lake.reports.figures import FIGURES_CONFIG, counts, share
from groundwire.schemas.reply import CacheOutcome

# Enough for the eye; the lake has them all.
MAX_SEMANTIC_HITS = 200

HITS = ("exact", "semantic", "stale")


class HitRates(BaseModel):
    """Shares of the requests that were looked up or fetched (error replies are neither), 0 to 1.

    `hit` is exact, semantic and stale together. Coalesced requests waited for another's vendor call: free, but no hit.
    """

    model_config = FIGURES_CONFIG

    of: int
    hit: float | None
    exact: float | None
    semantic: float | None
    stale: float | None
    coalesced: float | None
    miss: float | None
    bypass: float | None
    repeated: int = Field(
        description="Requests whose normalized query was asked before in this window: what an exact cache can hit at most."
    )


class SemanticHit(BaseModel):
    """One answer that was served for other words than it was stored under."""

    model_config = FIGURES_CONFIG

    query: str | None
    matched_query: str | None
    similarity: float | None
    probability: float | None
    at: str


class SemanticHits(BaseModel):
    """All of them counted, the newest listed."""

    model_config = FIGURES_CONFIG

    n: int
    lowest_similarity: float | None
    listed: list[SemanticHit]


def cache_counts(requests: pl.DataFrame) -> dict[str, int]:
    """Requests by cache outcome; every outcome is named, also those that did not happen."""
    return dict.fromkeys(get_args(CacheOutcome), 0) | counts(requests["cache_outcome"])


def hit_rates(requests: pl.DataFrame) -> HitRates:
    found = cache_counts(requests)
    of = sum(found.values())
    asked = requests["question"].drop_nulls()
    return HitRates(
        of=of,
        hit=share(sum(found[kind] for kind in HITS), of),
        repeated=asked.len() - asked.n_unique(),
        **{kind: share(found[kind], of) for kind in get_args(CacheOutcome)},
    )


def semantic_hits(hits: pl.DataFrame) -> SemanticHits:
    """From the rows whose cache outcome is semantic."""
    lowest = hits["similarity"].min()
    newest = hits.sort("requested_at", descending=True).head(MAX_SEMANTIC_HITS)
    return SemanticHits(
        n=hits.height,
        lowest_similarity=float(lowest) if isinstance(lowest, float) else None,
        listed=[
            SemanticHit(
                query=row["query"],
                matched_query=row["matched_query"],
                similarity=row["similarity"],
                probability=row["probability"],
                at=row["requested_at"].isoformat(timespec="milliseconds"),
            )
            for row in newest.iter_rows(named=True)
        ],
    )
