"""fetch: no paid answer is lost, no call goes uncounted, whatever dies when."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from groundwire.adapters.call import CallOutcome, ProviderCall
from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.cache_write import Purge
from groundwire.schemas.event import AttemptEvent
from groundwire.schemas.payload import Payload
from groundwire.schemas.plan import Plan
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import EVENTS, FETCHES, PAYLOADS
from groundwire.streams.stages.fetch import FetchStage
from groundwire.streams.stages.normalize import Normalize
from tests.unit.stage_fakes import (
    NOON_MS,
    FakeDirectory,
    FakeProvider,
    ManualClock,
    after,
    always,
    answered,
    attempts_of,
    body_about,
    dead_letters_of,
    failed,
    fetch_record,
    payloads_of,
    plan_of,
    request_record,
)


class WorkerDiedError(Exception):
    """The worker is killed here."""


class Worker:
    """A fetch stage with the log it publishes to. `die_at` kills it when it publishes a payload of that kind."""

    def __init__(self, *providers: FakeProvider, log: list[OutboundRecord] | None = None, **settings: Any) -> None:
        self.providers = providers
        routes = {"default": [provider.name for provider in providers]}
        self.settings = Settings.model_validate({"routes": routes, **settings})
        self.clock = ManualClock(real=True)
        self.log = log if log is not None else []
        self.die_at: str | None = None
        self.stage = FetchStage(FakeDirectory(*providers), self.publish, self.settings, ttl_s, self.clock)

    async def publish(self, records: Sequence[OutboundRecord]) -> None:
        await asyncio.sleep(0)
        if self.die_at in [payload.kind for payload in payloads_of(records)]:
            raise WorkerDiedError
        self.log.extend(records)

    def plan(self, **request: Any) -> Plan:
        normalize = Normalize(self.settings, FakeDirectory(*self.providers))
        record = request_record({"query": "tide tables", **request}, timestamp_ms=self.clock.now_ms())
        return plan_of(normalize(record, self.clock.now_ms()))

    async def serve(self, plan: Plan, **more: Any) -> list[OutboundRecord]:
        outputs = await self.stage(fetch_record(plan, **more))
        self.log.extend(outputs)
        return outputs

    def successor(self) -> "Worker":
        """Another worker that takes the partition over and reads the log's tail."""
        other = Worker(*self.providers, log=self.log)
        other.stage.restore(tail(self.log))
        return other


def tail(log: Sequence[OutboundRecord]) -> list[InboundRecord]:
    return [
        InboundRecord(record.topic, 0, offset, record.key, record.value, (), NOON_MS)
        for offset, record in enumerate(log)
        if record.topic == PAYLOADS.name
    ]


def last_payload(log: Sequence[OutboundRecord]) -> Payload:
    return payloads_of(log)[-1]


async def test_the_mark_is_confirmed_before_the_call_and_the_payload_before_the_event() -> None:
    order: list[str] = []

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        order.append("called")
        return await FakeProvider("alpha")._answer(call, timeout_s)

    worker = Worker(FakeProvider("alpha", script=script))
    publish = worker.publish

    async def noted(records: Sequence[OutboundRecord]) -> None:
        await publish(records)
        order.extend(payload.kind for payload in payloads_of(records))

    worker.stage._publish = noted
    outputs = await worker.serve(worker.plan())
    assert order == ["begun", "called", "answer"]
    assert [record.topic for record in outputs] == [EVENTS.name]


async def test_the_event_of_an_attempt_carries_the_id_of_its_mark() -> None:
    worker = Worker(FakeProvider("alpha"))
    outputs = await worker.serve(worker.plan(request_id="r"))
    (begun,) = payloads_of(worker.log, "begun")
    (event,) = attempts_of(outputs)
    assert event.attempt_id == event.event_id == begun.marks[0].attempt_id
    assert (event.outcome, event.cost_micro_usd, event.results, event.request_id) == ("ok", 1_000, 2, "r")
    assert event.bytes == len(body_about("alpha", "tide tables"))
    assert event.started_at_ms == begun.marks[0].started_at_ms


async def test_a_paid_answer_survives_a_crash_right_after_it_was_published() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    plan = worker.plan(request_id="r")
    first = await worker.stage(fetch_record(plan))  # its events are never published: the worker dies here
    second = await worker.successor().serve(plan)
    assert len(vendor.calls) == 1
    assert attempts_of(second) == attempts_of(first)
    one, other = payloads_of(worker.log, "answer")
    assert one == other


