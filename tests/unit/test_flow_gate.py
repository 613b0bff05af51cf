"""The gate: what happens to those who wait at it."""

import asyncio

import pytest

from groundwire.adapters.call import ProviderCall
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings
from groundwire.streams.flow.budget import Budgets
from groundwire.streams.flow.gate import Gate
from tests.unit.stage_fakes import FakeProvider, ManualClock, answered, failed

CALL = ProviderCall("tide tables", 5, None, None, "slow", Filters())


def gate(clock: ManualClock | None = None, **settings: object) -> Gate:
    some = Settings.model_validate(settings)
    return Gate(some, clock or ManualClock(), Budgets(some.providers, some.tenants))


async def test_who_waited_for_a_place_is_refused_when_the_provider_broke_meanwhile_and_leaves_the_place_free() -> None:
    some = gate(breaker={"min_calls": 1})
    alpha = FakeProvider("alpha", max_concurrency=1)
    assert await some.enter(alpha, "t", CALL, 0) is None
    waiting = asyncio.create_task(some.enter(alpha, "t", CALL, 60))
    await asyncio.sleep(0)
    some.leave(alpha, "t", CALL, failed("server_error"))
    assert (await waiting or "").startswith("breaker open")
    seen = some.seen("alpha")
    assert seen is not None
    assert (seen.breaker, seen.under_way) == ("open", 0)


async def test_a_call_that_found_no_place_does_not_count_against_the_rate() -> None:
    some = gate()
    alpha = FakeProvider("alpha", max_concurrency=1, requests_per_s=2)
    assert await some.enter(alpha, "t", CALL, 0) is None
    for _ in range(5):
        assert await some.enter(alpha, "t", CALL, 0) == "too many calls under way"
    assert some.rate_wait_s(alpha) == 0


async def test_who_is_cancelled_at_the_gate_gives_the_rate_back() -> None:
    some = gate()
    alpha = FakeProvider("alpha", max_concurrency=1, requests_per_s=2)
    assert await some.enter(alpha, "t", CALL, 0) is None
    waiting = asyncio.create_task(some.enter(alpha, "t", CALL, 60))
    await asyncio.sleep(0)
    assert some.rate_wait_s(alpha) > 0
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert some.rate_wait_s(alpha) == 0


async def test_the_price_held_for_a_call_is_free_again_when_it_has_ended() -> None:
    some = gate(tenants={"t": {"budget_per_day_micro_usd": 1_000}})
    alpha = FakeProvider("alpha", price=1_000)
    assert await some.enter(alpha, "t", CALL, 0) is None
    assert some.refusal(alpha, "t", CALL) is not None
    some.leave(alpha, "t", CALL, answered("alpha", "tide tables", price=0))
    assert some.refusal(alpha, "t", CALL) is None


async def test_a_share_of_the_partitions_is_a_share_of_the_limits_also_of_providers_asked_before() -> None:
    some = gate()
    alpha, beta = (FakeProvider(name, max_concurrency=4) for name in ("alpha", "beta"))
    assert await some.enter(alpha, "t", CALL, 0) is None
    some.set_share(0.25)
    for provider, free in ((alpha, 0), (beta, 1)):
        results = [await some.enter(provider, "t", CALL, 0) for _ in range(2)]
        assert results.count(None) == free
