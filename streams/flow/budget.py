"""What a provider or a tenant may cost a day and a month, in micro-USD. Days and months are UTC.

The spending of all workers comes from the attempt events, which survive a restart; what this worker spends is booked at
once, so that it can't run past a budget while its own events are on their way, and the price of a call under way is held
until it has ended. Two workers may each let a last call pass.
"""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime

from groundwire.schemas.event import AttemptEvent
from groundwire.schemas.settings import ProviderSettings, TenantSettings

# Attempts that are known by id, so that an event of our own, or one read twice, is booked once.
MOST_REMEMBERED = 100_000

_Period = tuple[str, str, str]  # ("provider" | "tenant", name, "2026-12-01" | "2026-12")


class Budgets:
    """Spending by provider and tenant, for the days and months that may still be asked about."""

    def __init__(self, providers: Mapping[str, ProviderSettings], tenants: Mapping[str, TenantSettings]) -> None:
        self._limits: dict[tuple[str, str], tuple[int | None, int | None]] = {
            **{("provider", name): _limits(own) for name, own in providers.items()},
            **{("tenant", name): _limits(own) for name, own in tenants.items()},
        }
        self._spent: dict[_Period, int] = {}
        self._held: dict[tuple[str, str], int] = {}
        self._booked: OrderedDict[str, None] = OrderedDict()

    def refusal(self, provider: str, tenant: str, price_micro_usd: int | None, now_ms: int) -> str | None:
        """Why a call of this price would pass a budget, or None. An unknown price passes while anything is left."""
        day, month = _day(now_ms), _month(now_ms)
        for kind, name in (("provider", provider), ("tenant", tenant)):
            for limit, period, word in zip(
                self._limits.get((kind, name), ()), (day, month), ("day", "month"), strict=False
            ):
                if limit is None:
                    continue
                spent = self._spent.get((kind, name, period), 0) + self._held.get((kind, name), 0)
                if spent >= limit or spent + (price_micro_usd or 0) > limit:
                    return f"budget of {kind} {name} for this {word} is spent ({spent} of {limit} micro-USD)"
        return None

    def hold(self, provider: str, tenant: str, price_micro_usd: int | None) -> None:
        """Count the price of a call that begins; a negative one takes it back when the call has ended."""
        for place in (("provider", provider), ("tenant", tenant)):
            if price_micro_usd and place in self._limits:
                self._held[place] = self._held.get(place, 0) + price_micro_usd

    def book(self, attempt_id: str, provider: str, tenant: str, cost_micro_usd: int | None, at_ms: int) -> None:
        """Book one attempt; the second time for the same id does nothing."""
        places = [place for place in (("provider", provider), ("tenant", tenant)) if place in self._limits]
        if not cost_micro_usd or not places or attempt_id in self._booked:
            return
        self._booked[attempt_id] = None
        if len(self._booked) > MOST_REMEMBERED:
            self._booked.popitem(last=False)
        for kind, name in places:
            for period in (_day(at_ms), _month(at_ms)):
                place = (kind, name, period)
                self._spent[place] = self._spent.get(place, 0) + cost_micro_usd

    def observe(self, event: AttemptEvent) -> None:
        """Book what another worker, or this one before a restart, has spent."""
        self.book(event.attempt_id, event.provider, event.tenant, event.cost_micro_usd, event.started_at_ms)

    def spent(self, kind: str, name: str, now_ms: int) -> tuple[int, int]:
        """(today, this month) in micro-USD, of a `provider` or `tenant` that has a limit."""
        return (
            self._spent.get((kind, name, _day(now_ms)), 0),
            self._spent.get((kind, name, _month(now_ms)), 0),
        )


def _limits(own: ProviderSettings | TenantSettings) -> tuple[int | None, int | None]:
    return own.budget_per_day_micro_usd, own.budget_per_month_micro_usd


def _day(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"


def _month(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m}"
