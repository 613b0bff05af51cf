"""unify: a payload becomes a reply, its event and a cache entry."""

import json
from dataclasses import replace
from typing import Any

import pytest

from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.lookup import Embedding, StaleAnswer
from groundwire.schemas.payload import AttemptMark, Payload, RawAnswer
from groundwire.schemas.plan import Plan
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.reply import Attempt, Result
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES, EVENTS, PAYLOADS
from groundwire.streams.stages.normalize import Normalize
from groundwire.streams.stages.unify import Unify
from tests.unit.stage_fakes import (
    KEEP_A_WEEK,
    KEEP_NOTHING,
    NOON_MS,
    FakeDirectory,
    FakeProvider,
    body_about,
    dead_letters_of,
    plan_of,
    reply_of,
    request_event_of,
    request_record,
    writes_of,
)

OK = Attempt(provider="alpha", outcome="ok", cost_micro_usd=1_000, cost_source="answer", latency_ms=12.0)


class Bench:
    def __init__(self, *providers: FakeProvider, **settings: Any) -> None:
        self.providers = providers or (FakeProvider("alpha"), FakeProvider("beta"))
        routes = {"default": [provider.name for provider in self.providers]}
        self.settings = Settings.model_validate({"routes": routes, **settings})
        self.directory = FakeDirectory(*self.providers)
        self.unify = Unify(self.directory, self.settings, ttl_s, timer=lambda: 0.0)

    def plan(self, **request: Any) -> Plan:
        normalize = Normalize(self.settings, self.directory)
        return plan_of(normalize(request_record({"query": "tide tables", **request}), NOON_MS))

    def run(self, payload: Payload, now_ms: int = NOON_MS + 500) -> list[OutboundRecord]:
        return self.unify(payload_record(payload.encode()), now_ms)


def payload_record(value: bytes | None) -> InboundRecord:
    return InboundRecord(PAYLOADS.name, 0, 3, b"key", value, (), NOON_MS)


def raw(body: str | None = None, provider: str = "alpha", attempt: int = 0) -> RawAnswer:
    return RawAnswer(
        provider=provider,
        attempt=attempt,
        status_code=200,
        content_type="application/json",
        body=body if body is not None else body_about(provider, "tide tables"),
        received_at_ms=NOON_MS + 400,
        depth=5,
    )


def paid(plan: Plan, *attempts: Attempt, answer: RawAnswer | None, **more: Any) -> Payload:
    marks = [
        AttemptMark(
            attempt_id=f"a{n}", provider=attempt.provider, attempt=n, hedged=False, depth=5, started_at_ms=NOON_MS
        )
        for n, attempt in enumerate(attempts)
    ]
    return Payload(
        kind="answer",
        payload_id="p.1",
        plan=plan,
        lookup_ms=2.0,
        fetch_ms=390.0,
        marks=marks,
        attempts=list(attempts),
        answers=[] if answer is None else [answer],
        chosen=None if answer is None else 0,
        **more,
    )


def test_an_answer_becomes_a_reply_an_event_and_a_cache_entry_in_this_order() -> None:
    bench = Bench()
    embedding = Embedding.of("fake", [0.5, 0.25])
    outputs = bench.run(paid(bench.plan(), OK, answer=raw(), embedding=embedding))
    assert [record.topic for record in outputs] == ["search.replies.v1", EVENTS.name, CACHE_WRITES.name]
    reply = reply_of(outputs)
    assert (reply.status, reply.provider, reply.cost_micro_usd, reply.saved_micro_usd) == (
        "grounded",
        "alpha",
        1_000,
        None,
    )
    assert reply.cache is not None
    assert (reply.cache.outcome, reply.cache.age_s) == ("miss", None)
    assert reply.cache.expires_at == "2026-12-08T12:00:00.400Z"
    assert reply.attempts == [OK]
    latency = reply.latency_ms
    assert (latency.lookup, latency.fetch, latency.queue) == (2.0, 390.0, 0.0)
    assert (latency.total, latency.unify) == (500.0, 0.0)
    assert reply.completed_at == "2026-12-01T12:00:00.500Z"
    (write,) = writes_of(outputs)
    entry = write.entry
    assert entry is not None
    step = bench.plan().chain[0]
    assert (entry.cache_key, entry.facet, entry.provider) == (step.cache_key, step.facet, "alpha")
    assert (entry.stored_at_ms, entry.expires_at_ms) == (NOON_MS + 400, NOON_MS + 400 + 7 * 86_400_000)
    assert (entry.cost_micro_usd, entry.payload_id, entry.semantic, entry.embedding) == (1_000, "p.1", True, embedding)
    assert outputs[2].key == step.cache_key.encode()


