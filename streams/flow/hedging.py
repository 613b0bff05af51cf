"""Whether a second vendor may be asked while the first is slow: only after its p95, only within a share of all spending."""

from groundwire.schemas.settings import HedgingSettings
from groundwire.streams.flow.latencies import Latencies


class Hedging:
    """Counts what hedges cost against what all calls cost, in micro-USD."""

    def __init__(self, settings: HedgingSettings) -> None:
        self._settings = settings
        self._latencies: dict[str, Latencies] = {}
        self._spent = 0
        self._hedged = 0

    def after_s(self, provider: str) -> float | None:
        """Seconds after which this provider's call is slow; None: never hedge it."""
        latencies = self._latencies.get(provider)
        p95_ms = latencies.p95_ms() if self._settings.enabled and latencies is not None else None
        return None if p95_ms is None else p95_ms / 1000

    def affordable(self, price_micro_usd: int | None) -> bool:
        """True when one more hedge at this price keeps within the share. Of an unknown price nobody can say that."""
        if price_micro_usd is None:
            return False
        return self._hedged + price_micro_usd <= self._settings.max_extra_cost * (self._spent + price_micro_usd)

    def ended(
        self, provider: str, *, answered: bool, latency_ms: float, cost_micro_usd: int | None, hedged: bool
    ) -> None:
        if answered:
            self._latencies.setdefault(provider, Latencies(self._settings.min_samples)).ended(latency_ms)
        self._spent += cost_micro_usd or 0
        if hedged:
            self._hedged += cost_micro_usd or 0
