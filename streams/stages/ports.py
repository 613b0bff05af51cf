"""What the stages need from the rest of the house, as Protocols: each has a fake in the tests and one real side elsewhere."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

from groundwire.adapters.call import CallOutcome, MappedResult, ProviderCall, StorageTerms
from groundwire.adapters.spec import ProviderSpec
from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.plan import ProviderStep
from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.request import FreshnessClass
from groundwire.schemas.settings import CacheSettings

Publish = Callable[[Sequence[OutboundRecord]], Awaitable[None]]
"""Publishes records and returns when the broker has confirmed them all. Retries by itself; raises only when it gives up."""

PartitionCount = Callable[[str], int | None]
"""How many partitions a topic has: 0 when there is no such topic, None when that is not known."""

Timer = Callable[[], float]
"""A monotonic clock in seconds, for durations."""


class TtlRule(Protocol):
    """How long an answer may be served. The real one is lake.cache.expiry.ttl_s."""

    def __call__(
        self,
        settings: CacheSettings,
        *,
        provider: str,
        freshness: FreshnessClass,
        domains: Iterable[str],
        cap_s: int | None,
    ) -> int: ...


class Configured(Protocol):
    """What the operator chose for a vendor: a zone, a model, a search depth."""

    @property
    def options(self) -> Mapping[str, str]: ...


class PlannedProvider(Protocol):
    """A vendor as normalize sees it: can it be called at all, and what may be kept of its answers?"""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> ProviderSpec: ...
    @property
    def adapter(self) -> Configured: ...
    @property
    def storage(self) -> StorageTerms: ...
    def unavailable(self) -> str | None: ...
    def clamp_depth(self, depth: int) -> int: ...
    def warnings(self, call: ProviderCall) -> list[str]: ...


class CallableProvider(Protocol):
    """A vendor as fetch sees it. `unfit` says why it can't serve a call (or any: no key); `call` never raises anything but
    CancelledError."""

    @property
    def name(self) -> str: ...
    @property
    def timeout_s(self) -> float: ...
    @property
    def requests_per_s(self) -> float | None: ...
    @property
    def max_concurrency(self) -> int | None: ...
    @property
    def storage(self) -> StorageTerms: ...
    def unfit(self, call: ProviderCall) -> str | None: ...
    @property
    def key_count(self) -> int: ...
    def has_another_key(self) -> bool: ...
    def price_micro_usd(self, call: ProviderCall) -> int | None: ...
    async def call(self, call: ProviderCall, timeout_s: float) -> CallOutcome: ...


class MappingProvider(Protocol):
    """A vendor as unify sees it: a raw answer becomes results. Raises BadAnswer."""

    @property
    def storage(self) -> StorageTerms: ...
    def results(self, body: str, call: ProviderCall, received_at_ms: int) -> list[MappedResult]: ...


class Directory(Protocol):
    """The providers there are. `get` raises KeyError."""

    def get(self, name: str) -> PlannedProvider: ...
    def names(self) -> list[str]: ...


class CallableDirectory(Protocol):
    def get(self, name: str) -> CallableProvider: ...


class MappingDirectory(Protocol):
    def get(self, name: str) -> MappingProvider: ...


class CachePort(Protocol):
    """The exact tier. With `stale_s` an entry that ended up to so many seconds ago is given too. One that is not read from
    the disk within `patience_s` is not given."""

    async def exact(self, cache_key: str, now_ms: int, *, stale_s: int = 0, patience_s: float) -> CacheEntry | None: ...


class EmbedPort(Protocol):
    @property
    def model(self) -> str: ...
    async def embed(self, text: str) -> list[float]: ...


class SemanticMatch(Protocol):
    """An entry of another question that answers this one, and why that was believed."""

    @property
    def entry(self) -> CacheEntry: ...
    @property
    def similarity(self) -> float: ...
    @property
    def probability(self) -> float: ...
    @property
    def reason(self) -> str: ...


class SemanticPort(Protocol):
    def reads(self, query: str) -> bool: ...
    async def match(
        self,
        query: str,
        language: str | None,
        step: ProviderStep,
        vector: list[float],
        min_similarity: float | None,
        now_ms: int,
        *,
        stored_since_ms: int | None = None,
    ) -> SemanticMatch | None: ...


class Clock(Protocol):
    """Time, so that no rule reads it behind a test's back."""

    def now_ms(self) -> int: ...
    def monotonic(self) -> float: ...
