"""Whether a provider may be asked now: breaker, cool-down, budget, rate and concurrency, in that order."""

from dataclasses import dataclass

from groundwire.adapters.call import CallOutcome, ProviderCall
from groundwire.schemas.settings import Settings
from groundwire.streams.flow.breaker import Breaker
from groundwire.streams.flow.budget import Budgets
from groundwire.streams.flow.cool_down import CoolDown
from groundwire.streams.flow.limits import ConcurrencyCap, RateLimit
from groundwire.streams.stages.ports import CallableProvider, Clock


@dataclass(slots=True)
class _Guards:
    breaker: Breaker
    cool_down: CoolDown
    rate: RateLimit
    cap: ConcurrencyCap


@dataclass(frozen=True, slots=True)
class Guarded:
    """What can be seen of one provider's guards, for metrics and `providers list`."""

    breaker: str
    under_way: int


class Gate:
    """The guards of all providers. `refusal` asks; `enter` and `leave` stand around a call, and `leave` learns from it."""

    def __init__(self, settings: Settings, clock: Clock, budgets: Budgets) -> None:
        self._settings = settings
        self._clock = clock
        self._budgets = budgets
        self._share = 1.0
        self._guards: dict[str, _Guards] = {}

    def set_share(self, share: float) -> None:
        """This worker's part of all fetch partitions, 0 to 1: its part of every rate limit and concurrency cap."""
        self._share = share
        for guards in self._guards.values():
            guards.rate.set_share(share)
            guards.cap.set_share(share)

    def refusal(self, provider: CallableProvider, tenant: str, call: ProviderCall) -> str | None:
        """Why the provider may not be asked at all now, or None."""
        guards, now = self._of(provider), self._clock.monotonic()
        return (
            guards.breaker.refusal(now)
            or guards.cool_down.refusal(now)
            or self._budgets.refusal(provider.name, tenant, provider.price_micro_usd(call), self._clock.now_ms())
        )

    def rate_wait_s(self, provider: CallableProvider) -> float:
        return self._of(provider).rate.wait_s()

    async def enter(self, provider: CallableProvider, tenant: str, call: ProviderCall, wait_s: float) -> str | None:
        """Take a place under the concurrency cap and count the call. Gives the reason when that can't be done in `wait_s`."""
        guards = self._of(provider)
        entered = False
        guards.rate.take()
        try:
            entered = await guards.cap.enter(wait_s)
            if not entered:
                return "too many calls under way"
            # Others may have begun, failed or spent while this one waited.
            reason = self.refusal(provider, tenant, call)
            if reason is not None:
                guards.cap.leave()
                entered = False
                return reason
        finally:
            if not entered:
                guards.rate.give_back()
        guards.breaker.began(self._clock.monotonic())
        self._budgets.hold(provider.name, tenant, provider.price_micro_usd(call))
        return None

    def leave(self, provider: CallableProvider, tenant: str, call: ProviderCall, outcome: CallOutcome | None) -> None:
        """The call has ended; `outcome` None: it was broken off, which says nothing about the vendor."""
        guards, now = self._of(provider), self._clock.monotonic()
        guards.cap.leave()
        price = provider.price_micro_usd(call)
        self._budgets.hold(provider.name, tenant, -price if price else None)
        if outcome is not None:
            guards.breaker.ended(outcome.outcome, now)
            guards.cool_down.ended(outcome, now)

    def seen(self, name: str) -> Guarded | None:
        guards = self._guards.get(name)
        if guards is None:
            return None
        return Guarded(guards.breaker.state(self._clock.monotonic()), guards.cap.under_way)

    def _of(self, provider: CallableProvider) -> _Guards:
        guards = self._guards.get(provider.name)
        if guards is None:
            guards = _Guards(
                Breaker(self._settings.breaker),
                CoolDown(self._settings.retry.retry_after_cap_s),
                RateLimit(provider.requests_per_s, self._clock),
                ConcurrencyCap(provider.max_concurrency),
            )
            guards.rate.set_share(self._share)
            guards.cap.set_share(self._share)
            self._guards[provider.name] = guards
        return guards
