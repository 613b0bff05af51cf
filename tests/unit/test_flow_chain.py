"""The provider chain: who is asked, for how long, and what stands in the receipt."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from groundwire.adapters.call import CallOutcome, Cost, ProviderCall
from groundwire.schemas.payload import AttemptMark
from groundwire.schemas.plan import Plan
from groundwire.schemas.reply import AttemptOutcome
from groundwire.schemas.settings import Settings
from groundwire.streams.flow.budget import Budgets
from groundwire.streams.flow.chain import Chain, ChainResult
from groundwire.streams.flow.gate import Gate
from groundwire.streams.flow.hedging import Hedging
from groundwire.streams.stages.normalize import Normalize
from tests.unit.stage_fakes import (
    FakeDirectory,
    FakeProvider,
    ManualClock,
    Script,
    after,
    always,
    answered,
    failed,
    one_after_the_other,
    plan_of,
    request_record,
)


class Rig:
    """A chain with everything around it."""

    def __init__(self, *providers: FakeProvider, clock: ManualClock | None = None, **settings: Any) -> None:
        self.providers = providers
        routes = {"default": [provider.name for provider in providers]}
        self.settings = Settings.model_validate({"routes": routes, **settings})
        self.clock = clock or ManualClock(real=True)
        self.directory = FakeDirectory(*providers)
        budgets = Budgets(self.settings.providers, self.settings.tenants)
        self.gate = Gate(self.settings, self.clock, budgets)
        self.hedging = Hedging(self.settings.hedging)
        self.chain = Chain(self.directory, self.gate, budgets, self.hedging, self.settings, self.clock)
        self.begun: list[list[str]] = []

    def plan(self, **request: Any) -> Plan:
        normalize = Normalize(self.settings, self.directory)
        record = request_record({"query": "tide tables", **request}, timestamp_ms=self.clock.now_ms())
        return plan_of(normalize(record, self.clock.now_ms()))

    async def run(self, lost: Sequence[AttemptMark] = (), **request: Any) -> ChainResult:
        async def began(marks: Sequence[AttemptMark]) -> None:
            self.begun.append([mark.provider for mark in marks])

        return await self.chain.run(self.plan(**request), lost, began)


def receipt(result: ChainResult) -> list[tuple[str, str]]:
    assert [mark.provider for mark in result.marks] == [attempt.provider for attempt in result.attempts]
    assert [mark.attempt for mark in result.marks] == list(range(len(result.marks)))
    return [(attempt.provider, attempt.outcome) for attempt in result.attempts]


MOVES_ON: list[AttemptOutcome] = [
    "timeout", "transport", "rate_limited", "quota", "auth", "server_error", "bad_answer", "empty", "skipped",
]  # fmt: skip


@pytest.mark.parametrize("outcome", MOVES_ON)
async def test_everything_but_an_answer_and_a_rejection_moves_on(outcome: AttemptOutcome) -> None:
    rig = Rig(FakeProvider("alpha", script=always(failed(outcome))), FakeProvider("beta"))
    result = await rig.run()
    assert receipt(result) == [("alpha", outcome), ("beta", "ok")]
    assert result.chosen is not None
    assert result.answers[result.chosen].provider == "beta"
    assert result.answers[result.chosen].attempt == 1


async def test_a_rejection_ends_the_chain() -> None:
    rig = Rig(FakeProvider("alpha", script=always(failed("rejected", status=422))), FakeProvider("beta"))
    result = await rig.run()
    assert receipt(result) == [("alpha", "rejected")]
    assert result.chosen is None


async def test_an_empty_answer_is_accepted_when_the_operator_says_so() -> None:
    empty = failed("empty", status=200, body='{"rows": []}')
    rig = Rig(FakeProvider("alpha", script=always(empty)), FakeProvider("beta"), fetch={"on_empty": "accept"})
    result = await rig.run()
    assert receipt(result) == [("alpha", "empty")]
    assert (result.chosen, len(result.answers)) == (0, 1)


async def test_paid_empty_answers_are_kept_though_they_are_not_served() -> None:
    empty = failed("empty", status=200, body='{"rows": []}', cost=Cost(5, "answer"))
    result = await Rig(FakeProvider("alpha", script=always(empty)), FakeProvider("beta")).run()
    assert [answer.provider for answer in result.answers] == ["alpha", "beta"]
    assert result.chosen == 1
    assert result.attempts[0].cost_micro_usd == 5


async def test_those_who_can_not_serve_are_passed_over_with_their_reason_and_never_called() -> None:
    missing = FakeProvider("alpha", missing="no key: set ALPHA")
    unfit = FakeProvider("beta", unfit="the query has 51 words; this vendor takes 50")
    rig = Rig(missing, unfit, FakeProvider("gamma"))
    result = await rig.run()
    assert receipt(result) == [("alpha", "skipped"), ("beta", "skipped"), ("gamma", "ok")]
    assert [attempt.reason for attempt in result.attempts[:2]] == [
        "no key: set ALPHA",
        "the query has 51 words; this vendor takes 50",
    ]
    assert [attempt.cost_micro_usd for attempt in result.attempts] == [0, 0, 1_000]
    assert (missing.calls, unfit.calls) == ([], [])
    assert rig.begun == [["gamma"]]


async def test_a_provider_that_is_gone_is_passed_over() -> None:
    rig = Rig(FakeProvider("alpha"), FakeProvider("beta"))
    plan = rig.plan()
    del rig.directory.providers["alpha"]

    async def began(marks: Sequence[AttemptMark]) -> None:
        return None

    result = await rig.chain.run(plan, (), began)
    assert receipt(result) == [("alpha", "skipped"), ("beta", "ok")]


async def test_the_marks_of_all_calls_begun_so_far_are_told_before_each_call() -> None:
    down = always(failed("server_error"))
    rig = Rig(FakeProvider("alpha", script=down), FakeProvider("beta", script=down), FakeProvider("gamma"))
    await rig.run()
    assert rig.begun == [["alpha"], ["alpha", "beta"], ["alpha", "beta", "gamma"]]


async def test_every_attempt_has_an_id_of_its_own() -> None:
    rig = Rig(*(FakeProvider(name, script=always(failed("auth"))) for name in ("alpha", "beta", "gamma")))
    first, second = await rig.run(request_id="r"), await rig.run(request_id="s")
    ids = [mark.attempt_id for mark in [*first.marks, *second.marks]]
    assert len(set(ids)) == 6


def silent(clock: ManualClock) -> Script:
    """Lets its whole timeout pass."""

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        clock.move(timeout_s)
        return failed("timeout", status=None)

    return script


async def test_a_silent_first_vendor_leaves_time_for_the_second() -> None:
    clock = ManualClock()
    first = FakeProvider("alpha", script=silent(clock), timeout_s=60)
    second = FakeProvider("beta", timeout_s=60)
    result = await Rig(first, second, clock=clock).run(timeout_s=1)
    assert receipt(result) == [("alpha", "timeout"), ("beta", "ok")]
    assert first.calls[0][1] == pytest.approx(0.6 * 0.9)
    assert second.calls[0][1] == pytest.approx(0.4 * 0.9)


async def test_the_last_usable_provider_gets_all_that_is_left() -> None:
    alone = FakeProvider("alpha", timeout_s=60)
    rig = Rig(alone, FakeProvider("beta", missing="off"), FakeProvider("gamma", unfit="no"), clock=ManualClock())
    await rig.run(timeout_s=10)
    assert alone.calls[0][1] == pytest.approx(9.9)


async def test_no_attempt_is_longer_than_the_providers_own_timeout() -> None:
    vendor = FakeProvider("alpha", timeout_s=2)
    await Rig(vendor).run(timeout_s=100)
    assert vendor.calls[0][1] == 2


async def test_past_the_deadline_nobody_is_called_and_the_receipt_says_why() -> None:
    clock = ManualClock()

    async def eats_the_time(call: ProviderCall, timeout_s: float) -> CallOutcome:
        clock.move(14.95)
        return failed("timeout")

    second = FakeProvider("beta")
    rig = Rig(FakeProvider("alpha", script=eats_the_time), second, FakeProvider("gamma", missing="no key"), clock=clock)
    result = await rig.run()
    assert receipt(result) == [("alpha", "timeout"), ("beta", "skipped"), ("gamma", "skipped")]
    assert [attempt.reason for attempt in result.attempts[1:]] == ["deadline too near", "no key"]
    assert second.calls == []
    assert result.short_of_time


async def test_a_call_whose_mark_took_all_the_time_is_not_made() -> None:
    clock = ManualClock()
    vendor = FakeProvider("alpha")
    rig = Rig(vendor, clock=clock)

    async def slowly(marks: Sequence[AttemptMark]) -> None:
        clock.move(60)

    result = await rig.chain.run(rig.plan(), (), slowly)
    assert [(attempt.outcome, attempt.reason) for attempt in result.attempts] == [("skipped", "deadline too near")]
    assert vendor.calls == []


@pytest.mark.parametrize(("own_s", "short"), [(5, False), (60, True)])
async def test_a_timeout_at_the_vendors_own_limit_is_not_for_want_of_time(own_s: float, short: bool) -> None:
    clock = ManualClock()
    rig = Rig(FakeProvider("alpha", script=silent(clock), timeout_s=own_s), clock=clock)
    assert (await rig.run()).short_of_time is short


async def test_an_adapter_that_raises_costs_one_attempt() -> None:
    async def raises(call: ProviderCall, timeout_s: float) -> CallOutcome:
        raise ZeroDivisionError("https://vendor.example/?key=secret")

    result = await Rig(FakeProvider("alpha", script=raises), FakeProvider("beta")).run()
    assert receipt(result) == [("alpha", "bad_answer"), ("beta", "ok")]
    assert result.attempts[0].reason == "the adapter failed (ZeroDivisionError)"
    assert (result.attempts[0].cost_micro_usd, result.attempts[0].cost_source) == (None, "unknown")


async def test_an_adapter_that_does_not_come_back_is_broken_off() -> None:
    async def hangs(call: ProviderCall, timeout_s: float) -> CallOutcome:
        await asyncio.Event().wait()
        raise AssertionError

    result = await Rig(FakeProvider("alpha", script=hangs, timeout_s=0.05), FakeProvider("beta")).run()
    assert receipt(result) == [("alpha", "timeout"), ("beta", "ok")]


async def test_calls_lost_in_a_crash_stand_first_in_the_receipt() -> None:
    mark = AttemptMark(attempt_id="x", provider="alpha", attempt=0, hedged=False, depth=5, started_at_ms=1)
    result = await Rig(FakeProvider("alpha")).run([mark])
    assert [(attempt.outcome, attempt.cost_source) for attempt in result.attempts] == [
        ("lost", "unknown"),
        ("ok", "price_list"),
    ]
    assert result.marks[0].attempt_id == "x"
    assert result.marks[1].attempt == 1


# ---- guards --------------------------------------------------------------------------------------------------------------


async def test_a_provider_that_keeps_failing_is_left_alone() -> None:
    vendor = FakeProvider("alpha", script=always(failed("server_error")))
    rig = Rig(vendor, FakeProvider("beta"), breaker={"min_calls": 3})
    for number in range(5):
        result = await rig.run(request_id=str(number))
    assert len(vendor.calls) == 3
    assert receipt(result) == [("alpha", "skipped"), ("beta", "ok")]
    assert (result.attempts[0].reason or "").startswith("breaker open for ")


async def test_half_open_passes_one_probe_however_many_ask_at_once() -> None:
    clock = ManualClock()
    vendor = FakeProvider("alpha", script=always(failed("server_error")))
    rig = Rig(vendor, FakeProvider("beta"), clock=clock, breaker={"min_calls": 3, "open_s": 5})
    for number in range(3):
        await rig.run(request_id=str(number))
    clock.move(5)
    vendor._script = after(0.02, name="alpha")
    results = await asyncio.gather(*(rig.run(request_id=f"p{number}") for number in range(10)))
    assert len(vendor.calls) == 4
    assert sorted(receipt(result)[0][1] for result in results) == ["ok"] + ["skipped"] * 9
    assert receipt(await rig.run(request_id="after")) == [("alpha", "ok")]


async def test_a_vendor_that_asked_for_time_is_not_asked_before() -> None:
    clock = ManualClock()
    script = one_after_the_other("alpha", failed("rate_limited", status=429, retry_after_s=10))
    vendor = FakeProvider("alpha", script=script)
    rig = Rig(vendor, FakeProvider("beta"), clock=clock)
    await rig.run(request_id="1")
    second = await rig.run(request_id="2")
    assert second.attempts[0].reason == "rate limited: not before 10.0 s from now"
    clock.move(10)
    assert receipt(await rig.run(request_id="3")) == [("alpha", "ok")]


async def test_a_spent_budget_passes_the_provider_over() -> None:
    rig = Rig(FakeProvider("alpha"), FakeProvider("beta"), providers={"alpha": {"budget_per_day_micro_usd": 2_000}})
    results = [await rig.run(request_id=str(number)) for number in range(3)]
    assert [receipt(result)[0] for result in results] == [("alpha", "ok"), ("alpha", "ok"), ("alpha", "skipped")]
    assert "budget" in (results[2].attempts[0].reason or "")


async def test_many_at_once_do_not_run_past_a_budget() -> None:
    vendor = FakeProvider("alpha", script=after(0.01, name="alpha"))
    rig = Rig(vendor, FakeProvider("beta"), providers={"alpha": {"budget_per_day_micro_usd": 3_000}})
    await asyncio.gather(*(rig.run(request_id=str(number)) for number in range(20)))
    assert len(vendor.calls) == 3


async def test_a_short_wait_for_the_rate_is_waited_and_a_long_one_passes_the_provider_over() -> None:
    vendor = FakeProvider("alpha", requests_per_s=10)
    rig = Rig(vendor, FakeProvider("beta"), clock=ManualClock())
    results = [await rig.run(request_id=str(n), timeout_s=0.5) for n in range(13)]
    assert [receipt(result)[0][1] for result in results] == ["ok"] * 11 + ["skipped"] * 2
    assert results[12].attempts[0].reason == "rate limit: next call in 0.2 s"


async def test_the_concurrency_cap_holds_and_those_who_wait_too_long_move_on() -> None:
    release = asyncio.Event()
    most = 0

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        nonlocal most
        most = max(most, len(vendor.calls))
        await release.wait()
        return answered("alpha", call.query)

    vendor = FakeProvider("alpha", script=script, max_concurrency=2)
    rig = Rig(vendor, FakeProvider("beta"))
    inside = [asyncio.create_task(rig.run(request_id=f"in{n}", timeout_s=60)) for n in range(2)]
    while len(vendor.calls) < 2:
        await asyncio.sleep(0)
    waiting = await rig.run(request_id="waits", timeout_s=0.4)
    assert receipt(waiting) == [("alpha", "skipped"), ("beta", "ok")]
    assert waiting.attempts[0].reason == "too many calls under way"
    release.set()
    await asyncio.gather(*inside)
    assert most == 2
    assert receipt(await rig.run(request_id="later")) == [("alpha", "ok")]


# ---- retries and keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["transport", "server_error", "rate_limited"])
async def test_a_passing_failure_is_tried_again_when_the_operator_says_so(outcome: AttemptOutcome) -> None:
    script = one_after_the_other("alpha", failed(outcome), failed(outcome))
    rig = Rig(
        FakeProvider("alpha", script=script), FakeProvider("beta"), retry={"max_per_provider": 2, "backoff_s": 0.01}
    )
    assert receipt(await rig.run()) == [("alpha", outcome), ("alpha", outcome), ("alpha", "ok")]


@pytest.mark.parametrize("outcome", ["timeout", "quota", "auth", "bad_answer", "empty"])
async def test_other_failures_are_not_tried_again_at_the_same_vendor(outcome: AttemptOutcome) -> None:
    script = one_after_the_other("alpha", failed(outcome))
    rig = Rig(
        FakeProvider("alpha", script=script), FakeProvider("beta"), retry={"max_per_provider": 3, "backoff_s": 0.01}
    )
    assert receipt(await rig.run()) == [("alpha", outcome), ("beta", "ok")]


async def test_a_pause_that_eats_the_next_providers_time_is_not_made() -> None:
    script = one_after_the_other("alpha", failed("rate_limited", retry_after_s=5))
    rig = Rig(FakeProvider("alpha", script=script), FakeProvider("beta"), retry={"max_per_provider": 3})
    assert receipt(await rig.run(timeout_s=2)) == [("alpha", "rate_limited"), ("beta", "ok")]


async def test_a_spent_key_gives_way_to_the_next_one_and_no_key_is_asked_twice() -> None:
    vendor = FakeProvider("alpha", keys=3)

    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        vendor.fresh_keys -= 1
        return failed("quota", status=402)

    vendor._script = script
    rig = Rig(vendor, FakeProvider("beta"))
    assert receipt(await rig.run()) == [("alpha", "quota")] * 3 + [("beta", "ok")]


# ---- hedging -------------------------------------------------------------------------------------------------------------


def once(event: asyncio.Event, outcome: CallOutcome) -> Script:
    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        await event.wait()
        return outcome

    return script


def telling(event: asyncio.Event, then: Script) -> Script:
    async def script(call: ProviderCall, timeout_s: float) -> CallOutcome:
        event.set()
        return await then(call, timeout_s)

    return script


def hedging_rig(
    first: Script, second: Script, *, price: int | None = 1_000, share: float = 1.0, usual_ms: float = 5.0
) -> Rig:
    rig = Rig(
        FakeProvider("alpha", script=first),
        FakeProvider("beta", script=second, price=price),
        FakeProvider("gamma"),
        hedging={"enabled": True, "min_samples": 5, "max_extra_cost": share},
    )
    for _ in range(20):
        rig.hedging.ended("alpha", answered=True, latency_ms=usual_ms, cost_micro_usd=1_000, hedged=False)
    return rig


async def test_the_next_vendor_is_asked_when_the_first_is_slower_than_usual_and_the_loser_is_booked() -> None:
    rig = hedging_rig(after(60), after(0, name="beta"))
    result = await rig.run()
    assert result.chosen is not None
    assert result.answers[result.chosen].provider == "beta"
    loser, winner = result.attempts
    assert (loser.provider, loser.outcome, loser.hedged) == ("alpha", "timeout", False)
    assert loser.reason == "broken off: another vendor answered first"
    assert (loser.cost_micro_usd, loser.cost_source) == (1_000, "price_list")
    assert (winner.provider, winner.outcome, winner.hedged) == ("beta", "ok", True)
    assert rig.begun == [["alpha"], ["alpha", "beta"]]


async def test_a_vendor_in_time_is_not_hedged() -> None:
    rig = hedging_rig(after(0, name="alpha"), after(0, name="beta"), usual_ms=60_000)
    assert receipt(await rig.run()) == [("alpha", "ok")]


async def test_when_both_fail_the_chain_goes_on_after_them() -> None:
    asked = asyncio.Event()
    rig = hedging_rig(once(asked, failed("server_error")), telling(asked, always(failed("auth"))))
    assert receipt(await rig.run()) == [("alpha", "server_error"), ("beta", "auth"), ("gamma", "ok")]


async def test_the_first_may_still_win_and_then_the_hedge_is_the_loser() -> None:
    asked = asyncio.Event()
    rig = hedging_rig(once(asked, answered("alpha", "tide tables")), telling(asked, after(60)))
    result = await rig.run()
    assert result.chosen is not None
    assert result.answers[result.chosen].provider == "alpha"
    assert [(attempt.outcome, attempt.hedged) for attempt in result.attempts] == [("ok", False), ("timeout", True)]


@pytest.mark.parametrize(("price", "share"), [(None, 1.0), (1_000, 0.0)])
async def test_a_hedge_nobody_can_afford_is_not_made(price: int | None, share: float) -> None:
    rig = hedging_rig(after(0.03, name="alpha"), after(0, name="beta"), price=price, share=share)
    assert receipt(await rig.run()) == [("alpha", "ok")]


async def test_those_between_the_two_stand_in_the_receipt() -> None:
    rig = hedging_rig(after(60), after(0, name="beta"))
    rig.directory.providers["beta"]._unfit = "no such filter"
    result = await rig.run()
    assert [(attempt.provider, attempt.outcome) for attempt in result.attempts] == [
        ("alpha", "timeout"),
        ("beta", "skipped"),
        ("gamma", "ok"),
    ]


async def test_a_loser_of_unknown_price_is_booked_as_unknown() -> None:
    rig = hedging_rig(after(60), after(0, name="beta"))
    rig.directory.providers["alpha"].price = None
    result = await rig.run()
    assert (result.attempts[0].cost_micro_usd, result.attempts[0].cost_source) == (None, "unknown")


async def test_a_hedge_that_was_not_yet_asked_costs_nothing() -> None:
    hedge_is_to_begin = asyncio.Event()
    rig = hedging_rig(once(hedge_is_to_begin, answered("alpha", "tide tables")), after(0, name="beta"))

    async def began(marks: Sequence[AttemptMark]) -> None:
        if marks[-1].hedged:
            hedge_is_to_begin.set()
            await asyncio.sleep(60)  # the mark is still on its way to the log

    result = await rig.chain.run(rig.plan(), (), began)
    assert receipt(result) == [("alpha", "ok"), ("beta", "skipped")]
    assert (result.attempts[1].cost_micro_usd, rig.directory.providers["beta"].calls) == (0, [])
