"""fetch under any mix of equal and different requests, failures and crashes: everybody is answered, every call is counted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.adapters.call import CallOutcome, Cost, ProviderCall
from groundwire.lake.cache.expiry import ttl_s
from groundwire.schemas.event import AttemptEvent
from groundwire.schemas.plan import Plan
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import PAYLOADS
from groundwire.streams.stages.fetch import FetchStage
from groundwire.streams.stages.normalize import Normalize
from tests.unit.stage_fakes import (
    NOON_MS,
    FakeDirectory,
    FakeProvider,
    ManualClock,
    answered,
    attempts_of,
    failed,
    fetch_record,
    payloads_of,
    plan_of,
    request_record,
)

PRICE = 1_000
SETTINGS = Settings(routes={"default": ["alpha", "beta"]}).model_copy(
    update={"breaker": Settings().breaker.model_copy(update={"enabled": False})}
)


@dataclass(frozen=True)
class Asking:
    """One request: which question, in which mode, after how many turns of the loop."""

    question: int
    mode: str
    turn: int


askings = st.lists(
    st.builds(
        Asking,
        question=st.integers(0, 2),
        mode=st.sampled_from(["use", "use", "use", "refresh", "bypass"]),
        turn=st.integers(0, 12),
    ),
    min_size=1,
    max_size=12,
)
# What the vendor does at each call, and how many turns it takes.
behaviours = st.lists(
    st.tuples(st.sampled_from(["ok", "ok", "empty", "server_error", "rejected", "quota"]), st.integers(0, 4)),
    min_size=1,
    max_size=8,
)


class Vendor:
    """Both vendors of the chain. `invoice` counts every call; `most_at_once` the calls under way for one question."""

    def __init__(self, behaviour: Sequence[tuple[str, int]]) -> None:
        self.behaviour = behaviour
        self.invoice = 0
        self.under_way: dict[str, int] = {}
        self.most_at_once = 0

    def provider(self, name: str) -> FakeProvider:
        async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
            outcome, turns = self.behaviour[self.invoice % len(self.behaviour)]
            self.invoice += 1
            place = f"{name} {call.query}"
            self.under_way[place] = self.under_way.get(place, 0) + 1
            self.most_at_once = max(self.most_at_once, self.under_way[place])
            try:
                for _ in range(turns):
                    await asyncio.sleep(0)
            finally:
                self.under_way[place] -= 1
            if outcome == "ok":
                return answered(name, call.query, price=PRICE)
            return failed(outcome, status=200, cost=Cost(PRICE, "answer"))  # type: ignore[arg-type]

        return FakeProvider(name, script=script)


class Shop:
    """A fetch worker on a log."""

    def __init__(self, vendor: Vendor, log: list[OutboundRecord]) -> None:
        self.log = log
        self.directory = FakeDirectory(vendor.provider("alpha"), vendor.provider("beta"))
        self.stage = FetchStage(self.directory, self.publish, SETTINGS, ttl_s, ManualClock())

    async def publish(self, records: Sequence[OutboundRecord]) -> None:
        await asyncio.sleep(0)
        self.log.extend(records)

    def plans(self, some: Sequence[Asking]) -> list[Plan]:
        normalize = Normalize(SETTINGS, self.directory)
        return [
            plan_of(
                normalize(
                    request_record(
                        {"query": f"question {asking.question}", "cache": asking.mode, "request_id": f"r{number}"}
                    ),
                    NOON_MS,
                )
            )
            for number, asking in enumerate(some)
        ]

    async def serve(self, some: Sequence[Asking]) -> None:
        async def one(asking: Asking, plan: Plan) -> None:
            for _ in range(asking.turn):
                await asyncio.sleep(0)
            self.log.extend(await self.stage(fetch_record(plan)))

        await asyncio.gather(*(one(asking, plan) for asking, plan in zip(some, self.plans(some), strict=True)))


def outcomes_by_request(log: Sequence[OutboundRecord]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for payload in payloads_of(log):
        if payload.kind != "begun":
            found.setdefault(payload.plan.request_id, []).append(payload.kind)
    return found


def marks(log: Sequence[OutboundRecord]) -> set[str]:
    return {mark.attempt_id for payload in payloads_of(log, "begun") for mark in payload.marks}


def events(log: Sequence[OutboundRecord]) -> dict[str, AttemptEvent]:
    """By id; a copy must say the same as the first."""
    found: dict[str, AttemptEvent] = {}
    for event in attempts_of(log):
        assert found.setdefault(event.event_id, event) == event
    return found


@settings(max_examples=60, deadline=None)
@given(askings, behaviours)
def test_everybody_is_answered_once_and_the_ledger_is_the_invoice(
    some: list[Asking], behaviour: list[tuple[str, int]]
) -> None:
    vendor = Vendor(behaviour)
    log: list[OutboundRecord] = []
    shop = Shop(vendor, log)
    asyncio.run(shop.serve(some))
    outcomes = outcomes_by_request(log)
    assert len(outcomes) == len(some)
    assert all(len(kinds) == 1 for kinds in outcomes.values())
    assert set(events(log)) == marks(log)
    assert sum(event.cost_micro_usd or 0 for event in events(log).values()) == vendor.invoice * PRICE
    assert shop.stage.flights == 0
    if all(asking.mode != "bypass" for asking in some):
        assert vendor.most_at_once <= 1


@settings(max_examples=60, deadline=None)
@given(askings, behaviours, st.integers(0, 80))
def test_wherever_a_worker_dies_every_call_is_told_and_nothing_published_is_paid_again(
    some: list[Asking], behaviour: list[tuple[str, int]], cut: int
) -> None:
    vendor = Vendor(behaviour)
    before: list[OutboundRecord] = []
    asyncio.run(Shop(vendor, before).serve(some))
    survived = before[:cut]
    paid_before = {payload.plan.request_id for payload in payloads_of(survived, "answer")}
    begun_before = marks(survived)

    # Another worker takes the partition over and gets every request again.
    log = list(survived)
    later = Vendor(behaviour)
    shop = Shop(later, log)
    shop.stage.restore(
        [
            InboundRecord(PAYLOADS.name, 0, offset, record.key, record.value, (), NOON_MS)
            for offset, record in enumerate(survived)
            if record.topic == PAYLOADS.name
        ]
    )
    asyncio.run(shop.serve(some))

    assert set(outcomes_by_request(log)) == {f"r{number}" for number in range(len(some))}
    told = events(log)
    assert set(told) == marks(log)
    lost = {event_id for event_id, event in told.items() if event.outcome == "lost"}
    assert lost <= begun_before
    ledger = sum(event.cost_micro_usd or 0 for event in told.values())
    assert ledger + len(lost) * PRICE == (len(begun_before) + later.invoice) * PRICE
    again = {payload.plan.request_id for payload in payloads_of(log[len(survived) :], "begun")}
    assert not again & paid_before
