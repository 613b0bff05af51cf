"""The warm-cache experiment stands beside the paper's figures and says what it is."""

from typing import Any

import pytest

from groundwire.lake.reports.experiment import PassFigures, WarmCache, warm_cache

FIRST: dict[str, Any] = {
    "pass": 1,
    "requests": 500,
    "answered": 500,
    "status": {"grounded": 500},
    "cache": {"exact": 21, "semantic": 10, "coalesced": 0, "stale": 0, "miss": 469, "bypass": 0},
    "cost_micro_usd": 469_000,
    "saved_micro_usd": 31_000,
    "latency_ms": {"mean": 312.5, "p50": 300.0, "p95": 700.0, "p99": 900.0},
    "seconds": 12.0,
}
SECOND: dict[str, Any] = {
    "requests": 500,
    "answered": 500,
    "status": {"grounded": 499},
    "cache": {"exact": 500},
    "cost_micro_usd": 0,
    "latency_ms": {"mean": 6.25, "p50": 5.0, "p95": 9.0},
}


def experiment(*passes: Any, sandbox: bool = True) -> WarmCache:
    return warm_cache(passes, questions=500, source="simple_qa.csv", sandbox=sandbox)


def line(found: WarmCache, measure: str) -> tuple[str, str, str, str]:
    [one] = [line for line in found.lines if line.measure == measure]
    return one.first, one.second, one.change, one.paper


def test_the_table_sets_both_passes_beside_the_paper() -> None:
    found = experiment(FIRST, PassFigures.model_validate(SECOND))
    assert line(found, "cache hit rate") == ("6.2 %", "100 %", "", "6.2 % → 99.4 %")
    assert line(found, "mean latency") == ("312.5 ms", "6.2 ms", "−98 %", "−68 %")
    assert line(found, "p95 latency") == ("700.0 ms", "9.0 ms", "−98.7 %", "")
    assert line(found, "vendor cost") == ("$0.469", "$0.00", "−100 %", "")
    assert line(found, "grounded") == ("500 of 500", "499 of 500", "", "")


def test_the_figures_are_there_for_scripts() -> None:
    found = experiment(FIRST, SECOND)
    assert found.hit_rates == (0.062, 1.0)
    assert (found.mean_latency_ms, found.mean_latency_change) == ((312.5, 6.25), -0.98)
    assert found.cost_micro_usd == (469_000, 0)
    assert found.paper == {"source": "arXiv 2606.18947", "hit_rates": [0.062, 0.994], "mean_latency_change": -0.68}


@pytest.mark.parametrize(("sandbox", "said"), [(True, "the sandbox's local servers"), (False, "The vendors were real")])
def test_the_conditions_are_named(sandbox: bool, said: str) -> None:
    conditions = " ".join(experiment(FIRST, SECOND, sandbox=sandbox).conditions)
    assert "A replay of the same questions: pass 2 asks the 500 questions of simple_qa.csv again" in conditions
    assert "nothing about traffic that repeats less" in conditions
    assert said in conditions


def test_what_is_not_known_is_not_made_up() -> None:
    nothing = {"requests": 0, "answered": 0, "cache": {}, "cost_micro_usd": None}
    found = experiment(nothing, nothing)
    assert line(found, "cache hit rate")[:2] == ("–", "–")
    assert line(found, "mean latency") == ("–", "–", "", "−68 %")
    assert line(found, "vendor cost") == ("unknown", "unknown", "", "")


def test_growth_is_told_as_such_and_no_change_has_no_sign() -> None:
    slower = {**SECOND, "latency_ms": {"mean": 625.0, "p50": 300.0}}
    found = experiment(FIRST, slower)
    assert line(found, "mean latency")[2] == "+100 %"
    assert line(found, "p50 latency")[2] == "0 %"


@pytest.mark.parametrize("passes", [(FIRST,), (FIRST, SECOND, SECOND)])
def test_it_takes_two_passes(passes: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="two passes"):
        experiment(*passes)