def test_the_reply_goes_where_the_request_said_with_its_headers() -> None:
    bench = Bench()
    plan = bench.plan(request_id="r")
    address = plan.address.model_copy(
        update={
            "topic": "search.replies.team",
            "partition": 3,
            "correlation_name": "kafka_correlationId",
            "correlation_hex": "00ff",
        }
    )
    outputs = bench.run(paid(plan.model_copy(update={"address": address}), OK, answer=raw()))
    assert outputs[0] == OutboundRecord(
        "search.replies.team", b"r", outputs[0].value, (("kafka_correlationId", b"\x00\xff"),), 3
    )


def test_a_begun_mark_leaves_nothing() -> None:
    bench = Bench()
    begun = Payload(kind="begun", payload_id="p.1", plan=bench.plan(), lookup_ms=1.0)
    assert bench.run(begun) == []


def test_results_stop_at_the_depth_asked_for() -> None:
    bench = Bench()
    body = body_about("alpha", "x", rows=9)
    reply = reply_of(bench.run(paid(bench.plan(depth=3), OK, answer=raw(body))))
    assert [result.index for result in reply.results] == [1, 2, 3]


@pytest.mark.parametrize(
    ("attempts", "cost", "warned"),
    [
        ([OK], 1_000, False),
        (
            [Attempt(provider="beta", outcome="server_error", cost_micro_usd=250, cost_source="price_list"), OK],
            1_250,
            False,
        ),
        ([Attempt(provider="beta", outcome="timeout", cost_source="unknown"), OK], None, True),
        ([Attempt(provider="beta", outcome="lost", cost_source="unknown"), OK], None, True),
    ],
)
def test_the_cost_is_the_sum_over_all_attempts_or_unknown_and_said_so(
    attempts: list[Attempt], cost: int | None, warned: bool
) -> None:
    bench = Bench()
    reply = reply_of(bench.run(paid(bench.plan(), *attempts, answer=raw(attempt=len(attempts) - 1))))
    assert reply.cost_micro_usd == cost
    assert any("cost is unknown for beta" in warning for warning in reply.warnings) == warned


def test_the_entry_carries_what_this_answer_cost_and_not_the_failures_before_it() -> None:
    bench = Bench()
    before = Attempt(provider="beta", outcome="server_error", cost_micro_usd=250, cost_source="price_list")
    (write,) = writes_of(bench.run(paid(bench.plan(), before, OK, answer=raw(attempt=1))))
    assert write.entry is not None
    assert write.entry.cost_micro_usd == 1_000


@pytest.mark.parametrize(
    ("request_", "providers", "settings"),
    [
        ({"cache": "bypass"}, (), {}),
        ({}, (FakeProvider("alpha", storage=KEEP_NOTHING),), {}),
        ({}, (), {"cache": {"ttl_s": {"slow": 0}}}),
        ({}, (), {"cache": {"ttl_domain_s": {"*.alpha.example": 0}}}),
    ],
)
def test_nothing_is_stored_when_the_caller_the_terms_or_a_ttl_forbid_it(
    request_: dict[str, Any], providers: tuple[FakeProvider, ...], settings: dict[str, Any]
) -> None:
    bench = Bench(*providers, **settings)
    outputs = bench.run(paid(bench.plan(**request_), OK, answer=raw()))
    reply = reply_of(outputs)
    assert reply.status == "grounded"
    assert reply.cache is not None
    assert reply.cache.expires_at is None
    assert writes_of(outputs) == []


def test_storage_forbidden_since_the_request_was_planned_is_respected() -> None:
    bench = Bench()
    plan = bench.plan()
    bench.providers[0].storage = replace(KEEP_A_WEEK, allowed=False)
    assert writes_of(bench.run(paid(plan, OK, answer=raw()))) == []


def test_a_live_answer_stays_out_of_the_semantic_tier() -> None:
    bench = Bench()
    (write,) = writes_of(bench.run(paid(bench.plan(freshness="live"), OK, answer=raw())))
    assert write.entry is not None
    assert not write.entry.semantic
    assert write.entry.expires_at_ms == NOON_MS + 400 + 60_000


