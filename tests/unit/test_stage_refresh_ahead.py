"""Hot answers are fetched anew shortly before they end; nobody waits for it, and every cent of it is in the ledger."""

from typing import Any

import pytest

from groundwire.schemas.lookup import Fetch
from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES, EVENTS, FETCHES, PAYLOADS
from groundwire.streams.stages import refresh_ahead
from tests.unit.stage_fakes import (
    FakeProvider,
    ManualClock,
    Road,
    always,
    attempts_of,
    events_of,
    failed,
    inbound,
    payloads_of,
    reply_of,
    writes_of,
)

QUESTION = {"query": "tide tables", "freshness": "slow", "tenant": "harbour"}
HOUR_S = 3_600


def road(*providers: FakeProvider, enabled: bool = True, **more: Any) -> Road:
    ahead = {"enabled": enabled, "life_left": 0.1, "min_hits": 3, "max_share": 1.0, **more}
    settings = Settings.model_validate(
        {
            "routes": {"default": [provider.name for provider in providers]},
            "cache": {"ttl_s": {"slow": HOUR_S}, "refresh_ahead": ahead},
        }
    )
    return Road(*providers, settings=settings, clock=ManualClock())


async def hit(asked: Road, **more: Any) -> list[OutboundRecord]:
    """Ask, and give the refreshes that came of it beside the reply."""
    outputs = await asked.ask({**QUESTION, **more})
    receipt = reply_of([record for record in outputs if record.topic != FETCHES.name]).cache
    assert receipt is not None and receipt.outcome == "exact"
    return [record for record in outputs if record.topic == FETCHES.name]


async def hot(asked: Road, hits: int = 2, seconds: float = 0.95 * HOUR_S) -> None:
    await asked.ask(QUESTION)
    for _ in range(hits):
        assert await hit(asked) == []
    asked.clock.move(seconds)


async def test_a_hot_answer_near_its_end_is_fetched_anew_once_and_nobody_gets_a_reply() -> None:
    vendor = FakeProvider("alpha")
    asked = road(vendor)
    await hot(asked)
    (refresh,) = await hit(asked)
    outputs = await asked.take_to_vendors(refresh)
    assert {record.topic for record in outputs} == {PAYLOADS.name, EVENTS.name, CACHE_WRITES.name}
    (attempt,) = attempts_of(outputs)
    assert (attempt.tenant, attempt.cost_micro_usd, attempt.outcome) == (refresh_ahead.TENANT, 1_000, "ok")
    assert attempt.request_id.startswith("refresh-ahead-")
    assert events_of(outputs) == [attempt], "no row among the requests"
    (write,) = writes_of(outputs)
    assert write.entry is not None and write.entry.tenant == "harbour", "a purge by tenant still finds it"
    assert await hit(asked) == []
    asked.clock.move(0.5 * HOUR_S)
    assert await hit(asked) == []
    assert len(vendor.calls) == 2


async def test_it_is_off_unless_switched_on() -> None:
    assert not Settings().cache.refresh_ahead.enabled
    asked = road(FakeProvider("alpha"), enabled=False)
    await hot(asked)
    assert await hit(asked) == []


@pytest.mark.parametrize(("hits", "seconds"), [(1, 0.95 * HOUR_S), (9, 0.85 * HOUR_S)])
async def test_a_cold_answer_and_a_young_one_are_left_alone(hits: int, seconds: float) -> None:
    asked = road(FakeProvider("alpha"))
    await hot(asked, hits, seconds)
    assert await hit(asked) == []


async def test_hits_are_counted_anew_for_a_new_answer() -> None:
    asked = road(FakeProvider("alpha"))
    await hot(asked)
    await asked.ask({**QUESTION, "cache": "refresh"})
    asked.clock.move(0.95 * HOUR_S)
    assert await hit(asked) == []
    assert await hit(asked) == []
    assert len(await hit(asked)) == 1


async def test_refreshes_are_a_bounded_share_of_the_lookups() -> None:
    asked = road(FakeProvider("alpha"), max_share=0.05, min_hits=1)
    names = [f"tide table number {number}" for number in range(30)]
    for name in names:
        await asked.ask({**QUESTION, "query": name})
    asked.clock.move(0.95 * HOUR_S)
    refreshes = sum([len(await hit(asked, query=name)) for name in names])
    assert 1 <= refreshes <= 0.05 * 60


async def test_only_who_uses_the_cache_as_usual_causes_one() -> None:
    asked = road(FakeProvider("alpha"))
    await hot(asked)
    assert await hit(asked, cache="only") == []


async def test_a_refresh_that_fails_leaves_the_answer_and_no_trace_but_its_attempts() -> None:
    vendor = FakeProvider("alpha")
    asked = road(vendor)
    await hot(asked)
    (refresh,) = await hit(asked)
    vendor._script = always(failed("server_error"))
    outputs = await asked.take_to_vendors(refresh)
    assert {record.topic for record in outputs} == {PAYLOADS.name, EVENTS.name}
    assert [attempt.outcome for attempt in attempts_of(outputs)] == ["server_error"]
    assert await hit(asked) == []


async def test_a_refresh_delivered_twice_is_paid_once() -> None:
    vendor = FakeProvider("alpha")
    asked = road(vendor)
    await hot(asked)
    (refresh,) = await hit(asked)
    first = await asked.take_to_vendors(refresh)
    second = await asked.take_to_vendors(refresh)
    assert len(vendor.calls) == 2
    assert {event.event_id for event in attempts_of(first)} == {event.event_id for event in attempts_of(second)}


async def test_the_refreshes_have_a_budget_of_their_own() -> None:
    vendor = FakeProvider("alpha")
    asked = road(vendor)
    asked.settings = asked.settings.model_copy(
        update={
            "tenants": Settings.model_validate(
                {"tenants": {refresh_ahead.TENANT: {"budget_per_day_micro_usd": 1}}}
            ).tenants
        }
    )
    asked.fetch = asked.new_fetch()
    await hot(asked)
    (refresh,) = await hit(asked)
    outputs = await asked.take_to_vendors(refresh)
    assert [attempt.outcome for attempt in attempts_of(outputs)] == ["skipped"]
    assert len(vendor.calls) == 1


async def test_a_refresh_carries_nothing_of_the_caller_whose_hit_caused_it() -> None:
    asked = road(FakeProvider("alpha"))
    await hot(asked)
    outputs = await asked.ask({**QUESTION, "metadata": {"user": "secret"}}, headers=(("correlation-id", b"secret"),))
    (refresh,) = [record for record in outputs if record.topic == FETCHES.name]
    assert b"secret" not in refresh.value and b"secret".hex().encode() not in refresh.value
    plan = Fetch.decode(refresh.value).plan
    assert (plan.cache, plan.refreshes_for, len(plan.chain)) == ("refresh", "harbour", 1)


async def test_a_refresh_that_met_a_flight_under_way_writes_nothing_of_its_own() -> None:
    asked = road(FakeProvider("alpha"))
    await hot(asked)
    (refresh,) = await hit(asked)
    outputs = await asked.take_to_vendors(refresh)
    (paid,) = payloads_of(outputs, "answer")
    shared = paid.model_copy(update={"kind": "shared", "attempts": [], "marks": []})
    assert asked.unify(inbound(OutboundRecord(PAYLOADS.name, b"k", shared.encode())), asked.clock.now_ms()) == []
