"""Prices, keys and waits: the small parts that money hangs on."""

import math
from decimal import Decimal
from typing import Any

import pytest

from groundwire.adapters.call import UNKNOWN_COST, Cost
from groundwire.adapters.keys import QUOTA_REST_S, KeyRing
from groundwire.adapters.pricing import PriceList
from groundwire.adapters.spec import PriceSpec


def prices(own: int | None = None, options: dict[str, str] | None = None, **spec: Any) -> PriceList:
    return PriceList(PriceSpec.model_validate(spec), options or {}, own)


BLOCKS = {"rates": [{"usd_per_1000": "7", "block": 10}]}
EXTRA = {"rates": [{"usd_per_1000": "7", "included": 10, "extra_usd_per_1000": "1"}]}
STEPS = {"rates": [{"max_depth": 10, "usd_per_1000": "1"}, {"usd_per_1000": "2"}]}


@pytest.mark.parametrize(
    ("spec", "depth", "micro_usd"),
    [
        (BLOCKS, 1, 7000),
        (BLOCKS, 10, 7000),
        (BLOCKS, 11, 14000),
        (BLOCKS, 20, 14000),
        (EXTRA, 10, 7000),
        (EXTRA, 11, 8000),
        (EXTRA, 25, 22000),
        (STEPS, 10, 1000),
        (STEPS, 11, 2000),
        ({"rates": [{"usd_per_1000": "0.0005"}]}, 5, 1),
        ({"rates": [{"usd_per_1000": "0.0004"}]}, 5, 0),
        ({"rates": []}, 5, None),
    ],
)
def test_the_list_knows_blocks_extras_and_steps(spec: dict[str, Any], depth: int, micro_usd: int | None) -> None:
    assert prices(**spec).list_price(depth) == micro_usd


def test_a_price_may_hang_on_an_option() -> None:
    rates = [{"when": {"mode": "deep*"}, "usd_per_1000": "12"}, {"when": {"mode": "fast"}, "usd_per_1000": "1"}]
    assert prices(options={"mode": "deeper"}, rates=rates).list_price(5) == 12_000
    assert prices(options={"mode": "fast"}, rates=rates).list_price(5) == 1_000
    assert prices(options={"mode": "other"}, rates=rates).list_price(5) is None
    assert prices(options={"mode": "other"}, rates=rates).cost_of_answer(5, {}) == UNKNOWN_COST


def test_an_operators_own_price_scales_with_the_list() -> None:
    assert prices(own=500, **STEPS).list_price(5) == 500
    assert prices(own=500, **STEPS).list_price(20) == 1000
    assert prices(own=500, rates=[]).list_price(5) == 500
    assert prices(own=500, rates=[{"usd_per_1000": "0"}]).list_price(5) == 0


STATED = {"stated": {"path": ["c.total", "alt"], "unit_usd": "0.0035"}, "rates": [{"usd_per_1000": "7"}]}


@pytest.mark.parametrize(
    ("document", "cost"),
    [
        ({"c": {"total": 2}}, Cost(7000, "answer")),
        ({"c": {"total": 0}}, Cost(0, "answer")),
        ({"c": {"total": 1.5}}, Cost(5250, "answer")),
        ({"alt": 1}, Cost(3500, "answer")),
        ({"c": {"total": None}, "alt": 1}, Cost(3500, "answer")),
        ({}, Cost(7000, "price_list")),
        ({"c": {"total": "2"}}, Cost(7000, "price_list")),
        ({"c": {"total": -1}}, Cost(7000, "price_list")),
        ({"c": {"total": True}}, Cost(7000, "price_list")),
        ({"c": {"total": math.nan}}, Cost(7000, "price_list")),
        ({"c": {"total": math.inf}}, Cost(7000, "price_list")),
        ({"c": {"total": 1e30}}, Cost(7000, "price_list")),
        ({"c": {"total": 10**400}}, Cost(7000, "price_list")),
        ({"c": [2]}, Cost(7000, "price_list")),
        (None, Cost(7000, "price_list")),
        ([], Cost(7000, "price_list")),
    ],
)
def test_what_an_answer_states_is_believed_when_it_is_an_amount(document: Any, cost: Cost) -> None:
    assert prices(**STATED).cost_of_answer(5, document) == cost