async def test_a_call_whose_answer_died_with_the_worker_is_lost_and_paid_again_once() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    plan = worker.plan(request_id="r")
    worker.die_at = "answer"
    with pytest.raises(WorkerDiedError):
        await worker.serve(plan)
    outputs = await worker.successor().serve(plan)
    assert len(vendor.calls) == 2
    lost, paid = attempts_of(outputs)
    (begun, _) = payloads_of(worker.log, "begun")
    assert (lost.outcome, lost.cost_micro_usd, lost.cost_source) == ("lost", None, "unknown")
    assert lost.attempt_id == begun.marks[0].attempt_id
    assert (paid.outcome, paid.attempt) == ("ok", 1)
    assert paid.attempt_id != lost.attempt_id
    assert [attempt.outcome for attempt in last_payload(worker.log).attempts] == ["lost", "ok"]


async def test_a_lost_call_is_told_once_also_when_a_third_worker_takes_over() -> None:
    worker = Worker(FakeProvider("alpha"))
    plan = worker.plan(request_id="r")
    worker.die_at = "answer"
    with pytest.raises(WorkerDiedError):
        await worker.serve(plan)
    second = worker.successor()
    told = attempts_of(await second.serve(plan))
    again = attempts_of(await second.successor().serve(plan))
    assert again == told
    assert len({event.event_id for event in told}) == 2


async def test_a_lost_call_of_a_request_that_is_then_served_from_another_answer_is_told() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    plan = worker.plan(request_id="r")
    worker.die_at = "answer"
    with pytest.raises(WorkerDiedError):
        await worker.serve(plan)
    second = worker.successor()
    await second.serve(second.plan(request_id="other"))
    before = len(worker.log)
    await second.serve(plan)
    (lost,) = attempts_of(worker.log[before:])
    assert (lost.request_id, lost.outcome) == ("r", "lost")
    assert last_payload(worker.log).kind == "shared"
    assert len(vendor.calls) == 2


async def test_nothing_was_called_when_the_mark_could_not_be_published() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    worker.die_at = "begun"
    with pytest.raises(WorkerDiedError):
        await worker.serve(worker.plan())
    assert vendor.calls == []


async def test_an_answer_paid_by_another_worker_serves_after_the_takeover_without_a_call() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan(request_id="r"))
    second = worker.successor()
    await second.serve(second.plan(request_id="s"))
    payload = last_payload(worker.log)
    assert (payload.kind, payload.paid_micro_usd) == ("shared", 1_000)
    assert payload.payload_id == payloads_of(worker.log, "answer")[0].payload_id
    assert payload.answers[0].body == body_about("alpha", "tide tables")
    assert len(vendor.calls) == 1


async def test_a_shared_outcome_is_repeated_as_it_was() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan(request_id="r"))
    plan = worker.plan(request_id="s")
    (first,) = await worker.serve(plan)
    (second,) = await worker.successor().serve(plan)
    assert second == first
    assert len(vendor.calls) == 1


async def test_the_same_request_twice_at_once_is_one_call_and_twice_the_same_payload() -> None:
    vendor = FakeProvider("alpha", script=after(0.02, name="alpha"))
    worker = Worker(vendor)
    plan = worker.plan(request_id="r", cache="bypass")
    await asyncio.gather(worker.serve(plan), worker.serve(plan))
    one, other = payloads_of(worker.log, "answer")
    assert one == other
    assert len(vendor.calls) == 1


async def test_a_request_delivered_twice_gets_one_outcome_also_when_it_is_late() -> None:
    """The vendor has answered in time, and the broker is slow to confirm it: the second delivery must not give up before."""
    worker = Worker(FakeProvider("alpha"))
    plan = worker.plan(request_id="r", timeout_s=0.2)
    publish, confirm, asked = worker.publish, asyncio.Event(), asyncio.Event()

    async def slow(records: Sequence[OutboundRecord]) -> None:
        if "answer" in [payload.kind for payload in payloads_of(records)]:
            asked.set()
            await confirm.wait()
        await publish(records)

    worker.stage._publish = slow
    leading = asyncio.create_task(worker.serve(plan))
    await asked.wait()
    again = asyncio.create_task(worker.serve(plan))
    done, _ = await asyncio.wait([again], timeout=0.4)
    assert not done
    confirm.set()
    await asyncio.gather(leading, again)
    one, other = payloads_of(worker.log, "answer")
    assert one == other
    assert payloads_of(worker.log, "shared") == []


