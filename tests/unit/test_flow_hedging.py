"""When a second vendor may be asked, and what that may cost."""

from groundwire.schemas.settings import HedgingSettings
from groundwire.streams.flow.hedging import Hedging

ON = HedgingSettings(enabled=True, max_extra_cost=0.1, min_samples=20)


def answered(
    hedging: Hedging, times: int, latency_ms: float = 100.0, cost: int | None = 100, hedged: bool = False
) -> None:
    for _ in range(times):
        hedging.ended("alpha", answered=True, latency_ms=latency_ms, cost_micro_usd=cost, hedged=hedged)


def test_a_provider_is_slow_after_its_p95() -> None:
    hedging = Hedging(ON)
    for latency_ms in range(1, 101):
        answered(hedging, 1, float(latency_ms))
    assert hedging.after_s("alpha") == 0.096


def test_too_few_samples_or_switched_off_means_no_hedge() -> None:
    few = Hedging(ON)
    answered(few, 19)
    assert few.after_s("alpha") is None
    assert few.after_s("beta") is None
    off = Hedging(HedgingSettings(enabled=False, min_samples=1))
    answered(off, 50)
    assert off.after_s("alpha") is None


def test_failures_say_nothing_about_how_fast_it_answers() -> None:
    hedging = Hedging(ON)
    for _ in range(50):
        hedging.ended("alpha", answered=False, latency_ms=8_000, cost_micro_usd=0, hedged=False)
    assert hedging.after_s("alpha") is None


def test_hedges_stay_within_their_share_of_all_spending() -> None:
    hedging = Hedging(ON)
    assert not hedging.affordable(100)
    answered(hedging, 9)
    assert hedging.affordable(100)
    answered(hedging, 1, hedged=True)
    assert not hedging.affordable(100)
    answered(hedging, 9)
    assert not hedging.affordable(200)
    assert hedging.affordable(0)


def test_a_hedge_of_unknown_price_is_not_affordable() -> None:
    hedging = Hedging(ON)
    answered(hedging, 100)
    assert not hedging.affordable(None)
