"""The four stages together, in memory: what a caller sees of them."""

import asyncio

import pytest

from groundwire.adapters.call import CallOutcome, ProviderCall
from groundwire.schemas.lookup import Lookup
from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import FetchSettings, Settings
from groundwire.schemas.topics import LOOKUPS
from groundwire.streams.stages.lookup import LookupStage
from tests.unit.stage_fakes import (
    KEEP_NOTHING,
    FakeProvider,
    ManualClock,
    Match,
    Road,
    after,
    always,
    answered,
    attempts_of,
    failed,
    inbound,
    payloads_of,
    reply_of,
    request_event_of,
    writes_of,
)


async def test_a_question_is_answered_by_the_vendor_and_the_second_time_from_the_cache() -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    first = reply_of(await road.ask({"query": "capital of France"}))
    second = reply_of(await road.ask({"query": "Capital  of FRANCE?"}))
    assert (first.status, first.provider, first.cache and first.cache.outcome) == ("grounded", "alpha", "miss")
    assert (first.cost_micro_usd, first.saved_micro_usd) == (1_000, None)
    assert [attempt.outcome for attempt in first.attempts] == ["ok"]
    assert [result.index for result in first.results] == [1, 2]
    assert "[1] capital of France 1\nhttps://alpha.example/1\n> alpha says 1" in first.context
    assert second.cache is not None
    assert second.cache.outcome == "exact"
    assert (second.cost_micro_usd, second.saved_micro_usd, second.attempts) == (0, 1_000, [])
    assert (second.results, second.context) == (first.results, first.context)
    assert second.query == "Capital  of FRANCE?"
    assert second.normalized_query == "capital of france"
    assert len(vendor.calls) == 1


async def test_a_question_in_other_words_is_a_semantic_hit_and_the_next_asking_an_exact_one() -> None:
    road = Road(FakeProvider("alpha"))
    await road.ask({"query": "capital of france"})
    (entry,) = road.cache.entries.values()
    road.semantic.matches["alpha"] = Match(entry)
    outputs = await road.ask({"query": "france capital city"})
    reply = reply_of(outputs)
    assert reply.cache is not None
    assert (reply.cache.outcome, reply.cache.matched_query) == ("semantic", "capital of france")
    assert (reply.cache.similarity, reply.cache.probability) == (0.97, 0.995)
    assert reply.cache.reason == "same numbers, same order"
    (back_fill,) = writes_of(outputs)
    assert back_fill.entry is not None
    assert back_fill.entry.expires_at_ms == entry.expires_at_ms
    assert back_fill.entry.stored_at_ms == entry.stored_at_ms
    assert not back_fill.entry.semantic
    again = reply_of(await road.ask({"query": "France capital city"}))
    assert again.cache is not None
    assert (again.cache.outcome, again.cache.matched_query) == ("exact", "capital of france")


async def test_a_thousand_equal_requests_at_once_cost_one_call() -> None:
    vendor = FakeProvider("alpha", script=after(0.05, name="alpha"))
    road = Road(vendor)
    replies = [
        reply_of(outputs) for outputs in await asyncio.gather(*(road.ask({"query": "tide"}) for _ in range(1_000)))
    ]
    outcomes = sorted(reply.cache.outcome for reply in replies if reply.cache)
    assert outcomes == ["coalesced"] * 999 + ["miss"]
    assert len(vendor.calls) == 1
    assert sum(reply.cost_micro_usd or 0 for reply in replies) == 1_000
    assert {reply.status for reply in replies} == {"grounded"}
    coalesced = next(reply for reply in replies if reply.cache and reply.cache.outcome == "coalesced")
    assert (coalesced.cost_micro_usd, coalesced.saved_micro_usd, coalesced.attempts) == (0, 1_000, [])
    assert coalesced.provider == "alpha"


