"""The report: everything `groundwire report` says, from one reading of the lake. Contract §5."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from pydantic import BaseModel, Field

from groundwire.lake.events.scan import TableReader
from groundwire.lake.events.tables import TABLES, TableName
from groundwire.lake.events.window import Moment, Window
from groundwire.lake.reports.cost import Failure, Ledger, ProviderFigures, failures, ledger, providers_figures
from groundwire.lake.reports.figures import FIGURES_CONFIG, Distribution, counts
from groundwire.lake.reports.hits import HITS, HitRates, SemanticHits, cache_counts, hit_rates, semantic_hits
from groundwire.lake.reports.latency import LatencyFigures, latency_figures
from groundwire.lake.reports.savings import Savings, baseline_named, savings
from groundwire.lake.reports.timeline import Timeline, timeline
from groundwire.lake.reports.verbosity import VerbosityFigures, verbosity_figures
from groundwire.schemas.settings import Settings


class TenantFigures(BaseModel):
    model_config = FIGURES_CONFIG

    requests: int
    hits: int
    cost_micro_usd: int
    saved_micro_usd: int


class LeftOutFile(BaseModel):
    """A file whose rows are in none of the figures."""

    model_config = FIGURES_CONFIG

    file: str
    reason: str


class Report(BaseModel):
    """What one lake says about one stretch of time. Money is micro-USD, durations milliseconds, times ISO in UTC."""

    model_config = FIGURES_CONFIG

    lake: str
    since: str | None
    until: str | None
    first_request_at: str | None
    last_request_at: str | None
    made_at: str
    requests: int
    status: dict[str, int]
    errors: dict[str, int] = Field(description="Error replies by kind.")
    cache: dict[str, int]
    hit_rates: HitRates
    freshness: dict[str, int]
    cost_micro_usd: int = Field(description="The ledger: the sum over all attempts whose cost is known.")
    ledger: Ledger
    saved_micro_usd: int = Field(description="What cached answers would have cost at their providers.")
    latency_ms: Distribution | None
    latency: LatencyFigures
    providers: dict[str, ProviderFigures]
    failures: list[Failure]
    tenants: dict[str, TenantFigures]
    verbosity: VerbosityFigures
    semantic_hits: SemanticHits
    timeline: Timeline
    savings: Savings
    left_out: list[LeftOutFile]


def build_report(
    settings: Settings,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    baseline: str | None = None,
    now: datetime | None = None,
) -> Report:
    """Read the lake of these settings and sum it up. An empty lake gives a report of zeros.

    `since` and `until` as `scan` takes them. `baseline` None means `report.baseline`. Raises UnknownBaselineError for a
    baseline there is none of, and ValueError for a time that is none.
    """
    against = baseline_named(baseline or settings.report.baseline)
    now = now or datetime.now(UTC)
    window = Window.of(since, until, now=now)
    requests, missing_requests = _read(settings.lake_path, "requests", window)
    attempts, missing_attempts = _read(settings.lake_path, "attempts", window)
    money = ledger(attempts, requests)
    providers = providers_figures(attempts)
    status = {"grounded": 0, "ungrounded": 0, "error": 0} | counts(requests["status"])
    rates = hit_rates(requests)
    saved = int(requests["saved_micro_usd"].sum())
    cache = cache_counts(requests)
    first, last = requests["requested_at"].min(), requests["requested_at"].max()
    return Report(
        lake=str(settings.lake_path),
        since=_iso(window.since),
        until=_iso(window.until),
        first_request_at=_iso(first),
        last_request_at=_iso(last),
        made_at=now.isoformat(timespec="seconds"),
        requests=requests.height,
        status=status,
        errors=counts(requests["error_kind"]),
        cache=cache,
        hit_rates=rates,
        freshness=counts(requests["freshness"]),
        cost_micro_usd=money.micro_usd,
        ledger=money,
        saved_micro_usd=saved,
        latency_ms=Distribution.of(requests["total_ms"]),
        latency=latency_figures(requests),
        providers=providers,
        failures=failures(attempts),
        tenants=_tenants(requests),
        verbosity=verbosity_figures(requests),
        semantic_hits=semantic_hits(requests.filter(pl.col("cache_outcome") == "semantic")),
        timeline=timeline(requests),
        savings=savings(
            against,
            search_share=settings.report.search_share,
            requests=requests.height - status["error"],
            errors=status["error"],
            spent_micro_usd=money.micro_usd,
            unknown_cost=money.unknown_cost,
            cache_micro_usd=saved,
            cached=sum(cache[kind] for kind in (*HITS, "coalesced")),
            repeated=rates.repeated,
            token_billers=sorted(name for name, figures in providers.items() if figures.bills_tokens),
        ),
        left_out=[
            LeftOutFile(file=file, reason=reason)
            for file, reason in sorted({**missing_requests, **missing_attempts}.items())
        ],
    )


def _read(lake: Path, name: TableName, window: Window) -> tuple[pl.DataFrame, dict[str, str]]:
    """The columns the figures need, the long texts only where a figure shows them, and the files that were left out."""
    reader = TableReader(lake, TABLES[name], window)
    frame = reader.scan().select(_REQUEST_COLUMNS if name == "requests" else _ATTEMPT_COLUMNS).collect()
    return frame, reader.left_out


_SEMANTIC = pl.col("cache_outcome") == "semantic"
_REQUEST_COLUMNS = [
    pl.col("tenant", "freshness", "status", "provider", "cache_outcome", "error_kind"),
    pl.col("cost_micro_usd", "saved_micro_usd", "results", "context_tokens"),
    pl.col("total_ms", "queue_ms", "normalize_ms", "lookup_ms", "fetch_ms", "unify_ms"),
    pl.col("similarity", "probability", "requested_at"),
    pl.when(_SEMANTIC).then(pl.col("query")).alias("query"),
    pl.when(_SEMANTIC).then(pl.col("matched_query")).alias("matched_query"),
    pl.when(pl.col("normalized_query").is_not_null()).then(pl.col("normalized_query").hash()).alias("question"),
]
_ATTEMPT_COLUMNS = [
    pl.col("provider", "outcome", "reason", "status_code", "cost_source"),
    pl.col("latency_ms", "cost_micro_usd", "hedged", "results", "tenant"),
    # The parts of a sum are named in the detail: `input_tokens`, `output_tokens` where a model's own reading is billed.
    pl.col("cost_detail").str.contains("_tokens", literal=True).fill_null(value=False).alias("bills_tokens"),
]


def _tenants(requests: pl.DataFrame) -> dict[str, TenantFigures]:
    """By tenant, the dearest first."""
    table = (
        requests.group_by("tenant")
        .agg(
            pl.len().alias("requests"),
            pl.col("cache_outcome").is_in(list(HITS)).sum().alias("hits"),
            pl.col("cost_micro_usd").sum(),
            pl.col("saved_micro_usd").sum(),
        )
        .sort(["cost_micro_usd", "requests", "tenant"], descending=[True, True, False])
    )
    return {str(row.pop("tenant")): TenantFigures(**row) for row in table.iter_rows(named=True)}


def _iso(moment: object) -> str | None:
    return moment.isoformat(timespec="milliseconds") if isinstance(moment, datetime) else None