def test_the_shortest_ttl_of_a_results_site_counts() -> None:
    bench = Bench(cache={"ttl_domain_s": {"*.alpha.example": 120}})
    (write,) = writes_of(bench.run(paid(bench.plan(), OK, answer=raw())))
    assert write.entry is not None
    assert write.entry.expires_at_ms == NOON_MS + 400 + 120_000


@pytest.mark.parametrize("body", ["<html>", "{}", '{"rows": [{}]}', ""])
def test_an_answer_that_can_not_be_read_is_ungrounded_says_so_and_is_not_cached(body: str) -> None:
    bench = Bench()
    outputs = bench.run(paid(bench.plan(), OK, answer=raw(body)))
    reply = reply_of(outputs)
    assert (reply.status, reply.context, reply.results, reply.provider) == ("ungrounded", "", [], None)
    assert any("alpha: the answer can't be read" in warning for warning in reply.warnings)
    assert reply.cost_micro_usd == 1_000
    assert writes_of(outputs) == []


def test_an_answer_without_results_is_ungrounded_and_not_cached() -> None:
    bench = Bench()
    empty = OK.model_copy(update={"outcome": "empty"})
    outputs = bench.run(paid(bench.plan(), empty, answer=raw('{"rows": []}')))
    assert reply_of(outputs).status == "ungrounded"
    assert writes_of(outputs) == []


def test_a_provider_that_is_gone_is_said() -> None:
    bench = Bench()
    payload = paid(bench.plan(), OK, answer=raw())
    del bench.directory.providers["alpha"]
    assert any("no such provider" in warning for warning in reply_of(bench.run(payload)).warnings)


def test_a_rejected_query_is_an_error_reply() -> None:
    bench = Bench()
    rejected = Attempt(
        provider="alpha", outcome="rejected", reason="422: bad operator", cost_micro_usd=0, cost_source="answer"
    )
    outputs = bench.run(paid(bench.plan(), rejected, answer=None))
    reply = reply_of(outputs)
    assert reply.status == "error"
    assert reply.error is not None
    assert (reply.error.kind, reply.error.message) == ("rejected", "alpha rejected the query: 422: bad operator")
    assert request_event_of(outputs).error_kind == "rejected"


def shared(plan: Plan, **more: Any) -> Payload:
    fields: dict[str, Any] = {"answers": [raw()], "chosen": 0, "paid_micro_usd": 1_000, "fetch_ms": 12.0}
    return Payload(kind="shared", payload_id="p.1", plan=plan, lookup_ms=1.0, **{**fields, **more})


def test_a_shared_answer_costs_nothing_says_what_it_saved_and_is_not_written_again() -> None:
    bench = Bench()
    outputs = bench.run(shared(bench.plan()))
    reply = reply_of(outputs)
    assert reply.cache is not None
    assert (reply.status, reply.cache.outcome, reply.provider) == ("grounded", "coalesced", "alpha")
    assert (reply.cost_micro_usd, reply.saved_micro_usd, reply.attempts) == (0, 1_000, [])
    assert reply.cache.age_s == 0.1
    assert reply.cache.expires_at == "2026-12-08T12:00:00.400Z"
    assert writes_of(outputs) == []


def test_a_shared_failure_names_who_failed_without_a_receipt() -> None:
    bench = Bench()
    failed = Attempt(provider="alpha", outcome="timeout", cost_source="unknown")
    reply = reply_of(bench.run(shared(bench.plan(), answers=[], chosen=None, paid_micro_usd=None, attempts=[failed])))
    assert (reply.status, reply.cost_micro_usd, reply.attempts) == ("ungrounded", 0, [])
    assert any("alpha: timeout" in warning for warning in reply.warnings)


def test_a_shared_rejection_is_the_same_error() -> None:
    bench = Bench()
    rejected = Attempt(provider="alpha", outcome="rejected", cost_micro_usd=0, cost_source="answer")
    reply = reply_of(bench.run(shared(bench.plan(), answers=[], chosen=None, attempts=[rejected])))
    assert reply.status == "error"
    assert reply.error is not None
    assert reply.error.message == "alpha rejected the query: no reason given"