async def test_a_request_between_the_answer_and_the_view_is_served_and_not_paid() -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    road.dropped_cache_writes = True
    await road.ask({"query": "tide tables"})
    reply = reply_of(await road.ask({"query": "tide tables"}))
    assert reply.cache is not None
    assert reply.cache.outcome == "coalesced"
    assert reply.cost_micro_usd == 0
    assert len(vendor.calls) == 1


async def test_the_next_provider_answers_when_the_first_fails_and_the_receipt_says_so() -> None:
    road = Road(FakeProvider("alpha", script=always(failed("server_error", "503"))), FakeProvider("beta"))
    outputs = await road.ask({"query": "tide tables"})
    reply = reply_of(outputs)
    assert reply.provider == "beta"
    assert [(attempt.provider, attempt.outcome) for attempt in reply.attempts] == [
        ("alpha", "server_error"),
        ("beta", "ok"),
    ]
    assert [event.outcome for event in attempts_of(outputs)] == ["server_error", "ok"]
    assert request_event_of(outputs).attempts == 2


async def test_nobody_answers_and_the_reply_says_so_with_an_empty_context() -> None:
    road = Road(
        FakeProvider("alpha", script=always(failed("auth", "401"))), FakeProvider("beta", missing="no key: set BETA")
    )
    outputs = await road.ask({"query": "tide tables"})
    reply = reply_of(outputs)
    assert (reply.status, reply.context, reply.results, reply.provider) == ("ungrounded", "", [], None)
    assert [(attempt.provider, attempt.outcome, attempt.reason) for attempt in reply.attempts] == [
        ("alpha", "auth", "401"),
        ("beta", "skipped", "no key: set BETA"),
    ]
    assert writes_of(outputs) == []


async def test_the_same_request_sent_again_gets_the_same_reply_and_costs_nothing_more() -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    request = {"query": "tide tables", "request_id": "r-1"}
    first = reply_of(await road.ask(request, (("correlation-id", b"one"),)))
    outputs = await road.ask(request, (("correlation-id", b"two"),))
    second = reply_of(outputs)
    unlike = {"latency_ms", "completed_at"}
    assert second.model_dump(exclude=unlike) == first.model_dump(exclude=unlike)
    assert (second.reply_id, second.cost_micro_usd) == (first.reply_id, 1_000)
    assert len(vendor.calls) == 1
    assert request_event_of(outputs).event_id == first.reply_id
    assert ("correlation-id", b"two") in [header for record in outputs for header in record.headers]


async def test_a_hit_sent_again_is_the_same_reply_to_the_letter() -> None:
    road = Road(FakeProvider("alpha"))
    await road.ask({"query": "tide tables"})
    request = {"query": "tide tables", "request_id": "r-2"}
    first = reply_of(await road.ask(request))
    await asyncio.sleep(0.01)
    second = reply_of(await road.ask(request))
    assert first.cache is not None
    assert first.cache.outcome == "exact"
    assert second == first


async def test_past_its_deadline_nobody_is_asked_and_the_reply_says_why() -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    past = str(road.clock.now_ms() - 1_000).encode()
    reply = reply_of(await road.ask({"query": "too late"}, headers=(("deadline", past),)))
    assert (reply.status, reply.context, reply.cost_micro_usd) == ("ungrounded", "", 0)
    assert "deadline" in " ".join(reply.warnings)
    assert vendor.calls == []


async def test_a_request_answered_in_time_stays_answered_when_it_is_looked_up_again_too_late() -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    road.dropped_cache_writes = True  # the view has not seen the answer yet
    first = reply_of(await road.ask({"query": "capital of france", "request_id": "r", "timeout_s": 2}))
    road.clock.move(5)
    # The worker that looked it up is gone; another looks it up again, past its deadline.
    road.lookup = LookupStage(road.cache, road.embedder, road.semantic, road.settings, road.terms())
    plan = payloads_of(road.published)[-1].plan
    second = await road.lookup(
        inbound(OutboundRecord(LOOKUPS.name, b"", Lookup(plan=plan).encode())), road.clock.now_ms()
    )
    again = reply_of(await road.take_to_vendors(second[0]))
    assert (again.reply_id, again.status, again.results) == (first.reply_id, first.status, first.results)
    assert len(vendor.calls) == 1


