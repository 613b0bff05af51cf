"""What was allowed when an answer was stored need not be today: the rules of now hold when it is read."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import FETCHES
from tests.unit.stage_fakes import (
    DAY_MS,
    KEEP_A_WEEK,
    KEEP_FOR_ONE_TENANT,
    KEEP_NOTHING,
    NOON_MS,
    FakeProvider,
    Match,
    Road,
    after,
    reply_of,
    writes_of,
)
from tests.unit.test_stage_lookup import Desk, entry_for, fetch_of

ONE_HOUR = replace(KEEP_A_WEEK, max_ttl_s=3_600)


def is_miss(outputs: list[Any]) -> bool:
    return bool(outputs[0].topic == FETCHES.name)


@pytest.mark.parametrize(
    ("age_s", "terms", "served"),
    [(3_599, ONE_HOUR, True), (3_600, ONE_HOUR, False), (60, KEEP_NOTHING, False), (3_600, KEEP_A_WEEK, True)],
)
@pytest.mark.parametrize("by_meaning", [False, True])
async def test_an_entry_older_than_the_vendors_present_terms_allow_is_not_served(
    age_s: int, terms: Any, served: bool, by_meaning: bool
) -> None:
    desk = Desk(FakeProvider("alpha"))
    plan = desk.plan()
    times = {"stored_at_ms": NOON_MS - age_s * 1000, "expires_at_ms": NOON_MS + DAY_MS}
    if by_meaning:
        desk.semantic.matches["alpha"] = Match(entry_for(plan, cache_key="other", normalized_query="o", **times))
    else:
        desk.store(plan, **times)
    desk.stage = desk.new_stage(FakeProvider("alpha", storage=terms))
    assert is_miss(await desk.look(plan)) is not served


async def test_an_entry_of_a_provider_that_is_gone_is_not_served() -> None:
    desk = Desk(FakeProvider("alpha"))
    plan = desk.plan()
    desk.store(plan)
    desk.stage = desk.new_stage(FakeProvider("another"))
    fetch_of(await desk.look(plan))


async def test_a_shorter_time_to_live_holds_for_what_is_stored_already() -> None:
    long = {"stored_at_ms": NOON_MS - 7_200_000, "expires_at_ms": NOON_MS + DAY_MS}
    for settings in (
        {"ttl_s": {"slow": 7_200}},
        {"ttl_provider_s": {"alpha": 7_200}},
        {"ttl_domain_s": {"e.example": 7_200}},
    ):
        desk = Desk(FakeProvider("alpha"), cache=settings)
        plan = desk.plan(freshness="slow")
        desk.store(plan, **long)
        fetch_of(await desk.look(plan))
        assert reply_of(await desk.look(desk.plan(freshness="slow", request_id="earlier"), NOON_MS - 1)).results


async def test_the_reply_and_the_back_fill_end_when_the_present_rules_end() -> None:
    desk = Desk(FakeProvider("alpha"))
    plan = desk.plan()
    source = entry_for(plan, cache_key="other", normalized_query="other words", expires_at_ms=NOON_MS + DAY_MS)
    desk.semantic.matches["alpha"] = Match(source)
    desk.stage = desk.new_stage(FakeProvider("alpha", storage=ONE_HOUR))
    outputs = await desk.look(plan)
    receipt = reply_of(outputs).cache
    assert receipt is not None and receipt.expires_at == "2026-12-01T12:59:30.000Z"
    (write,) = writes_of(outputs)
    assert write.entry is not None and write.entry.expires_at_ms == source.stored_at_ms + 3_600_000


async def test_an_answer_that_was_stored_as_static_lives_for_a_slow_question_as_long_as_a_slow_one() -> None:
    desk = Desk(FakeProvider("alpha", storage=replace(KEEP_A_WEEK, max_ttl_s=60 * 86_400)))
    slow, static = desk.plan(query="who is the mayor of Oslo"), desk.plan(query="who wrote the song of Oslo")
    assert (slow.freshness, static.freshness) == ("slow", "static")
    times = {"stored_at_ms": NOON_MS - 8 * DAY_MS, "expires_at_ms": NOON_MS + 22 * DAY_MS, "freshness": "static"}
    desk.semantic.matches["alpha"] = Match(entry_for(static, cache_key="other", normalized_query="o", **times))
    fetch_of(await desk.look(slow))
    assert reply_of(await desk.look(static)).status == "grounded"


async def test_a_stale_answer_keeps_to_the_vendors_terms() -> None:
    desk = Desk(FakeProvider("alpha"), cache={"stale_if_error_s": 600})
    plan = desk.plan()
    desk.store(plan, stored_at_ms=NOON_MS - 3_700_000, expires_at_ms=NOON_MS - 1_000)
    assert fetch_of(await desk.look(plan)).stale is not None
    desk.stage = desk.new_stage(FakeProvider("alpha", storage=ONE_HOUR))
    assert fetch_of(await desk.look(plan)).stale is None


# ---- tenants ---------------------------------------------------------------------------------------------------------


async def ask(road: Road, tenant: str, **more: Any) -> Any:
    return reply_of(await road.ask({"query": "tide tables", "tenant": tenant, **more}))


@pytest.mark.parametrize(
    ("scope", "storage", "shared"),
    [
        ("shared", KEEP_A_WEEK, True),
        ("tenant", KEEP_A_WEEK, False),
        ("shared", KEEP_FOR_ONE_TENANT, False),
        ("tenant", KEEP_FOR_ONE_TENANT, False),
    ],
)
async def test_what_one_tenant_paid_for_serves_another_only_where_operator_and_vendor_allow(
    scope: str, storage: Any, shared: bool
) -> None:
    vendor = FakeProvider("alpha", storage=storage)
    settings = Settings.model_validate({"routes": {"default": ["alpha"]}, "cache": {"scope": scope}})
    road = Road(vendor, settings=settings)
    await ask(road, "a")
    assert (await ask(road, "a")).cache.outcome == "exact"
    other = await ask(road, "b")
    assert other.cache.outcome == ("exact" if shared else "miss")
    assert len(vendor.calls) == (1 if shared else 2)


async def test_a_private_tenants_answers_are_not_found_by_meaning_either() -> None:
    settings = Settings.model_validate({"routes": {"default": ["alpha"]}, "cache": {"scope": "tenant"}})
    desk = Desk(FakeProvider("alpha"), **settings.model_dump(include={"cache", "routes"}))
    one, other = (desk.plan(tenant=tenant).chain[0] for tenant in ("a", "b"))
    assert one.facet != other.facet
    assert one.cache_key != other.cache_key


async def test_one_provider_may_be_private_while_another_is_shared() -> None:
    desk = Desk(FakeProvider("alpha", storage=KEEP_FOR_ONE_TENANT), FakeProvider("beta"))
    mine, theirs = desk.plan(tenant="a").chain, desk.plan(tenant="b").chain
    assert mine[0].cache_key != theirs[0].cache_key
    assert mine[1].cache_key == theirs[1].cache_key


async def test_an_answer_in_flight_is_not_shared_with_a_private_tenant_but_a_recent_one_of_its_own_is() -> None:
    vendor = FakeProvider("alpha", storage=KEEP_FOR_ONE_TENANT, script=after(0.05, name="alpha"))
    road = Road(vendor)
    await asyncio.gather(ask(road, "a"), ask(road, "b"), ask(road, "a"))
    assert len(vendor.calls) == 2