async def test_two_deliveries_that_wait_for_anothers_call_say_the_same() -> None:
    worker = Worker(FakeProvider("alpha"))
    confirm, asked, publish = asyncio.Event(), asyncio.Event(), worker.publish

    async def slow(records: Sequence[OutboundRecord]) -> None:
        if "answer" in [payload.kind for payload in payloads_of(records)]:
            asked.set()
            await confirm.wait()
        await publish(records)

    worker.stage._publish = slow
    leading = asyncio.create_task(worker.serve(worker.plan(request_id="first", timeout_s=30)))
    await asked.wait()
    short = worker.plan(request_id="r", timeout_s=0.2)
    early = asyncio.create_task(worker.serve(short))
    late = asyncio.create_task(worker.serve(short.model_copy(update={"deadline_ms": short.deadline_ms + 60_000})))
    await early
    confirm.set()
    await asyncio.gather(leading, late)
    one, other = payloads_of(worker.log, "shared")
    assert (one.payload_id, one.chosen, one.warnings) == (other.payload_id, other.chosen, other.warnings)


async def test_a_repeated_request_is_answered_where_this_delivery_asks_for_it() -> None:
    worker = Worker(FakeProvider("alpha"))
    plan = worker.plan(request_id="r")
    await worker.serve(plan)
    elsewhere = plan.model_copy(update={"address": plan.address.model_copy(update={"topic": "search.replies.two"})})
    await worker.serve(elsewhere)
    assert last_payload(worker.log).plan.address.topic == "search.replies.two"


async def test_when_the_leader_dies_one_of_those_who_wait_leads() -> None:
    called = asyncio.Event()

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        if not called.is_set():
            called.set()
            await asyncio.Event().wait()
        return answered("alpha", call.query)

    vendor = FakeProvider("alpha", script=script)
    worker = Worker(vendor)
    leader = asyncio.create_task(worker.serve(worker.plan(request_id="r")))
    await called.wait()
    followers = [asyncio.create_task(worker.serve(worker.plan(request_id=f"f{n}"))) for n in range(3)]
    await asyncio.sleep(0)
    leader.cancel()
    await asyncio.gather(*followers)
    assert len(vendor.calls) == 2
    assert worker.stage.flights == 0
    kinds = sorted(payload.kind for payload in payloads_of(worker.log) if payload.kind != "begun")
    assert kinds == ["answer", "shared", "shared"]


async def test_a_request_past_its_deadline_is_never_fetched() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    plan = worker.plan(timeout_s=1)
    worker.clock.move(1)
    outputs = await worker.serve(plan)
    assert vendor.calls == []
    payload = last_payload(worker.log)
    assert (payload.kind, payload.chosen) == ("answer", None)
    assert [(attempt.outcome, attempt.reason) for attempt in payload.attempts] == [("skipped", "deadline too near")]
    assert [event.outcome for event in attempts_of(outputs)] == ["skipped"]
    assert payload.warnings == ["the deadline had passed, or was too near, when the vendors' turn came: none was asked"]


async def test_a_recent_answer_serves_also_a_request_past_its_deadline() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan())
    plan = worker.plan(timeout_s=1, request_id="late")
    worker.clock.move(2)
    await worker.serve(plan)
    assert last_payload(worker.log).kind == "shared"
    assert last_payload(worker.log).chosen == 0


@pytest.mark.parametrize(("max_age_s", "calls"), [(None, 1), (10, 1), (4, 2)])
async def test_a_recent_answer_older_than_the_caller_accepts_is_not_served(max_age_s: int | None, calls: int) -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan(request_id="r"))
    worker.clock.move(5)
    await worker.serve(worker.plan(request_id="s", max_age_s=max_age_s))
    assert len(vendor.calls) == calls


async def test_recent_answers_serve_for_as_long_as_the_settings_say() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor, fetch={"recent_s": 20})
    await worker.serve(worker.plan(request_id="r"))
    worker.clock.move(21)
    await worker.serve(worker.plan(request_id="s"))
    assert len(vendor.calls) == 2


async def test_refresh_takes_nothing_recent_and_what_it_gets_serves_others() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan(request_id="r"))
    await worker.serve(worker.plan(request_id="s", cache="refresh"))
    await worker.serve(worker.plan(request_id="t"))
    assert len(vendor.calls) == 2
    refreshed = [payload for payload in payloads_of(worker.log, "answer") if payload.plan.request_id == "s"]
    assert last_payload(worker.log).payload_id == refreshed[0].payload_id


