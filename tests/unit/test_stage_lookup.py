"""lookup: which tier is asked for what, and what a reply from a cache says."""

from typing import Any

import pytest

from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.lookup import Fetch, Lookup
from groundwire.schemas.payload import Payload, RawAnswer
from groundwire.schemas.plan import Plan
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.reply import Result
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import FETCHES, LOOKUPS, PAYLOADS
from groundwire.streams.stages.lookup import LookupStage
from groundwire.streams.stages.normalize import Normalize
from groundwire.streams.stages.serving_terms import ServingTerms
from tests.unit.stage_fakes import (
    KEEP_NOTHING,
    NOON_MS,
    FakeCache,
    FakeDirectory,
    FakeEmbedder,
    FakeProvider,
    FakeSemantic,
    Match,
    dead_letters_of,
    plan_of,
    reply_of,
    request_event_of,
    request_record,
    writes_of,
)


class Desk:
    """A lookup stage with its fakes."""

    def __init__(self, *providers: FakeProvider, **settings: Any) -> None:
        self.providers = providers or (FakeProvider("alpha", max_depth=5), FakeProvider("beta"))
        routes = {"default": [provider.name for provider in self.providers]}
        self.settings = Settings.model_validate({"routes": routes, **settings})
        self.cache, self.embedder, self.semantic = FakeCache(), FakeEmbedder(), FakeSemantic()
        self.stage = self.new_stage()

    def new_stage(self, *providers: FakeProvider) -> LookupStage:
        """A lookup worker; `providers` are those of now, when their terms have changed since a plan was made."""
        terms = ServingTerms(FakeDirectory(*(providers or self.providers)), self.settings.cache, ttl_s)
        return LookupStage(self.cache, self.embedder, self.semantic, self.settings, terms)

    def plan(self, **request: Any) -> Plan:
        normalize = Normalize(self.settings, FakeDirectory(*self.providers))
        return plan_of(normalize(request_record({"query": "tide tables", **request}), NOON_MS))

    async def look(self, plan: Plan, now_ms: int = NOON_MS) -> list[OutboundRecord]:
        return await self.stage(lookup_record(Lookup(plan=plan).encode()), now_ms)

    def store(self, plan: Plan, step: int = 0, **changes: Any) -> CacheEntry:
        entry = entry_for(plan, step, **changes)
        self.cache.entries[plan.chain[step].cache_key] = entry
        return entry


def lookup_record(value: bytes | None) -> InboundRecord:
    return InboundRecord(LOOKUPS.name, 0, 4, b"key", value, (), NOON_MS)


def entry_for(plan: Plan, step: int = 0, **changes: Any) -> CacheEntry:
    chosen = plan.chain[step]
    results = [
        Result(index=n, title=f"T{n}", url=f"https://e.example/{n}", body=f"B{n}", provider=chosen.provider)
        for n in (1, 2, 3)
    ]
    fields: dict[str, Any] = {
        "cache_key": chosen.cache_key,
        "facet": chosen.facet,
        "provider": chosen.provider,
        "tenant": plan.tenant,
        "normalized_query": plan.normalized_query,
        "freshness": plan.freshness,
        "depth": chosen.depth,
        "results": results,
        "cost_micro_usd": 900,
        "stored_at_ms": NOON_MS - 30_000,
        "expires_at_ms": NOON_MS + 60_000,
        "payload_id": "somebody-elses.1",
        "semantic": True,
    }
    return CacheEntry(**{**fields, **changes})


def fetch_of(outputs: list[OutboundRecord]) -> Fetch:
    (record,) = outputs
    assert record.topic == FETCHES.name
    return Fetch.decode(record.value)


async def test_an_exact_hit_says_how_old_it_is_when_it_ends_and_what_it_saved() -> None:
    desk = Desk()
    plan = desk.plan()
    desk.store(plan)
    outputs = await desk.look(plan)
    reply = reply_of(outputs)
    assert reply.cache is not None
    assert (reply.status, reply.provider, reply.cache.outcome) == ("grounded", "alpha", "exact")
    assert (reply.cache.age_s, reply.cache.expires_at) == (30.0, "2026-12-01T12:01:00.000Z")
    assert (reply.cost_micro_usd, reply.saved_micro_usd, reply.attempts) == (0, 900, [])
    event = request_event_of(outputs)
    assert (event.cache_outcome, event.cache_age_s, event.saved_micro_usd, event.results) == ("exact", 30.0, 900, 3)
    assert desk.embedder.texts == []


async def test_every_provider_is_asked_exactly_before_any_is_asked_by_meaning() -> None:
    desk = Desk()
    plan = desk.plan()
    desk.store(plan, 1)
    desk.semantic.matches["alpha"] = Match(entry_for(plan))
    reply = reply_of(await desk.look(plan))
    assert (reply.provider, reply.cache and reply.cache.outcome) == ("beta", "exact")
    assert desk.cache.asked == [step.cache_key for step in plan.chain]
    assert desk.semantic.asked == []


