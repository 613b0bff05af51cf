"""Remembering for a moment that there is nothing to find (`cache.negative_ttl_s`).

Only a genuine empty answer counts: every provider of the chain that is in use was asked, and said `empty`. A timeout, an
error, a breaker, a budget or an answer that could not be read is an outage of ours or theirs, and is never remembered.
"""

import hashlib
from collections.abc import Sequence

from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.payload import Payload
from groundwire.schemas.plan import ProviderStep


def nothing_key(chain: Sequence[ProviderStep]) -> str:
    """The key of "nobody on this chain found anything": another chain may still find something."""
    return hashlib.sha256("\x00".join(["nothing found", *(step.cache_key for step in chain)]).encode()).hexdigest()


def nothing_entry(payload: Payload, ttl_s: int, now_ms: int) -> CacheEntry | None:
    """The entry that remembers it, without results; None when it was no genuine empty answer, or may not be kept."""
    plan = payload.plan
    if ttl_s <= 0 or payload.kind != "answer" or plan.cache == "bypass" or plan.refreshes_for is not None:
        return None
    if not _all_found_nothing(payload):
        return None
    first = plan.chain[0]
    costs = [attempt.cost_micro_usd for attempt in payload.attempts if attempt.outcome == "empty"]
    return CacheEntry(
        cache_key=nothing_key(plan.chain),
        facet=first.facet,
        provider=first.provider,
        tenant=plan.tenant,
        normalized_query=plan.normalized_query,
        language=plan.language,
        freshness=plan.freshness,
        depth=first.depth,
        results=[],
        cost_micro_usd=None if None in costs else sum(cost or 0 for cost in costs),
        stored_at_ms=now_ms,
        expires_at_ms=now_ms + ttl_s * 1000,
        payload_id=payload.payload_id,
        semantic=False,
    )


def is_nothing(entry: CacheEntry) -> bool:
    return not entry.results


def _all_found_nothing(payload: Payload) -> bool:
    in_use = [step for step in payload.plan.chain if step.skip is None]
    if not in_use or not all(step.storable for step in in_use):
        return False
    outcomes: dict[str, set[str]] = {}
    for attempt in payload.attempts:
        outcomes.setdefault(attempt.provider, set()).add(attempt.outcome)
    return all(outcomes.get(step.provider) == {"empty"} for step in in_use)