async def test_what_a_bypass_paid_for_serves_nobody_else() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan(request_id="r", cache="bypass"))
    await worker.serve(worker.plan(request_id="s"))
    assert len(vendor.calls) == 2


@pytest.mark.parametrize(
    ("purge", "calls"),
    [
        ({}, 2),
        ({"query": "tide tables"}, 2),
        ({"query": "other"}, 1),
        ({"provider": "alpha"}, 2),
        ({"provider": "beta"}, 1),
        ({"tenant": "default"}, 2),
        ({"tenant": "t"}, 1),
        ({"domain": "*.alpha.example"}, 2),
        ({"domain": "gamma.example"}, 1),
        ({"before_ms": NOON_MS + 3_600_000}, 2),
        ({"before_ms": NOON_MS - 1}, 1),
    ],
)
async def test_a_purge_reaches_the_recent_answers(purge: dict[str, Any], calls: int) -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor)
    await worker.serve(worker.plan(request_id="r"))
    worker.stage.forget(Purge(requested_at_ms=NOON_MS, **purge))
    await worker.serve(worker.plan(request_id="s"))
    assert len(vendor.calls) == calls


async def test_an_empty_answer_is_not_served_to_others() -> None:
    vendor = FakeProvider("alpha", script=always(failed("empty", status=200, body='{"rows": []}')))
    worker = Worker(vendor, fetch={"on_empty": "accept"})
    await worker.serve(worker.plan(request_id="r"))
    await worker.serve(worker.plan(request_id="s"))
    assert len(vendor.calls) == 2


async def test_an_answer_too_large_for_a_record_is_told_instead_of_stopping_the_worker() -> None:
    endless = failed("ok", status=200, body='"' * 5_000_000)
    worker = Worker(FakeProvider("alpha", script=always(endless)))
    await worker.serve(worker.plan())
    payload = last_payload(worker.log)
    assert payload.chosen is None
    assert "too large" in " ".join(payload.warnings)
    assert max(len(record.value) for record in worker.log) < PAYLOADS.max_bytes


async def test_budgets_are_rebuilt_from_the_events_of_all_workers() -> None:
    vendor = FakeProvider("alpha")
    worker = Worker(vendor, providers={"alpha": {"budget_per_day_micro_usd": 2_500}})
    await worker.serve(worker.plan(query="one"))
    spent = attempts_of(worker.log)[0]
    worker.stage.observe([spent, spent])
    await worker.serve(worker.plan(query="two"))
    others = AttemptEvent(**{**spent.model_dump(), "event_id": "x", "attempt_id": "x"})
    worker.stage.observe([others])
    await worker.serve(worker.plan(query="three"))
    assert len(vendor.calls) == 2
    reason = last_payload(worker.log).attempts[0].reason
    assert reason is not None
    assert "budget of provider alpha for this day is spent" in reason


async def test_the_log_may_hold_anything_at_a_takeover() -> None:
    worker = Worker(FakeProvider("alpha"))
    await worker.serve(worker.plan(request_id="r"))
    (answer,) = payloads_of(worker.log, "answer")
    uneven = answer.model_copy(update={"marks": []}).encode()
    records = [
        InboundRecord(PAYLOADS.name, 0, n, None, value, (), NOON_MS) for n, value in enumerate([None, b"{", uneven])
    ]
    second = Worker(*worker.providers)
    second.stage.restore(records)
    await second.serve(second.plan(request_id="r"))
    assert last_payload(second.log).kind == "answer"


@pytest.mark.parametrize("value", [None, b"{", b'{"version": 9, "x": 1}'])
async def test_a_record_that_can_not_be_read_is_a_dead_letter(value: bytes | None) -> None:
    worker = Worker(FakeProvider("alpha"))
    (letter,) = dead_letters_of(await worker.stage(InboundRecord(FETCHES.name, 2, 7, b"k", value, (), NOON_MS)))
    assert (letter.stage, letter.partition, letter.offset) == ("fetch", 2, 7)
    assert letter.reason == ("future_version" if value and b"9" in value else "poison")


async def test_a_providers_guards_can_be_seen() -> None:
    worker = Worker(FakeProvider("alpha", max_concurrency=4))
    worker.stage.set_share(0.5)
    assert worker.stage.seen("alpha") is None
    await worker.serve(worker.plan())
    seen = worker.stage.seen("alpha")
    assert seen is not None
    assert (seen.breaker, seen.under_way) == ("closed", 0)
