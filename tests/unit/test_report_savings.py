"""Savings are a sum anyone can check, against a baseline with a name, and say what they leave out."""

import pytest

from groundwire.lake.reports.savings import (
    BASELINES,
    Savings,
    UnknownBaselineError,
    baseline_named,
    count,
    percent,
    savings,
    usd,
)


def saved(name: str = "built-in-10", **changes: object) -> Savings:
    known: dict[str, object] = {
        "search_share": 1.0,
        "requests": 1000,
        "errors": 0,
        "spent_micro_usd": 930_000,
        "unknown_cost": 0,
        "cache_micro_usd": 70_000,
        "cached": 70,
        "repeated": 100,
        "token_billers": [],
    }
    return savings(baseline_named(name), **{**known, **changes})  # type: ignore[arg-type]


def test_the_sum_is_spelled_out() -> None:
    found = saved()
    assert found.sum == (
        "1,000 requests × 100 % that search × $10.00/1,000 = $10.00; spent $0.93; saved $9.07 (90.7 %) of vendor fees "
        "against built-in-10 (search built into a model at $10 per 1,000); this counts search fees only."
    )
    assert (found.baseline_micro_usd, found.micro_usd, found.share) == (10_000_000, 9_070_000, 0.907)


@pytest.mark.parametrize(("name", "price"), [("built-in-35", 35), ("built-in-14", 14), ("built-in-10", 10)])
def test_a_baseline_is_a_price_for_a_thousand(name: str, price: int) -> None:
    assert saved(name).baseline_micro_usd == price * 1_000_000
    assert f"${price}.00/1,000" in saved(name).sum
    assert str(price) in BASELINES[name].what


def test_only_the_share_that_searches_is_counted() -> None:
    found = saved(search_share=0.3, requests=7)
    assert found.baseline_micro_usd == 21_000
    assert "7 requests × 30 % that search" in found.sum


def test_half_a_micro_dollar_is_rounded_up() -> None:
    assert saved(search_share=0.00005, requests=1).baseline_micro_usd == 1


def test_spending_more_than_the_baseline_is_said_as_such() -> None:
    found = saved(spent_micro_usd=12_500_000)
    assert (found.micro_usd, found.share) == (-2_500_000, -0.25)
    assert "spent $2.50 more in vendor fees against built-in-10" in found.sum
    assert "saved" not in found.sum


def test_unknown_costs_make_the_spending_at_least_and_the_saving_at_most() -> None:
    found = saved(unknown_cost=12)
    assert "spent at least $0.93; saved at most $9.07" in found.sum
    assert "12 calls of unknown cost are not in what was spent." in found.notes


def test_nothing_asked_saves_nothing_and_divides_by_nothing() -> None:
    found = saved(requests=0, spent_micro_usd=0, cache_micro_usd=0, cached=0, repeated=0)
    assert (found.micro_usd, found.share) == (0, None)
    assert "%)" not in found.sum
    assert not any("ask again" in note for note in found.notes)


def test_the_notes_say_what_is_not_counted_and_what_a_replay_is_worth() -> None:
    notes = " ".join(saved(errors=1, token_billers=["anthropic", "openai"]).notes)
    assert "the tokens a model reads" in notes
    assert "a setting (report.search_share), not a measurement" in notes
    assert "100 of 1,000 requests ask again" in notes
    assert "1 error reply not counted" in notes
    assert "What anthropic, openai cost includes the tokens" in notes


def test_an_unknown_baseline_lists_the_names_and_what_they_are() -> None:
    with pytest.raises(UnknownBaselineError) as failure:
        baseline_named("cheapest" * 100)
    for name, baseline in BASELINES.items():
        assert f"`{name}`: {baseline.what}" in str(failure.value)
    assert len(str(failure.value)) < 800


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0.00"),
        (1, "$0.000001"),
        (3500, "$0.0035"),
        (930_000, "$0.93"),
        (9_070_000, "$9.07"),
        (1_234_567_890, "$1,234.56789"),
        (-1_200_000, "-$1.20"),
    ],
)
def test_money_is_shown_to_its_last_unit(amount: int, text: str) -> None:
    assert usd(amount) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [(1.0, "100 %"), (0.907, "90.7 %"), (0.9999, "> 99.9 %"), (0.0001, "< 0.1 %"), (0.0, "0 %"), (0.062, "6.2 %")],
)
def test_less_than_all_is_never_called_all_nor_something_nothing(part: float, text: str) -> None:
    assert percent(part) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [((1, "request"), "1 request"), ((2000, "request"), "2,000 requests"), ((2, "reply", "replies"), "2 replies")],
)
def test_counts_agree_with_their_nouns(arguments: tuple[int, str], text: str) -> None:
    assert count(*arguments) == text
