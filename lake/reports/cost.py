"""What the vendors were paid: the ledger of attempts, by provider, with what is unknown said and never taken for zero."""

import polars as pl
from pydantic import BaseModel, Field

from groundwire.lake.reports.figures import FIGURES_CONFIG, Distribution, counts, groups
from groundwire.schemas.event import REFRESH_TENANT

# A reason carries a vendor's own words; past this many lines a table of them tells nothing more.
MAX_FAILURES = 50


class ProviderFigures(BaseModel):
    """One provider. `attempts` = `calls` + `skipped`; a skipped provider was passed over, not called.

    `cost_micro_usd` is the sum of the known costs; `unknown_cost` calls are not in it.
    """

    model_config = FIGURES_CONFIG

    attempts: int
    calls: int
    ok: int
    failed: int
    skipped: int
    lost: int
    hedged: int
    outcomes: dict[str, int]
    cost_micro_usd: int
    cost_sources: dict[str, int]
    unknown_cost: int
    bills_tokens: bool = Field(description="Its cost includes tokens of the vendor's own model.")
    latency_ms: Distribution | None
    results_mean: float | None = Field(description="Results of a call that was answered.")


class Failure(BaseModel):
    """Attempts that failed, or were passed over, for one reason."""

    model_config = FIGURES_CONFIG

    provider: str
    outcome: str
    status_code: int | None
    reason: str | None
    attempts: int


class Ledger(BaseModel):
    """All attempts together. A vendor's invoice lies between `micro_usd` and that plus the lost attempts' cost."""

    model_config = FIGURES_CONFIG

    micro_usd: int
    calls: int
    unknown_cost: int = Field(description="Calls whose cost is not known, the lost ones among them.")
    lost: int
    receipts_micro_usd: int = Field(description="The same money by the replies' receipts, as far as known.")
    receipts_unknown: int
    refreshes: int = Field(description="Calls that refreshed cached answers ahead of their end; nobody's request.")
    refreshes_micro_usd: int = Field(description="What they cost; part of `micro_usd`, in no receipt.")


_COLUMNS = ("outcome", "hedged", "results", "cost_micro_usd", "cost_source", "bills_tokens", "latency_ms")


def providers_figures(attempts: pl.DataFrame) -> dict[str, ProviderFigures]:
    """By provider, the dearest first."""
    found = {name: _provider(rows) for name, rows in groups(attempts, "provider", *_COLUMNS)}
    return dict(sorted(found.items(), key=lambda item: (-item[1].cost_micro_usd, -item[1].calls, item[0])))


def _provider(rows: pl.DataFrame) -> ProviderFigures:
    outcomes = counts(rows["outcome"])
    calls = rows.filter(pl.col("outcome") != "skipped")
    answered = calls.filter(pl.col("outcome").is_in(["ok", "empty"]))
    mean = answered["results"].mean()
    return ProviderFigures(
        attempts=rows.height,
        calls=calls.height,
        ok=outcomes.get("ok", 0),
        failed=calls.height - answered.height,
        skipped=outcomes.get("skipped", 0),
        lost=outcomes.get("lost", 0),
        hedged=int(calls["hedged"].sum()),
        outcomes=outcomes,
        cost_micro_usd=int(rows["cost_micro_usd"].sum()),
        cost_sources=counts(calls["cost_source"]),
        unknown_cost=calls["cost_micro_usd"].null_count(),
        bills_tokens=bool(calls["bills_tokens"].any()),
        latency_ms=Distribution.of(calls["latency_ms"]),
        results_mean=round(float(mean), 3) if isinstance(mean, int | float) else None,
    )


def ledger(attempts: pl.DataFrame, requests: pl.DataFrame) -> Ledger:
    calls = attempts.filter(pl.col("outcome") != "skipped")
    refreshes = calls.filter(pl.col("tenant") == REFRESH_TENANT)
    return Ledger(
        micro_usd=int(attempts["cost_micro_usd"].sum()),
        calls=calls.height,
        unknown_cost=calls["cost_micro_usd"].null_count(),
        lost=calls.filter(pl.col("outcome") == "lost").height,
        receipts_micro_usd=int(requests["cost_micro_usd"].sum()),
        receipts_unknown=requests.filter(pl.col("status") != "error")["cost_micro_usd"].null_count(),
        refreshes=refreshes.height,
        refreshes_micro_usd=int(refreshes["cost_micro_usd"].sum()),
    )


def failures(attempts: pl.DataFrame) -> list[Failure]:
    """Failed and skipped attempts by reason, the most frequent first."""
    keys = ["provider", "outcome", "status_code", "reason"]
    table = (
        attempts.filter(~pl.col("outcome").is_in(["ok", "empty"]))
        .group_by(keys)
        .agg(pl.len().alias("attempts"))
        .sort(["attempts", *keys], descending=[True, False, False, False, False])
        .head(MAX_FAILURES)
    )
    return [Failure(**row) for row in table.iter_rows(named=True)]