async def test_meaning_is_asked_in_chain_order_with_one_embedding() -> None:
    desk = Desk()
    plan = desk.plan()
    desk.semantic.matches["beta"] = Match(entry_for(plan, 1, normalized_query="tables of tides", cache_key="other"))
    reply = reply_of(await desk.look(plan))
    assert reply.cache is not None
    assert (reply.provider, reply.cache.outcome, reply.cache.matched_query) == ("beta", "semantic", "tables of tides")
    assert [asked[1] for asked in desk.semantic.asked] == ["alpha", "beta"]
    assert desk.embedder.texts == ["tide tables"]


async def test_an_answer_that_came_in_while_meaning_was_looked_for_is_an_exact_hit() -> None:
    desk = Desk()
    plan = desk.plan()
    desk.semantic.matches["alpha"] = Match(entry_for(plan))
    outputs = await desk.look(plan)
    receipt = reply_of(outputs).cache
    assert receipt is not None
    assert (receipt.outcome, receipt.matched_query, receipt.similarity) == ("exact", None, None)
    assert writes_of(outputs) == []


async def test_a_live_question_is_never_answered_by_another_one() -> None:
    desk = Desk()
    plan = desk.plan(freshness="live")
    desk.semantic.matches["alpha"] = Match(entry_for(plan))
    assert fetch_of(await desk.look(plan)).embedding is None
    assert desk.semantic.asked == []


async def test_a_miss_goes_to_the_vendors_with_its_embedding_under_the_same_key() -> None:
    desk = Desk()
    plan = desk.plan()
    outputs = await desk.look(plan)
    fetch = fetch_of(outputs)
    assert outputs[0].key == plan.chain[0].cache_key.encode()
    assert fetch.plan == plan
    assert fetch.embedding is not None
    assert (fetch.embedding.model, fetch.embedding.vector()) == ("fake", [1.0, 0.0, 0.5])


@pytest.mark.parametrize("mode", ["refresh", "bypass"])
async def test_refresh_and_bypass_are_not_looked_up(mode: str) -> None:
    desk = Desk()
    plan = desk.plan(cache=mode)
    desk.store(plan)
    fetch_of(await desk.look(plan))
    assert desk.cache.asked == []
    assert desk.semantic.asked == []


@pytest.mark.parametrize(("max_age_s", "outcome"), [(None, "exact"), (30, "exact"), (29, None), (0, None)])
async def test_an_answer_older_than_the_caller_accepts_is_a_miss(max_age_s: int | None, outcome: str | None) -> None:
    desk = Desk()
    plan = desk.plan(max_age_s=max_age_s)
    desk.store(plan)
    outputs = await desk.look(plan)
    found = None if outputs[0].topic == FETCHES.name else reply_of(outputs).cache
    assert (found and found.outcome) == outcome


async def test_the_callers_limit_of_age_reaches_the_semantic_tier() -> None:
    desk = Desk()
    plan = desk.plan(max_age_s=10)
    desk.semantic.matches["alpha"] = Match(entry_for(plan))
    fetch_of(await desk.look(plan))
    assert {since for _, _, since in desk.semantic.asked} == {NOON_MS - 10_000}


async def test_an_entry_past_its_end_is_a_miss() -> None:
    desk = Desk()
    plan = desk.plan()
    desk.store(plan, expires_at_ms=NOON_MS)
    desk.semantic.matches["alpha"] = Match(entry_for(plan, expires_at_ms=NOON_MS))
    assert fetch_of(await desk.look(plan)).stale is None


async def test_an_answer_whose_storage_is_no_longer_allowed_is_not_read() -> None:
    desk = Desk(FakeProvider("alpha", storage=KEEP_NOTHING))
    plan = desk.plan()
    desk.store(plan)
    fetch_of(await desk.look(plan))
    assert desk.cache.asked == []
    assert desk.semantic.asked == []


async def test_a_provider_that_can_not_be_called_still_serves_what_it_answered_before() -> None:
    desk = Desk(FakeProvider("alpha", missing="switched off"))
    plan = desk.plan()
    desk.store(plan)
    assert reply_of(await desk.look(plan)).provider == "alpha"


async def test_a_request_past_its_deadline_is_answered_from_the_cache() -> None:
    desk = Desk()
    plan = desk.plan(timeout_s=1)
    desk.store(plan)
    reply = reply_of(await desk.look(plan, NOON_MS + 5_000))
    assert (reply.status, reply.cache and reply.cache.outcome) == ("grounded", "exact")


