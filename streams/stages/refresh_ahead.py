"""Hot answers are fetched anew shortly before they end (`cache.refresh_ahead`), so that no caller waits for the vendor then.

A refresh is a fetch that nobody waits for: no reply, no row among the requests. Its vendor calls are rows among the attempts like
all others, under the tenant `groundwire-refresh`, so that the ledger still equals the invoice and a budget can bound it.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.event import REFRESH_TENANT
from groundwire.schemas.lookup import Fetch
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import RefreshAheadSettings
from groundwire.schemas.topics import FETCHES

TENANT = REFRESH_TENANT
ROUTE = "refresh-ahead"
TIME_S = 15
MOST_KEYS = 20_000
# So many refreshes may be saved up and come at once.
_MOST_CREDIT = 5.0


@dataclass(slots=True)
class _Hot:
    """What is known of one answer, by the moment it was stored."""

    stored_at_ms: int
    hits: int = 0
    refreshed: bool = False


class RefreshAhead:
    """Counts hits, and says when one is worth a refresh. One for each worker; equal keys meet in one."""

    def __init__(self, settings: RefreshAheadSettings) -> None:
        self._settings = settings
        self._hits: OrderedDict[str, _Hot] = OrderedDict()
        self._credit = 0.0

    def on_lookup(self) -> None:
        """Every lookup earns its share of a refresh."""
        self._credit = min(self._credit + self._settings.max_share, _MOST_CREDIT)

    def on_hit(
        self, plan: Plan, step: ProviderStep, entry: CacheEntry, end_ms: int, now_ms: int
    ) -> OutboundRecord | None:
        """The fetch that refreshes this answer, when it is hot, near its end, not being refreshed yet, and affordable."""
        if not self._settings.enabled or step.skip is not None:
            return None
        hot = self._count(entry)
        near = (end_ms - now_ms) <= self._settings.life_left * (end_ms - entry.stored_at_ms)
        if hot.refreshed or hot.hits < self._settings.min_hits or not near or self._credit < 1:
            return None
        self._credit -= 1
        # Once for an answer: a refresh that fails leaves it to the next caller after its end.
        hot.refreshed = True
        return _fetch(plan, step, entry, now_ms)

    def _count(self, entry: CacheEntry) -> _Hot:
        hot = self._hits.pop(entry.cache_key, None)
        if hot is None or hot.stored_at_ms != entry.stored_at_ms:
            hot = _Hot(entry.stored_at_ms)
        hot.hits += 1
        self._hits[entry.cache_key] = hot
        if len(self._hits) > MOST_KEYS:
            self._hits.popitem(last=False)
        return hot


_NO_ADDRESS = {"correlation_name": None, "correlation_hex": None, "partition": None, "traceparent": None}


def _fetch(plan: Plan, step: ProviderStep, entry: CacheEntry, now_ms: int) -> OutboundRecord:
    # Named by the answer it refreshes: delivered twice, or wanted by two workers, it is one refresh.
    name = hashlib.sha256(f"{ROUTE} {step.cache_key} {entry.stored_at_ms}".encode()).hexdigest()[:32]
    refresh = plan.model_copy(
        update={
            "request_id": f"{ROUTE}-{name}",
            "reply_id": name,
            "tenant": TENANT,
            "refreshes_for": entry.tenant,
            "route": ROUTE,
            "chain": [step],
            "cache": "refresh",
            "max_age_s": None,
            "metadata": {},
            "address": plan.address.model_copy(update=_NO_ADDRESS),
            "warnings": [],
            "requested_at_ms": now_ms,
            "deadline_ms": now_ms + TIME_S * 1000,
            "queue_ms": 0.0,
            "normalize_ms": 0.0,
        }
    )
    return OutboundRecord(FETCHES.name, step.cache_key.encode(), Fetch(plan=refresh, lookup_ms=0.0).encode())