async def test_an_answer_that_may_not_be_stored_is_paid_again_and_has_no_end() -> None:
    vendor = FakeProvider("alpha", storage=KEEP_NOTHING)
    road = Road(vendor)
    first = await road.ask({"query": "tide tables"})
    second = reply_of(await road.ask({"query": "tide tables"}))
    assert writes_of(first) == []
    assert second.cache is not None
    assert (second.cache.outcome, second.cache.expires_at) == ("miss", None)
    assert len(vendor.calls) == 2


async def test_equal_requests_at_once_share_the_call_of_a_vendor_whose_answers_may_not_be_stored() -> None:
    vendor = FakeProvider("alpha", storage=KEEP_NOTHING, script=after(0.03, name="alpha"))
    road = Road(vendor)
    await asyncio.gather(*(road.ask({"query": "tide tables"}) for _ in range(5)))
    assert len(vendor.calls) == 1


@pytest.mark.parametrize(("mode", "outcome"), [("refresh", "miss"), ("bypass", "bypass")])
async def test_refresh_and_bypass_read_nothing(mode: str, outcome: str) -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    await road.ask({"query": "tide tables"})
    outputs = await road.ask({"query": "tide tables", "cache": mode})
    reply = reply_of(outputs)
    assert reply.cache is not None
    assert reply.cache.outcome == outcome
    assert len(vendor.calls) == 2
    assert len(writes_of(outputs)) == (1 if mode == "refresh" else 0)


async def test_bypassing_requests_share_nothing_with_anyone() -> None:
    vendor = FakeProvider("alpha", script=after(0.03, name="alpha"))
    road = Road(vendor)
    await asyncio.gather(
        road.ask({"query": "tide", "cache": "bypass"}),
        road.ask({"query": "tide", "cache": "bypass"}),
        road.ask({"query": "tide"}),
    )
    assert len(vendor.calls) == 3


async def test_only_never_calls_a_vendor() -> None:
    vendor = FakeProvider("alpha")
    road = Road(vendor)
    miss = reply_of(await road.ask({"query": "tide tables", "cache": "only"}))
    assert (miss.status, miss.cache and miss.cache.outcome) == ("ungrounded", "miss")
    await road.ask({"query": "tide tables"})
    hit = reply_of(await road.ask({"query": "tide tables", "cache": "only"}))
    assert (hit.status, hit.cache and hit.cache.outcome) == ("grounded", "exact")
    assert len(vendor.calls) == 1


async def test_a_follower_whose_deadline_passes_first_is_answered_before_its_leader() -> None:
    called, answer = asyncio.Event(), asyncio.Event()

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        called.set()
        await answer.wait()
        return answered("alpha", call.query)

    road = Road(FakeProvider("alpha", script=script))
    leader = asyncio.create_task(road.ask({"query": "tide tables"}))
    await called.wait()
    reply = reply_of(await road.ask({"query": "tide tables", "timeout_s": 0.5}))
    assert reply.status == "ungrounded"
    assert "deadline" in " ".join(reply.warnings)
    assert not leader.done()
    answer.set()
    assert reply_of(await leader).status == "grounded"


async def test_a_follower_with_more_time_leads_again_when_its_leader_ran_out_of_it() -> None:
    called = asyncio.Event()

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        if called.is_set():
            return answered("alpha", call.query)
        called.set()
        return await after(60)(call, timeout_s)

    vendor = FakeProvider("alpha", script=script)
    road = Road(vendor)
    leader = asyncio.create_task(road.ask({"query": "tide tables", "timeout_s": 0.6}))
    await called.wait()
    follower = reply_of(await road.ask({"query": "tide tables", "timeout_s": 60}))
    assert reply_of(await leader).status == "ungrounded"
    assert (follower.status, follower.cache and follower.cache.outcome) == ("grounded", "miss")
    assert len(vendor.calls) == 2