@pytest.mark.parametrize("mode", ["use", "refresh", "bypass"])
async def test_past_its_deadline_a_miss_is_left_to_fetch_which_knows_what_was_answered_before(mode: str) -> None:
    desk = Desk()
    plan = desk.plan(timeout_s=1, cache=mode)
    assert fetch_of(await desk.look(plan, NOON_MS + 1_000)).plan.reply_id == plan.reply_id


async def test_past_its_deadline_only_is_answered_here() -> None:
    desk = Desk()
    reply = reply_of(await desk.look(desk.plan(timeout_s=1, cache="only"), NOON_MS + 1_000))
    assert (reply.status, reply.context, reply.cache and reply.cache.outcome) == ("ungrounded", "", "miss")


async def test_a_forwarded_request_looked_up_again_is_not_served_somebody_elses_answer() -> None:
    desk = Desk()
    plan = desk.plan()
    fetch_of(await desk.look(plan))
    desk.store(plan)
    assert fetch_of(await desk.look(plan, NOON_MS + 5_000)).plan.reply_id == plan.reply_id
    # Another request is, and so is this one once it can only have been sent anew.
    assert reply_of(await desk.look(desk.plan(request_id="another"))).status == "grounded"
    desk.store(plan, expires_at_ms=NOON_MS + 600_000)
    assert reply_of(await desk.look(plan, NOON_MS + 121_000)).status == "grounded"


async def test_after_a_restart_the_payload_log_says_who_was_forwarded_and_what_came_of_it() -> None:
    desk = Desk()
    nobody, answered, other = (desk.plan(request_id=name) for name in ("nobody", "answered", "other"))
    entry = desk.store(nobody)

    def journal(plan: Plan, chosen: int | None, payload_id: str) -> InboundRecord:
        raw = RawAnswer(
            provider="alpha", attempt=0, status_code=200, content_type="", body="{}", received_at_ms=NOON_MS, depth=5
        )
        answers = [] if chosen is None else [raw]
        payload = Payload(
            kind="answer", payload_id=payload_id, plan=plan, lookup_ms=1.0, answers=answers, chosen=chosen
        )
        return InboundRecord(PAYLOADS.name, 0, 1, b"key", payload.encode(), (), NOON_MS)

    garbage = InboundRecord(PAYLOADS.name, 0, 0, None, b"not a payload", (), NOON_MS)
    desk.stage.restore([garbage, journal(nobody, None, "p.1"), journal(answered, 0, entry.payload_id)])
    assert fetch_of(await desk.look(nobody)).plan.reply_id == nobody.reply_id
    assert reply_of(await desk.look(answered)).results, "the cache holds the very answer it got"
    assert reply_of(await desk.look(other)).results


async def test_a_broken_cache_is_a_miss_that_says_so() -> None:
    desk = Desk()
    desk.cache.broken = True
    warnings = fetch_of(await desk.look(desk.plan())).plan.warnings
    assert warnings == ["the cache could not be read (OSError): taken as a miss"]


async def test_a_broken_semantic_tier_is_a_miss_that_says_so_and_keeps_the_embedding() -> None:
    desk = Desk()
    desk.semantic.broken = True
    fetch = fetch_of(await desk.look(desk.plan()))
    assert fetch.plan.warnings == ["the semantic tier failed (RuntimeError): taken as a miss"]
    assert fetch.embedding is not None


async def test_a_slow_semantic_tier_is_a_miss() -> None:
    desk = Desk(cache={"semantic": {"timeout_s": 0.02}})
    desk.semantic.delay_s = 5
    fetch = fetch_of(await desk.look(desk.plan()))
    assert fetch.plan.warnings == ["the semantic tier took longer than 20 ms: taken as a miss"]


async def test_the_semantic_tier_can_be_switched_off() -> None:
    desk = Desk(cache={"semantic": {"enabled": False}})
    assert fetch_of(await desk.look(desk.plan())).embedding is None
    assert desk.embedder.texts == []


async def test_without_a_model_there_are_exact_hits_only() -> None:
    desk = Desk()
    stage = LookupStage(
        desk.cache, None, None, desk.settings, ServingTerms(FakeDirectory(*desk.providers), desk.settings.cache, ttl_s)
    )
    fetch_of(await stage(lookup_record(Lookup(plan=desk.plan()).encode()), NOON_MS))


async def test_a_back_fill_stands_under_the_askers_key_for_what_is_left_of_its_source() -> None:
    desk = Desk()
    plan = desk.plan(tenant="t2")
    source = entry_for(plan, normalized_query="other words", cache_key="other", tenant="t1", payload_id="p.1")
    desk.semantic.matches["alpha"] = Match(source)
    (write,) = writes_of(await desk.look(plan))
    entry = write.entry
    assert entry is not None
    assert (entry.cache_key, entry.normalized_query, entry.tenant) == (plan.chain[0].cache_key, "tide tables", "t2")
    assert (entry.stored_at_ms, entry.expires_at_ms) == (source.stored_at_ms, source.expires_at_ms)
    assert (entry.results, entry.cost_micro_usd, entry.payload_id) == (source.results, 900, "p.1")
    assert (entry.semantic, entry.embedding) == (False, None)


