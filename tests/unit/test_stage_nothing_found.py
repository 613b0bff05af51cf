"""A genuine "nothing found" may be remembered for a moment, an outage never."""

from typing import Any

import pytest

from groundwire.adapters.call import Cost
from groundwire.schemas.reply import AttemptOutcome, Result
from groundwire.schemas.settings import Settings
from tests.unit.stage_fakes import (
    KEEP_NOTHING,
    FakeProvider,
    ManualClock,
    Road,
    always,
    failed,
    one_after_the_other,
    reply_of,
    request_event_of,
    writes_of,
)

EMPTY = failed("empty", "no results", status=200, cost=Cost(500, "price_list"), body='{"rows": []}')
QUESTION = {"query": "the unsung songs of nobody"}


def road(*providers: FakeProvider, ttl_s: int = 60, **settings: Any) -> Road:
    named = [provider.name for provider in providers]
    chosen = Settings.model_validate(
        {"routes": {"default": named}, "cache": {"negative_ttl_s": ttl_s}, "breaker": {"enabled": False}, **settings}
    )
    return Road(*providers, settings=chosen, clock=ManualClock())


def nobody(*names: str) -> list[FakeProvider]:
    return [FakeProvider(name, script=always(EMPTY)) for name in names]


async def test_when_everybody_found_nothing_nobody_is_asked_again_for_a_moment() -> None:
    vendors = nobody("alpha", "beta")
    asked = road(*vendors)
    first = reply_of(await asked.ask(QUESTION))
    asked.clock.move(59)
    outputs = await asked.ask(QUESTION)
    again = reply_of(outputs)
    assert (first.status, first.cost_micro_usd) == ("ungrounded", 1_000)
    assert again.cache is not None
    assert (again.status, again.cache.outcome, again.cache.age_s) == ("ungrounded", "exact", 59.0)
    assert (again.context, again.results, again.provider, again.attempts) == ("", [], None, [])
    assert (again.cost_micro_usd, again.saved_micro_usd) == (0, 1_000)
    assert "nobody found anything" in again.warnings[0]
    assert request_event_of(outputs).cache_outcome == "exact"
    asked.clock.move(1)
    assert reply_of(await asked.ask(QUESTION)).attempts
    assert [len(vendor.calls) for vendor in vendors] == [2, 2]


async def test_by_default_it_is_not_remembered() -> None:
    assert Settings().cache.negative_ttl_s == 0
    assert writes_of(await road(*nobody("alpha"), ttl_s=0).ask(QUESTION)) == []


OUTAGES: list[AttemptOutcome] = [
    "timeout", "transport", "rate_limited", "quota", "auth", "server_error", "bad_answer", "rejected"
]  # fmt: skip


@pytest.mark.parametrize("outcome", OUTAGES)
@pytest.mark.parametrize("place", [0, 1])
async def test_a_failure_beside_it_is_never_remembered(outcome: AttemptOutcome, place: int) -> None:
    vendors = nobody("alpha", "beta")
    vendors[place] = FakeProvider(vendors[place].name, script=always(failed(outcome)))
    assert writes_of(await road(*vendors).ask(QUESTION)) == []


async def test_a_retry_that_failed_first_is_a_failure() -> None:
    flaky = FakeProvider("alpha", script=one_after_the_other("alpha", failed("server_error"), EMPTY))
    outputs = await road(flaky, retry={"max_per_provider": 1, "backoff_s": 0.001}).ask(QUESTION)
    assert [attempt.outcome for attempt in reply_of(outputs).attempts] == ["server_error", "empty"]
    assert writes_of(outputs) == []


async def test_a_provider_passed_over_for_its_budget_might_have_found_something() -> None:
    vendors = nobody("alpha", "beta")
    asked = road(*vendors, providers={"beta": {"budget_per_day_micro_usd": 1}})
    outputs = await asked.ask(QUESTION)
    assert [attempt.outcome for attempt in reply_of(outputs).attempts] == ["empty", "skipped"]
    assert writes_of(outputs) == []


async def test_a_provider_that_has_no_key_here_is_not_waited_for() -> None:
    vendors = [*nobody("alpha"), FakeProvider("beta", missing="no key")]
    assert len(writes_of(await road(*vendors).ask(QUESTION))) == 1


async def test_a_vendor_whose_answers_may_not_be_kept_leaves_nothing_behind() -> None:
    vendors = [*nobody("alpha"), FakeProvider("beta", script=always(EMPTY), storage=KEEP_NOTHING)]
    assert writes_of(await road(*vendors).ask(QUESTION)) == []


async def test_an_answer_that_could_not_be_read_is_no_empty_answer() -> None:
    broken = failed("empty", status=200, body="not the documented shape")
    assert (
        writes_of(await road(FakeProvider("alpha", script=always(broken)), fetch={"on_empty": "accept"}).ask(QUESTION))
        == []
    )


async def test_an_empty_answer_taken_for_an_answer_is_remembered_too() -> None:
    outputs = await road(*nobody("alpha", "beta"), fetch={"on_empty": "accept"}).ask(QUESTION)
    assert reply_of(outputs).status == "ungrounded"
    # beta was not asked: it might have found something.
    assert writes_of(outputs) == []
    (write,) = writes_of(await road(*nobody("alpha"), fetch={"on_empty": "accept"}).ask(QUESTION))
    assert write.entry is not None and write.entry.results == []


@pytest.mark.parametrize("mode", ["bypass", "refresh"])
async def test_who_does_not_read_the_cache_is_not_told_of_it(mode: str) -> None:
    vendor = nobody("alpha")[0]
    asked = road(vendor)
    await asked.ask(QUESTION)
    assert reply_of(await asked.ask({**QUESTION, "cache": mode})).attempts
    assert len(vendor.calls) == 2


async def test_bypass_leaves_nothing_behind() -> None:
    assert writes_of(await road(*nobody("alpha")).ask({**QUESTION, "cache": "bypass"})) == []


async def test_another_chain_is_asked_all_the_same() -> None:
    silent, talking = nobody("alpha")[0], FakeProvider("beta")
    asked = road(silent, talking)
    await asked.ask({**QUESTION, "providers": ["alpha"]})
    assert reply_of(await asked.ask({**QUESTION, "providers": ["alpha", "beta"]})).provider == "beta"


async def test_a_real_answer_in_the_cache_comes_first() -> None:
    asked = road(*nobody("alpha"))
    await asked.ask(QUESTION)
    plan_step = next(iter(asked.cache.entries.values()))
    found = plan_step.model_copy(update={"cache_key": asked.cache.asked[0], "results": [_result()]})
    asked.cache.entries[found.cache_key] = found
    assert reply_of(await asked.ask(QUESTION)).status == "grounded"


async def test_a_cache_that_breaks_in_between_is_a_miss() -> None:
    asked = road(*nobody("alpha"))
    asked.cache.broken = True
    assert "could not be read" in reply_of(await asked.ask(QUESTION)).warnings[0]


def _result() -> Any:
    return Result(index=1, title="T", url="https://e.example/1", body="B", provider="alpha")
