"""Budgets by day and month, of providers and tenants."""

import pytest

from groundwire.schemas.settings import ProviderSettings, TenantSettings
from groundwire.streams.flow.budget import Budgets
from tests.unit.stage_fakes import DAY_MS, NOON_MS


def budgets() -> Budgets:
    return Budgets(
        {
            "alpha": ProviderSettings(budget_per_day_micro_usd=1_000, budget_per_month_micro_usd=2_500),
            "beta": ProviderSettings(),
        },
        {"team": TenantSettings(budget_per_month_micro_usd=1_200)},
    )


def test_what_would_pass_a_budget_is_refused() -> None:
    some = budgets()
    some.book("a1", "alpha", "x", 600, NOON_MS)
    assert some.refusal("alpha", "x", 400, NOON_MS) is None
    assert some.refusal("alpha", "x", 401, NOON_MS) == (
        "budget of provider alpha for this day is spent (600 of 1000 micro-USD)"
    )


def test_a_new_day_has_a_new_budget_and_the_month_goes_on() -> None:
    some = budgets()
    for day in range(3):
        some.book(f"a{day}", "alpha", "x", 1_000, NOON_MS + day * DAY_MS)
    assert some.refusal("alpha", "x", 1, NOON_MS + 3 * DAY_MS) == (
        "budget of provider alpha for this month is spent (3000 of 2500 micro-USD)"
    )
    assert some.refusal("alpha", "x", 1, NOON_MS + 31 * DAY_MS) is None


def test_a_tenants_budget_counts_all_its_providers() -> None:
    some = budgets()
    some.book("a1", "alpha", "team", 700, NOON_MS)
    some.book("b1", "beta", "team", 500, NOON_MS)
    assert (
        some.refusal("beta", "team", 1, NOON_MS)
        == "budget of tenant team for this month is spent (1200 of 1200 micro-USD)"
    )
    assert some.refusal("beta", "other", 1, NOON_MS) is None


def test_an_unknown_price_passes_while_anything_is_left() -> None:
    some = budgets()
    assert some.refusal("alpha", "x", None, NOON_MS) is None
    some.book("a1", "alpha", "x", 1_000, NOON_MS)
    assert some.refusal("alpha", "x", None, NOON_MS) is not None


def test_an_attempt_is_booked_once() -> None:
    some = budgets()
    for _ in range(3):
        some.book("a1", "alpha", "x", 300, NOON_MS)
    some.book("a2", "alpha", "x", None, NOON_MS)
    assert some.spent("provider", "alpha", NOON_MS) == (300, 300)


def test_the_price_of_a_call_under_way_is_held() -> None:
    some = budgets()
    some.hold("alpha", "x", 800)
    assert some.refusal("alpha", "x", 300, NOON_MS) is not None
    some.hold("alpha", "x", -800)
    assert some.refusal("alpha", "x", 300, NOON_MS) is None


def test_the_ids_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire.streams.flow.budget.MOST_REMEMBERED", 10)
    some = budgets()
    for number in range(25):
        some.book(str(number), "beta", "x", 1, NOON_MS)
    assert len(some._booked) == 10