def test_usd_that_an_answer_states_is_not_scaled_by_an_own_price() -> None:
    spec = {"stated": {"path": "usd", "unit_usd": "1"}, "rates": [{"usd_per_1000": "7"}]}
    assert prices(own=3500, **spec).cost_of_answer(5, {"usd": 0.007}) == Cost(7000, "answer")


METERS = {
    "model_option": "model",
    "models": {"big*": {"read": "3", "cached": "0.3"}, "small": {"read": "1"}},
    "meters": [
        {"name": "searches", "path": "s", "usd_per_1000": "10"},
        {"name": "read", "path": "r", "minus": "k", "token": "read", "required": True},
        {"name": "kept", "path": "k", "token": "cached"},
        {"name": "prompts", "path": "p", "usd_per_1000": "35", "when": {"model": "small"}},
    ],
}


@pytest.mark.parametrize(
    ("model", "document", "micro_usd", "detail"),
    [
        (
            "big-1",
            {"s": 2, "r": 1000, "k": 400},
            20_000 + 1_800 + 120,
            '{"searches":{"units":2,"micro_usd":20000},"read":{"units":600,"micro_usd":1800},"kept":{"units":400,"micro_usd":120}}',
        ),
        ("big-1", {"r": 0}, 0, None),
        ("big-1", {"s": None, "r": 10}, 30, '{"read":{"units":10,"micro_usd":30}}'),
        ("big-1", {"r": 5, "k": 50}, 15, '{"kept":{"units":50,"micro_usd":15}}'),
        ("big-1", {"s": 2}, None, None),
        ("big-1", {"s": 2, "r": "1000"}, None, None),
        (
            "small",
            {"r": 10, "p": 1},
            35_010,
            '{"read":{"units":10,"micro_usd":10},"prompts":{"units":1,"micro_usd":35000}}',
        ),
        ("small", {"r": 10, "k": 5}, None, None),  # a column without a price
        ("other", {"r": 10}, None, None),
        ("big-1", {"r": 10**13}, None, None),
    ],
)
def test_a_sum_of_meters_is_exact_or_unknown(
    model: str, document: Any, micro_usd: int | None, detail: str | None
) -> None:
    cost = prices(options={"model": model}, **METERS).cost_of_answer(5, document)
    assert cost == (UNKNOWN_COST if micro_usd is None else Cost(micro_usd, "answer", detail))


def test_failures_cost_what_the_file_says() -> None:
    free = prices(rates=[{"usd_per_1000": "2"}])
    assert free.cost_of_refusal(5, None) == Cost(0, "price_list")
    assert free.cost_of_masked(5, None) == UNKNOWN_COST
    assert free.cost_of_lost(5) == UNKNOWN_COST
    billed = prices(
        rates=[{"usd_per_1000": "2"}],
        options={"all": "yes"},
        masked="list",
        lost="free",
        refused_when=[{"when": {"all": "yes"}, "cost": "list"}],
    )
    assert billed.cost_of_refusal(5, None) == Cost(2000, "price_list")
    assert billed.cost_of_masked(5, None) == Cost(2000, "price_list")
    assert billed.cost_of_lost(5) == Cost(0, "price_list")
    assert prices(**STATED).cost_of_refusal(5, {"alt": 1}) == Cost(3500, "answer")


def test_prices_take_decimals_without_a_binary_fraction() -> None:
    assert PriceSpec.model_validate({"rates": [{"usd_per_1000": 0.1}]}).rates[0].usd_per_1000 == Decimal("0.1")


def test_keys_are_used_in_order_and_rest_when_they_are_used_up() -> None:
    now = [0.0]
    ring = KeyRing(["a", "b"], clock=lambda: now[0])
    assert (len(ring), ring.current(), ring.has_fresh(), ring.resting()) == (2, "a", True, 0)
    ring.rest("a")
    assert (ring.current(), ring.has_fresh(), ring.resting()) == ("b", True, 1)
    ring.rest("b", 5)
    assert (ring.current(), ring.has_fresh()) == ("b", False)  # the one that may be used again first
    now[0] = 6
    assert ring.current() == "b"
    now[0] = QUOTA_REST_S + 1
    assert ring.current() == "a"
    ring.rest("unknown")
    ring.rest(None)
    assert repr(ring) == "KeyRing(2 keys)"
    assert KeyRing([]).current() is None
