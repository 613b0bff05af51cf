"""Until when a stored answer may be served, by the rules of now: a vendor's terms and the operator's times to live may have
changed since it was stored, and what was allowed then need not be today."""

from collections.abc import Iterable
from typing import Protocol

from groundwire.adapters.call import StorageTerms
from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.request import FreshnessClass
from groundwire.schemas.settings import CacheSettings
from groundwire.streams.stages.hosts import hosts_of
from groundwire.streams.stages.ports import TtlRule


class Storing(Protocol):
    @property
    def storage(self) -> StorageTerms: ...


class StoringDirectory(Protocol):
    """The providers, as far as what may be kept of them. `get` raises KeyError."""

    def get(self, name: str) -> Storing: ...


class ServingTerms:
    """Moments are Unix milliseconds."""

    def __init__(self, providers: StoringDirectory, settings: CacheSettings, ttl: TtlRule) -> None:
        self._providers = providers
        self._settings = settings
        self._ttl = ttl

    def end_ms(self, entry: CacheEntry, asked_as: FreshnessClass) -> int:
        """When the entry ends for a question of this class: never later than it was stored for.

        A question that is `slow` may meet an answer that was stored as `static`; it then lives as long as a slow one.
        """
        hosts: Iterable[str] = hosts_of(entry.results) if self._settings.ttl_domain_s else ()
        ttl_s = self._ttl(
            self._settings,
            provider=entry.provider,
            freshness=asked_as,
            domains=hosts,
            cap_s=self._cap_s(entry.provider),
        )
        return min(entry.expires_at_ms, entry.stored_at_ms + ttl_s * 1000)

    def allowed_until_ms(self, entry: CacheEntry) -> int:
        """When the vendor's terms forbid the entry, also as a stale answer."""
        return entry.stored_at_ms + self._cap_s(entry.provider) * 1000

    def _cap_s(self, provider: str) -> int:
        try:
            terms = self._providers.get(provider).storage
        except KeyError:
            return 0
        return terms.max_ttl_s if terms.allowed else 0