def test_an_old_answer_comes_with_the_receipt_of_those_who_failed() -> None:
    bench = Bench()
    old = StaleAnswer(
        provider="beta",
        results=[Result(index=1, title="T", url="https://e.example", body="B", provider="beta")],
        cost_micro_usd=700,
        stored_at_ms=NOON_MS - 100_000,
        expires_at_ms=NOON_MS - 1_500,
    )
    failed = Attempt(provider="alpha", outcome="server_error", cost_micro_usd=5, cost_source="answer")
    outputs = bench.run(paid(bench.plan(), failed, answer=None, stale=old))
    reply = reply_of(outputs)
    assert reply.cache is not None
    assert (reply.status, reply.cache.outcome, reply.cache.age_s) == ("grounded", "stale", 100.5)
    assert (reply.cost_micro_usd, reply.saved_micro_usd, reply.attempts) == (5, 700, [failed])
    assert any("2 s past its end" in warning for warning in reply.warnings)
    assert writes_of(outputs) == []


def test_an_answer_shared_by_many_is_mapped_once() -> None:
    bench = Bench()
    mapped: list[str] = []
    original = bench.providers[0].results

    def counted(body: str, call: Any, received_at_ms: int) -> Any:
        mapped.append(body)
        return original(body, call, received_at_ms)

    bench.providers[0].results = counted  # type: ignore[method-assign]
    for number in range(50):
        bench.run(shared(bench.plan(request_id=f"r{number}", context_tokens=100 + number % 2)))
    assert len(mapped) == 1


def test_endless_bodies_are_shortened_with_a_warning_so_that_the_reply_fits_into_a_record() -> None:
    bench = Bench()
    rows = [{"title": "t", "url": f"https://e.example/{n}", "body": "한" * 400_000} for n in range(20)]
    outputs = bench.run(paid(bench.plan(depth=20), OK, answer=raw(json.dumps({"rows": rows}))))
    assert all(len(record.value) < 1_000_000 for record in outputs)
    assert "were shortened" in " ".join(reply_of(outputs).warnings)


def test_a_context_too_small_for_any_excerpt_is_said() -> None:
    bench = Bench()
    rows = [{"title": "t", "url": "https://e.example/" + "u" * 900, "body": "b"}]
    reply = reply_of(bench.run(paid(bench.plan(context_tokens=50), OK, answer=raw(json.dumps({"rows": rows})))))
    assert (reply.status, reply.context) == ("grounded", "")
    assert any("no excerpt fits" in warning for warning in reply.warnings)


def test_results_with_an_address_that_can_not_be_read_are_kept_and_stored() -> None:
    bench = Bench()
    rows = [{"title": "t", "url": "http://[half/", "body": "b"}]
    outputs = bench.run(paid(bench.plan(), OK, answer=raw(json.dumps({"rows": rows}))))
    assert len(writes_of(outputs)) == 1


def test_delivered_twice_it_is_the_same_reply_but_for_the_time_it_took() -> None:
    bench = Bench()
    payload = paid(bench.plan(), OK, answer=raw())
    first, second = bench.run(payload), bench.run(payload, NOON_MS + 9_000)
    unlike = {"latency_ms", "completed_at"}
    assert reply_of(first).model_dump(exclude=unlike) == reply_of(second).model_dump(exclude=unlike)
    assert first[2] == second[2]


@pytest.mark.parametrize("value", [None, b"", b"{}", b'{"kind": "answer"}', b"\xff"])
def test_a_record_that_can_not_be_read_is_a_dead_letter(value: bytes | None) -> None:
    (letter,) = dead_letters_of(Bench().unify(payload_record(value), NOON_MS))
    assert (letter.reason, letter.stage, letter.dead_letter_id) == ("poison", "unify", "search.payloads.v1-0-3")


@pytest.mark.parametrize(
    "changes",
    [{"chosen": 3}, {"chosen": -1}, {"attempts": []}, {"answers": [raw(attempt=7)]}],
)
def test_a_payload_whose_indices_point_at_nothing_is_a_dead_letter(changes: dict[str, Any]) -> None:
    bench = Bench()
    broken = paid(bench.plan(), OK, answer=raw()).model_copy(update=changes)
    assert [letter.reason for letter in dead_letters_of(bench.run(broken))] == ["poison"]


def test_a_payload_of_a_future_version_waits_among_the_dead_letters() -> None:
    bench = Bench()
    document = json.loads(paid(bench.plan(), OK, answer=raw()).encode())
    value = json.dumps({**document, "version": 2, "new_field": 1}).encode()
    assert [letter.reason for letter in dead_letters_of(bench.unify(payload_record(value), NOON_MS))] == [
        "future_version"
    ]
