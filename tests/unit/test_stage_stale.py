"""When nobody answers, an answer past its end may be served: flagged, not too old, and only where the operator allows it."""

import asyncio
from typing import Any

import pytest

from groundwire.schemas.reply import AttemptOutcome, SearchReply
from groundwire.schemas.settings import Settings
from tests.unit.stage_fakes import (
    FakeProvider,
    ManualClock,
    Road,
    after,
    always,
    failed,
    reply_of,
    request_event_of,
    writes_of,
)

QUESTION = {"query": "tide tables", "freshness": "slow"}
TTL_S, STALE_S = 1_000, 300


def road(*providers: FakeProvider, stale_s: int = STALE_S) -> Road:
    names = [provider.name for provider in providers]
    cache = {"ttl_s": {"slow": TTL_S}, "stale_if_error_s": stale_s}
    return Road(
        *providers,
        settings=Settings.model_validate({"routes": {"default": names}, "cache": cache}),
        clock=ManualClock(),
    )


async def then(asked: Road, vendor: FakeProvider, seconds: int, outcome: AttemptOutcome, **more: Any) -> SearchReply:
    """Ask once, and again so much later when the vendor does nothing but that."""
    await asked.ask(QUESTION)
    asked.clock.move(seconds)
    vendor._script = always(failed(outcome))
    return reply_of(await asked.ask({**QUESTION, **more}))


@pytest.mark.parametrize(
    "outcome", ["timeout", "transport", "server_error", "rate_limited", "quota", "auth", "bad_answer"]
)
async def test_it_is_flagged_and_says_how_far_past_its_end_it_is(outcome: AttemptOutcome) -> None:
    vendor = FakeProvider("alpha")
    reply = await then(road(vendor), vendor, TTL_S + 200, outcome)
    assert reply.cache is not None
    assert (reply.status, reply.cache.outcome, reply.cache.age_s) == ("grounded", "stale", 1_200.0)
    assert reply.cache.expires_at == "2026-12-01T12:16:40.000Z"
    assert any("200 s past its end" in warning for warning in reply.warnings)
    assert [attempt.outcome for attempt in reply.attempts] == [outcome], "the receipt tells what was tried"


@pytest.mark.parametrize(
    ("seconds", "stale_s", "served"),
    [
        (TTL_S, STALE_S, True),
        (TTL_S + STALE_S - 1, STALE_S, True),
        (TTL_S + STALE_S, STALE_S, False),
        (TTL_S, 0, False),
    ],
)
async def test_its_age_is_bounded_and_by_default_there_is_none(seconds: int, stale_s: int, served: bool) -> None:
    vendor = FakeProvider("alpha")
    reply = await then(road(vendor, stale_s=stale_s), vendor, seconds, "server_error")
    assert (reply.status == "grounded") is served
    assert (reply.cache is not None and reply.cache.outcome == "stale") is served
    assert Settings().cache.stale_if_error_s == 0


async def test_a_vendor_that_answers_is_always_better() -> None:
    vendor, second = FakeProvider("alpha"), FakeProvider("beta")
    reply = await then(road(vendor, second), vendor, TTL_S + 1, "server_error")
    assert reply.cache is not None
    assert (reply.provider, reply.cache.outcome) == ("beta", "miss")


async def test_the_callers_limit_of_age_holds() -> None:
    vendor = FakeProvider("alpha")
    reply = await then(road(vendor), vendor, TTL_S + 1, "server_error", max_age_s=TTL_S)
    assert (reply.status, reply.results) == ("ungrounded", [])


@pytest.mark.parametrize("mode", ["refresh", "bypass", "only"])
async def test_who_asked_for_no_cached_answer_or_for_no_vendor_gets_none(mode: str) -> None:
    vendor = FakeProvider("alpha")
    reply = await then(road(vendor), vendor, TTL_S + 1, "server_error", cache=mode)
    assert (reply.status, reply.context) == ("ungrounded", "")


async def test_a_query_that_the_vendor_rejects_is_the_callers_mistake_all_the_same() -> None:
    vendor = FakeProvider("alpha")
    assert (await then(road(vendor), vendor, TTL_S + 1, "rejected")).status == "error"


async def test_it_is_not_written_back_and_the_event_says_stale() -> None:
    vendor = FakeProvider("alpha")
    asked = road(vendor)
    await then(asked, vendor, TTL_S + 1, "server_error")
    outputs = await asked.ask(QUESTION)
    assert request_event_of(outputs).cache_outcome == "stale"
    assert writes_of(outputs) == []


async def test_those_who_waited_for_the_same_failed_call_get_it_too() -> None:
    vendor = FakeProvider("alpha")
    asked = road(vendor)
    await asked.ask(QUESTION)
    asked.clock.move(TTL_S + 1)
    vendor._script = after(0.01, failed("server_error"))
    calls = len(vendor.calls)
    replies = [reply_of(outputs) for outputs in await asyncio.gather(*(asked.ask(QUESTION) for _ in range(3)))]
    assert {reply.cache.outcome for reply in replies if reply.cache} == {"stale"}
    assert len(vendor.calls) == calls + 1