async def test_a_failure_is_shared_instead_of_asking_a_dead_vendor_again() -> None:
    vendor = FakeProvider("alpha", script=after(0.03, failed("quota", "credits are gone", status=402)))
    road = Road(vendor)
    replies = [reply_of(outputs) for outputs in await asyncio.gather(*(road.ask({"query": "tide"}) for _ in range(20)))]
    assert len(vendor.calls) == 1
    assert {reply.status for reply in replies} == {"ungrounded"}
    assert sum(len(reply.attempts) for reply in replies) == 1
    assert any("alpha: quota" in warning for reply in replies for warning in reply.warnings)


async def test_a_rejected_query_is_the_callers_error_and_no_further_vendor_is_asked() -> None:
    second = FakeProvider("beta")
    road = Road(FakeProvider("alpha", script=always(failed("rejected", "bad operator", status=422))), second)
    reply = reply_of(await road.ask({"query": "tide tables"}))
    assert reply.status == "error"
    assert reply.error is not None
    assert (reply.error.kind, reply.error.field) == ("rejected", "query")
    assert "bad operator" in reply.error.message
    assert second.calls == []


async def test_an_old_answer_is_served_with_a_flag_when_nobody_answers_and_policy_allows() -> None:
    clock = ManualClock()
    vendor = FakeProvider("alpha")
    settings = Settings(routes={"default": ["alpha"]}).model_copy(
        update={"cache": Settings().cache.model_copy(update={"stale_if_error_s": 3_600})}
    )
    road = Road(vendor, settings=settings, clock=clock)
    first = reply_of(await road.ask({"query": "seoul population", "freshness": "live"}))
    clock.move(600)
    vendor._script = always(failed("server_error", "503"))
    reply = reply_of(await road.ask({"query": "seoul population", "freshness": "live"}))
    assert reply.cache is not None
    assert (reply.status, reply.cache.outcome, reply.cache.age_s) == ("grounded", "stale", 600.0)
    assert reply.results == first.results
    assert [attempt.outcome for attempt in reply.attempts] == ["server_error"]
    assert any("older answer" in warning for warning in reply.warnings)
    clock.move(3_600)
    assert reply_of(await road.ask({"query": "seoul population", "freshness": "live"})).status == "ungrounded"


async def test_a_live_answer_is_not_served_from_the_recent_ones_past_its_end() -> None:
    clock = ManualClock()
    vendor = FakeProvider("alpha")
    cache = Settings().cache.model_copy(update={"ttl_s": {"static": 1, "slow": 1, "daily": 1, "live": 5}})
    settings = Settings(routes={"default": ["alpha"]}).model_copy(update={"cache": cache})
    road = Road(vendor, settings=settings, clock=clock)
    road.dropped_cache_writes = True
    await road.ask({"query": "bitcoin price"})
    clock.move(4)
    assert reply_of(await road.ask({"query": "bitcoin price"})).cost_micro_usd == 0
    clock.move(2)
    assert reply_of(await road.ask({"query": "bitcoin price"})).cost_micro_usd == 1_000


async def test_payloads_are_published_in_the_order_that_makes_them_safe() -> None:
    road = Road(FakeProvider("alpha", script=always(failed("timeout", "slow", status=None))), FakeProvider("beta"))
    await road.ask({"query": "tide tables"})
    kinds = [(payload.kind, [mark.provider for mark in payload.marks]) for payload in payloads_of(road.published)]
    assert kinds == [("begun", ["alpha"]), ("begun", ["alpha", "beta"]), ("answer", ["alpha", "beta"])]


async def test_recent_answers_keep_within_their_bytes() -> None:
    settings = Settings(routes={"default": ["alpha"]}, fetch=FetchSettings(recent_mib=1))
    road = Road(FakeProvider("alpha"), settings=settings)
    for number in range(400):
        await road.ask({"query": f"question {number}"})
    assert road.fetch.recent_bytes <= 1024 * 1024
