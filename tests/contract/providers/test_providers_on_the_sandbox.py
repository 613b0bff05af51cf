"""Every provider against the sandbox's server of its vendor: real requests on a real line, and the money to the micro-dollar."""

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from groundwire.adapters.call import CallOutcome, ProviderCall
from groundwire.adapters.registry import Registry
from groundwire.adapters.sandbox.environment import sandbox_environment
from groundwire.adapters.sandbox.faults import Fault
from groundwire.adapters.sandbox.server import Sandbox
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings

PREFIX, SUFFIX = "GROUNDWIRE_PROVIDERS__", "__BASE_URL"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(median_ms=0) as running:
        yield running


@pytest.fixture
async def registry(sandbox: Sandbox) -> AsyncIterator[Registry]:
    environ = sandbox_environment(sandbox.address)
    own = {
        name.removeprefix(PREFIX).removesuffix(SUFFIX).lower(): {"base_url": address}
        for name, address in environ.items()
        if name.endswith(SUFFIX)
    }
    registry = Registry.load(Settings.model_validate({"providers": own}), environ)
    assert registry.problems == []
    yield registry
    await registry.aclose()


def call(query: str = "how tall is the eiffel tower", depth: int = 5, **more: Any) -> ProviderCall:
    filters = {name: more.pop(name) for name in list(more) if name in Filters.model_fields}
    return ProviderCall(query, depth, more.get("language"), more.get("country"), "slow", Filters(**filters))


async def ask_all(registry: Registry, asked: ProviderCall) -> dict[str, CallOutcome]:
    return {name: await registry.get(name).call(asked, 10.0) for name in registry.names()}


def ledger(outcomes: list[dict[str, CallOutcome]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for round_ in outcomes:
        for name, outcome in round_.items():
            found[name] = found.get(name, 0) + (outcome.cost.micro_usd or 0)
    return found


def invoice(sandbox: Sandbox) -> dict[str, int]:
    return {name: line["micro_usd"] for name, line in sandbox.invoice.as_dict()["providers"].items()}  # type: ignore[attr-defined]


async def test_every_vendor_answers_and_the_ledger_is_the_invoice(sandbox: Sandbox, registry: Registry) -> None:
    rounds = [
        await ask_all(registry, call()),
        await ask_all(registry, call("서울에서 부산까지 거리", depth=12, language="ko", country="KR")),
        await ask_all(registry, call("python vs java", published_after="2025-01-01", exclude_domains=["x.example"])),
    ]
    assert {outcome.outcome for outcome in rounds[0].values()} == {"ok"}
    assert {outcome.outcome for outcome in rounds[1].values()} == {"ok"}
    for round_ in rounds:
        assert all(outcome.cost.micro_usd is not None for outcome in round_.values())
    assert {name: sum_ for name, sum_ in ledger(rounds).items() if sum_} == {
        name: sum_ for name, sum_ in invoice(sandbox).items() if sum_
    }


async def test_results_are_readable_from_the_body_that_was_kept(registry: Registry) -> None:
    asked = call(depth=3)
    for name, outcome in (await ask_all(registry, asked)).items():
        results = registry.get(name).results(outcome.body or "", asked, int(time.time() * 1000))
        assert len(results) == outcome.results > 0, name
        assert all(result.url.startswith("http") for result in results)
        assert any(result.body for result in results), name


FAULTS: dict[str, set[str]] = {
    "auth": {"auth"},
    "quota": {"quota", "rate_limited"},  # the two that have no account can only be asked too often
    "rate_limit": {"rate_limited"},
    "masked": {"server_error", "bad_answer"},
    "key_echo": {"auth"},
    "empty_results": {"empty"},
    "wrong_types": {"bad_answer"},
    "null_values": {"bad_answer"},
    "html": {"bad_answer"},
    "empty_body": {"bad_answer"},
    "truncated": {"bad_answer"},
    "redirect": {"bad_answer"},
    "huge": {"bad_answer"},
    "gzip": {"ok"},
    "reset": {"transport"},
    "close": {"transport"},
}


async def test_every_fault_is_seen_for_what_it_is_and_paid_for_what_it_costs(
    sandbox: Sandbox, registry: Registry
) -> None:
    rounds: list[dict[str, CallOutcome]] = []
    for kind, expected in FAULTS.items():
        sandbox.faults.clear()
        sandbox.faults.add(Fault.model_validate({"vendor": "*", "kind": kind}))
        outcomes = await ask_all(registry, call())
        assert {(kind, outcome.outcome) for outcome in outcomes.values()} <= {(kind, one) for one in expected}
        rounds.append(outcomes)
    assert {name: sum_ for name, sum_ in ledger(rounds).items() if sum_} == {
        name: sum_ for name, sum_ in invoice(sandbox).items() if sum_
    }


async def test_no_key_is_in_anything_that_comes_back(sandbox: Sandbox, registry: Registry) -> None:
    keys = [value for name, value in sandbox_environment(sandbox.address).items() if name.endswith("_KEY")]
    assert len(keys) >= 14
    for kind in ("key_echo", "auth"):
        sandbox.faults.clear()
        sandbox.faults.add(
            Fault.model_validate({"vendor": "*", "kind": kind, "status": 500 if kind == "auth" else None})
        )
        said = repr(await ask_all(registry, call()))
        assert [key for key in keys if key in said] == []


async def test_a_call_that_is_given_up_is_of_unknown_cost(sandbox: Sandbox, registry: Registry) -> None:
    sandbox.faults.add(Fault.model_validate({"vendor": "*", "kind": "hang"}))
    for name in ("serper", "brightdata", "openai"):
        outcome = await registry.get(name).call(call(), 0.1)
        assert (outcome.outcome, outcome.cost.micro_usd, outcome.cost.source) == ("timeout", None, "unknown")
    free = await registry.get("wikipedia").call(call(), 0.1)
    assert (free.outcome, free.cost.micro_usd) == ("timeout", 0)
