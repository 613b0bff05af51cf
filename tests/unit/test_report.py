"""The report: what the lake says, summed up so that nothing unknown counts as zero and nothing is divided by it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from groundwire.lake.reports.figures import Distribution
from groundwire.lake.reports.html import render
from groundwire.lake.reports.report import Report, build_report
from groundwire.lake.reports.savings import UnknownBaselineError
from groundwire.schemas.event import REFRESH_TENANT, AttemptEvent, RequestEvent
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli.main import app
from tests.unit.lake_events import (
    DAY_MS,
    MORNING_MS,
    attempt_event,
    error_event,
    hit_event,
    land,
    parquet_files,
    records,
    request_event,
)


def report_of(lake: Path, events: Sequence[RequestEvent | AttemptEvent], **asked: object) -> Report:
    if events:
        land(lake, records(events))
    share = asked.pop("search_share", 1.0)
    settings = Settings.model_validate({"lake": {"path": lake}, "report": {"search_share": share}})
    return build_report(settings, **asked)  # type: ignore[arg-type]


MIXED: list[RequestEvent | AttemptEvent] = [
    request_event(1, total_ms=300.0, provider="serper", tenant="a", context_tokens=100),
    request_event(
        2, total_ms=500.0, provider="tavily", tenant="b", cost_micro_usd=8000, context_tokens=300, attempts=2
    ),
    hit_event(3, total_ms=4.0, tenant="a", normalized_query="how high is mountain 1"),
    hit_event(4, total_ms=6.0, tenant="a", normalized_query="how high is mountain 1", freshness="static"),
    hit_event(
        5,
        cache_outcome="semantic",
        matched_query="height of 2",
        similarity=0.97,
        probability=0.99,
        saved_micro_usd=8000,
    ),
    hit_event(6, cache_outcome="coalesced", saved_micro_usd=1000, total_ms=200.0),
    hit_event(7, cache_outcome="stale", saved_micro_usd=1000),
    request_event(
        8, status="ungrounded", cost_micro_usd=0, provider=None, results=0, context_tokens=0, total_ms=9000.0
    ),
    error_event(9, "too_large"),
    error_event(10),
    attempt_event(1, latency_ms=290.0),
    attempt_event(2, outcome="rate_limited", status_code=429, reason="too many requests", cost_micro_usd=0, results=0),
    attempt_event(3, provider="tavily", cost_micro_usd=8000, latency_ms=400.0, hedged=True, results=4),
    attempt_event(4, provider="tavily", outcome="empty", cost_micro_usd=8000, results=0),
    attempt_event(5, provider="exa", outcome="lost", cost_micro_usd=None, cost_source="unknown", latency_ms=None),
    attempt_event(6, provider="jina", cost_micro_usd=None, cost_source="unknown"),
    attempt_event(7, provider="brave", outcome="skipped", reason="no key", cost_micro_usd=None, cost_source="unknown"),
]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(tmp_path_factory.mktemp("lake"), MIXED)


def test_requests_are_counted_by_status_cache_freshness_and_error(mixed: Report) -> None:
    assert mixed.requests == 10
    assert mixed.status == {"grounded": 7, "ungrounded": 1, "error": 2}
    assert mixed.cache == {"exact": 2, "semantic": 1, "coalesced": 1, "stale": 1, "miss": 3, "bypass": 0}
    assert mixed.freshness == {"slow": 9, "static": 1}
    assert mixed.errors == {"invalid_request": 1, "too_large": 1}


def test_hit_rates_are_shares_of_the_requests_that_were_looked_up(mixed: Report) -> None:
    rates = mixed.hit_rates
    assert (rates.of, rates.hit, rates.exact, rates.semantic) == (8, 0.5, 0.25, 0.125)
    assert (rates.stale, rates.coalesced, rates.miss, rates.bypass) == (0.125, 0.125, 0.375, 0.0)


def test_questions_asked_before_are_counted_for_they_are_what_hits_live_on(mixed: Report) -> None:
    assert mixed.hit_rates.repeated == 2


def test_the_cost_is_the_ledger_of_all_attempts_the_failed_ones_too(mixed: Report) -> None:
    assert mixed.cost_micro_usd == mixed.ledger.micro_usd == 1000 + 0 + 8000 + 8000
    assert mixed.ledger.receipts_micro_usd == 1000 + 8000


def test_unknown_costs_are_counted_and_named_never_zero_and_a_skip_is_no_call(mixed: Report) -> None:
    assert (mixed.ledger.calls, mixed.ledger.unknown_cost, mixed.ledger.lost) == (6, 2, 1)
    assert (mixed.providers["jina"].cost_micro_usd, mixed.providers["jina"].unknown_cost) == (0, 1)
    assert (mixed.providers["exa"].lost, mixed.providers["exa"].unknown_cost) == (1, 1)
    brave = mixed.providers["brave"]
    assert (brave.attempts, brave.calls, brave.skipped, brave.unknown_cost) == (1, 0, 1, 0)
    assert "at least $0.017" in mixed.savings.sum
    assert "2 calls of unknown cost are not in what was spent." in mixed.savings.notes


def test_each_provider_has_its_outcomes_cost_and_latency(mixed: Report) -> None:
    assert list(mixed.providers) == ["tavily", "serper", "exa", "jina", "brave"]
    serper, tavily = mixed.providers["serper"], mixed.providers["tavily"]
    assert (serper.attempts, serper.ok, serper.failed, serper.cost_micro_usd) == (2, 1, 1, 1000)
    assert serper.outcomes == {"ok": 1, "rate_limited": 1}
    assert (tavily.ok, tavily.failed, tavily.hedged, tavily.cost_micro_usd) == (1, 0, 1, 16_000)
    assert tavily.results_mean == 2.0
    assert tavily.latency_ms is not None
    assert tavily.latency_ms.n == 2
    assert mixed.providers["exa"].latency_ms is None
    assert mixed.providers["exa"].results_mean is None


def test_failures_are_told_by_reason(mixed: Report) -> None:
    told = [(found.provider, found.outcome, found.status_code, found.reason) for found in mixed.failures]
    assert ("serper", "rate_limited", 429, "too many requests") in told
    assert ("brave", "skipped", 200, "no key") in told
    assert not any(outcome in ("ok", "empty") for _, outcome, _, _ in told)


def test_latency_is_told_by_outcome_and_stage(mixed: Report) -> None:
    exact = mixed.latency.by_cache["exact"]
    assert (exact.n, exact.mean, exact.p50, exact.max) == (2, 5.0, 5.0, 6.0)
    assert mixed.latency.by_stage["fetch"].n == 3
    assert mixed.latency.by_stage["queue"].n == 10
    assert mixed.latency_ms is not None
    assert mixed.latency_ms.n == 10
    assert sum(mixed.latency.histogram.by_cache["miss"]) == 3


def test_the_histogram_counts_what_lies_outside_its_edges_at_its_ends(tmp_path: Path) -> None:
    totals = (0.0, 0.05, 1.0, 99_999.0, 10.0**7)
    found = report_of(tmp_path, [request_event(number, total_ms=total) for number, total in enumerate(totals)])
    bins = found.latency.histogram.by_cache["miss"]
    edges = found.latency.histogram.edges_ms
    assert len(bins) == len(edges) - 1
    assert (bins[0], bins[edges.index(1.0)], bins[-1], sum(bins)) == (2, 1, 2, 5)


def test_percentiles_are_interpolated(tmp_path: Path) -> None:
    found = report_of(tmp_path, [request_event(number, total_ms=float(number)) for number in range(1, 101)])
    assert found.latency_ms is not None
    assert (found.latency_ms.p50, found.latency_ms.p95, found.latency_ms.p99) == (50.5, 95.05, 99.01)
    assert found.latency_ms.mean == 50.5


def test_tenants_have_their_own_lines_the_dearest_first(mixed: Report) -> None:
    assert list(mixed.tenants) == ["b", "a", "default"]
    assert mixed.tenants["a"].model_dump() == {
        "requests": 3,
        "hits": 2,
        "cost_micro_usd": 1000,
        "saved_micro_usd": 2000,
    }


def test_verbosity_is_told_of_the_grounded_replies(mixed: Report) -> None:
    assert mixed.verbosity.by_provider["tavily"].mean == 300.0
    assert mixed.verbosity.context_tokens is not None
    assert mixed.verbosity.context_tokens.n == 7
    assert mixed.verbosity.context_tokens_total == 100 + 300 + 5 * 400


def test_semantic_hits_are_listed_for_the_eye(mixed: Report) -> None:
    assert mixed.semantic_hits.n == 1
    assert mixed.semantic_hits.lowest_similarity == 0.97
    [hit] = mixed.semantic_hits.listed
    assert (hit.query, hit.matched_query, hit.similarity) == ("How high is mountain 5?", "height of 2", 0.97)
    assert hit.at == "2026-12-05T10:00:05.000+00:00"


def test_of_many_semantic_hits_the_newest_are_listed_and_all_counted(tmp_path: Path) -> None:
    events = [hit_event(number, cache_outcome="semantic", similarity=0.96) for number in range(250)]
    found = report_of(tmp_path, events).semantic_hits
    assert (found.n, len(found.listed), found.listed[0].query) == (250, 200, "How high is mountain 249?")


def test_the_cache_alone_has_its_own_sum(mixed: Report) -> None:
    assert mixed.saved_micro_usd == mixed.savings.cache_micro_usd == 1000 + 1000 + 8000 + 1000 + 1000
    assert "5 requests answered without a vendor call" in mixed.savings.cache_sum
    assert "$0.012" in mixed.savings.cache_sum


def test_error_replies_are_not_counted_as_searches_saved(mixed: Report) -> None:
    assert mixed.savings.requests == 8
    assert mixed.savings.baseline_micro_usd == 80_000
    assert "2 error replies not counted: nobody would have searched for them." in mixed.savings.notes


def test_time_is_cut_into_steps_that_add_up(mixed: Report) -> None:
    assert mixed.timeline.step_s == 1
    assert sum(step.requests for step in mixed.timeline.steps) == 10
    assert sum(step.exact for step in mixed.timeline.steps) == 2
    assert mixed.timeline.steps[0].start == "2026-12-05T10:00:01+00:00"
    assert mixed.timeline.steps[-1].hit_rate is None


@pytest.mark.parametrize(("span_s", "step_s"), [(60, 1), (3600, 60), (86_400, 3600), (30 * 86_400, 43_200 * 2)])
def test_a_longer_window_has_longer_steps(tmp_path: Path, span_s: int, step_s: int) -> None:
    events = [request_event(1, at_ms=MORNING_MS), request_event(2, at_ms=MORNING_MS + 1000 * span_s)]
    found = report_of(tmp_path, events).timeline
    assert found.step_s == step_s
    assert [step.requests for step in found.steps] == [1, 1]


@pytest.mark.parametrize("made", [False, True])
def test_an_empty_lake_gives_a_report_of_zeros(tmp_path: Path, made: bool) -> None:
    if made:
        (tmp_path / "requests" / "date=2026-12-05").mkdir(parents=True)
    found = report_of(tmp_path if made else tmp_path / "nowhere", [])
    assert (found.requests, found.cost_micro_usd, found.saved_micro_usd) == (0, 0, 0)
    assert found.latency_ms is None
    assert found.hit_rates.hit is None
    assert found.savings.share is None
    assert "0 requests × 100 % that search × $10.00/1,000 = $0.00" in found.savings.sum
    assert set(found.status.values()) == set(found.cache.values()) == {0}
    json.loads(found.model_dump_json())


def test_a_lake_of_errors_only_divides_by_nothing(tmp_path: Path) -> None:
    found = report_of(tmp_path, [error_event(1)])
    assert (found.requests, found.hit_rates.of, found.hit_rates.hit, found.savings.share) == (1, 0, None, None)


def test_the_json_has_the_contracts_keys(mixed: Report) -> None:
    document = json.loads(mixed.model_dump_json())
    for key in ("requests", "cache", "status", "cost_micro_usd", "latency_ms", "providers", "savings", "left_out"):
        assert key in document
    assert {"mean", "p50", "p95", "p99"} <= set(document["latency_ms"])
    assert {"attempts", "ok", "cost_micro_usd"} <= set(document["providers"]["serper"])
    assert {"baseline", "micro_usd", "sum"} <= set(document["savings"])


def test_files_that_cannot_be_read_are_named_and_the_rest_counts(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1), attempt_event(1)]))
    bad = [parquet_files(tmp_path)[0], parquet_files(tmp_path, "attempts")[0]]
    for file in bad:
        file.write_bytes(b"PAR1")
    land(tmp_path, records([request_event(2), attempt_event(2)], first=2))
    found = report_of(tmp_path, [])
    assert (found.requests, found.ledger.calls, found.cost_micro_usd) == (1, 1, 1000)
    assert sorted(left.file for left in found.left_out) == sorted(str(file.relative_to(tmp_path)) for file in bad)


def test_a_window_bounds_requests_and_attempts(tmp_path: Path) -> None:
    events = [
        event
        for day in range(4)
        for event in (
            request_event(day, at_ms=MORNING_MS + day * DAY_MS),
            attempt_event(day, at_ms=MORNING_MS + day * DAY_MS),
        )
    ]
    found = report_of(tmp_path, events, since="2026-12-06", until="2026-12-07")
    assert (found.requests, found.ledger.calls) == (2, 2)
    assert (found.since, found.until) == ("2026-12-06T00:00:00.000+00:00", "2026-12-08T00:00:00.000+00:00")
    now = datetime(2026, 12, 8, 12, tzinfo=UTC)
    assert report_of(tmp_path, [], since="24h", now=now).requests == 1


def test_a_baseline_that_is_none_is_said_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownBaselineError, match=r"`built-in-35`.*`built-in-14`.*`built-in-10`"):
        report_of(tmp_path, [], baseline="built-in-99")


def test_the_settings_baseline_and_share_hold_unless_another_is_named(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(number) for number in range(4)]))
    assert report_of(tmp_path, [], search_share=0.5).savings.baseline_micro_usd == 20_000
    assert report_of(tmp_path, [], baseline="built-in-35").savings.baseline_micro_usd == 140_000


def test_query_texts_left_out_of_the_lake_are_left_out_of_the_report(tmp_path: Path) -> None:
    land(tmp_path, records([hit_event(1, cache_outcome="semantic", similarity=0.99)]), query_text="none")
    found = report_of(tmp_path, [])
    assert found.semantic_hits.listed[0].query is None
    assert found.hit_rates.repeated == 0


def test_measurements_that_are_no_numbers_spoil_no_mean() -> None:
    stated = Distribution.of(pl.Series([float("nan"), float("inf"), None, 100.0, 300.0]))
    assert stated is not None
    assert (stated.n, stated.mean, stated.p50, stated.max) == (2, 200.0, 200.0, 300.0)
    assert Distribution.of(pl.Series([float("nan"), None], dtype=pl.Float64)) is None


def test_who_bills_the_tokens_of_its_own_model_is_seen_in_what_it_billed(tmp_path: Path) -> None:
    detail = '{"searches":{"units":1,"micro_usd":10000},"input_tokens":{"units":900,"micro_usd":900}}'
    found = report_of(
        tmp_path,
        [
            attempt_event(1, provider="alpha", cost_micro_usd=10_900, cost_detail=detail),
            attempt_event(2, provider="alpha", cost_micro_usd=10_000, cost_detail=None),
            attempt_event(3, provider="beta", cost_micro_usd=500, cost_detail='{"searches":{"units":1}}'),
        ],
    )
    assert {name: figures.bills_tokens for name, figures in found.providers.items()} == {"alpha": True, "beta": False}
    assert "What alpha cost includes the tokens of the vendor's own model." in found.savings.notes


def test_what_refreshes_ahead_cost_is_named(tmp_path: Path) -> None:
    """They are in the ledger and in nobody's receipt: unnamed, the two would not seem to fit."""
    events = [
        request_event(1),
        attempt_event(1),
        attempt_event(2, tenant=REFRESH_TENANT, cost_micro_usd=5_000),
        attempt_event(3, tenant=REFRESH_TENANT, outcome="skipped", cost_micro_usd=0),
    ]
    found = report_of(tmp_path / "lake", events)
    assert (found.ledger.refreshes, found.ledger.refreshes_micro_usd) == (1, 5_000)
    assert found.ledger.micro_usd == found.ledger.receipts_micro_usd + found.ledger.refreshes_micro_usd
    assert "1 refresh ahead for $0.005" in render(found)
    printed = CliRunner().invoke(app, ["--home", str(tmp_path), "report"], env={"NO_COLOR": "1"})
    assert (
        "of it $0.0050 in 1 call to refresh cached answers ahead of their end (tenant groundwire-refresh)"
        in printed.output
    ), printed.output
    without = report_of(tmp_path / "other", [request_event(1), attempt_event(1)])
    assert without.ledger.refreshes == 0 and "refresh ahead" not in render(without)