async def test_a_reply_from_the_cache_warns_of_what_its_provider_can_not_do() -> None:
    desk = Desk()
    plan = desk.plan(depth=9)
    desk.store(plan)
    assert reply_of(await desk.look(plan)).warnings == ["alpha gives at most 5 results; 9 were asked for"]


async def test_the_context_is_rendered_for_this_callers_budget() -> None:
    desk = Desk()
    small, large = desk.plan(context_tokens=50), desk.plan(context_tokens=2_000, request_id="other")
    desk.store(
        small, results=[Result(index=1, title="T", url="https://e.example", body="word " * 500, provider="alpha")]
    )
    short = reply_of(await desk.look(small)).context
    long = reply_of(await desk.look(large)).context
    assert len(short) < 160 < len(long)


async def test_an_old_answer_travels_along_when_the_operator_allows_it() -> None:
    desk = Desk(cache={"stale_if_error_s": 600})
    plan = desk.plan()
    entry = desk.store(plan, expires_at_ms=NOON_MS - 5_000)
    stale = fetch_of(await desk.look(plan)).stale
    assert stale is not None
    assert (stale.provider, stale.results, stale.expires_at_ms) == ("alpha", entry.results, NOON_MS - 5_000)


async def test_an_old_answer_travels_with_a_request_past_its_deadline() -> None:
    desk = Desk(cache={"stale_if_error_s": 600})
    plan = desk.plan(timeout_s=1)
    desk.store(plan, expires_at_ms=NOON_MS - 5_000)
    assert fetch_of(await desk.look(plan, NOON_MS + 1_000)).stale is not None


@pytest.mark.parametrize(("age_s", "topic"), [(5, FETCHES.name), (29, FETCHES.name), (31, "search.replies.v1")])
async def test_a_request_sent_again_is_replayed_by_fetch_while_its_payload_is_surely_there(
    age_s: int, topic: str
) -> None:
    desk = Desk(fetch={"recent_s": 60})
    plan = desk.plan(request_id="r")
    desk.store(plan, payload_id=f"{plan.reply_id}.7", stored_at_ms=NOON_MS - age_s * 1000)
    assert (await desk.look(plan))[0].topic == topic


async def test_only_serves_a_request_sent_again_from_the_cache() -> None:
    desk = Desk()
    plan = desk.plan(request_id="r", cache="only")
    desk.store(plan, payload_id=f"{plan.reply_id}.7")
    assert reply_of(await desk.look(plan)).status == "grounded"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "poison"),
        (b"{", "poison"),
        (b'{"version": 1}', "poison"),
        (b'{"version": 2, "plan": {}, "new": 1}', "future_version"),
    ],
)
async def test_a_record_that_can_not_be_read_is_a_dead_letter(value: bytes | None, reason: str) -> None:
    (letter,) = dead_letters_of(await Desk().stage(lookup_record(value), NOON_MS))
    assert (letter.reason, letter.stage, letter.topic, letter.offset) == (reason, "lookup", LOOKUPS.name, 4)


async def test_what_was_answered_is_forgotten_after_the_dedup_window() -> None:
    desk = Desk(dedup_window_s=10)
    plan = desk.plan(request_id="r", timeout_s=100)
    desk.store(plan)
    await desk.look(plan)
    desk.cache.entries.clear()
    assert reply_of(await desk.look(plan, NOON_MS + 9_000)).status == "grounded"
    fetch_of(await desk.look(plan, NOON_MS + 11_000))


@pytest.mark.parametrize(("timeout_s", "patience_s"), [(15, 5.0), (4, 2.0), (0.3, 0.5)])
async def test_a_lookup_waits_for_a_slow_disk_as_long_as_its_deadline_has_room(
    timeout_s: float, patience_s: float
) -> None:
    """A vendor call costs more than waiting; half of what is left stays for one."""
    desk = Desk()
    await desk.look(desk.plan(timeout_s=timeout_s))
    assert desk.cache.patience_s == pytest.approx(patience_s, abs=0.1)


async def test_a_question_too_long_to_compare_is_not_embedded() -> None:
    desk = Desk()
    plan = desk.plan(query="word " * 300)
    outputs = await desk.look(plan)
    assert (desk.embedder.texts, desk.semantic.asked) == ([], [])
    assert Fetch.decode(outputs[0].value).embedding is None
    await desk.look(desk.plan(query="a short one"))
    assert desk.embedder.texts == ["a short one"]
