"""The window cut into equal steps: how requests, hits, cost and latency went over time."""

from datetime import datetime

import polars as pl
from pydantic import BaseModel

from groundwire.lake.reports.figures import FIGURES_CONFIG, share
from groundwire.lake.reports.hits import HITS

# Seconds; the finest that makes no more steps than a plot can show.
_STEPS_S = (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400)
MAX_STEPS = 72


class Step(BaseModel):
    """One step. `start` is ISO, UTC; shares are 0 to 1, null when nothing was asked."""

    model_config = FIGURES_CONFIG

    start: str
    requests: int
    exact: int
    semantic: int
    coalesced: int
    hit_rate: float | None
    cost_micro_usd: int
    p50_ms: float | None
    p95_ms: float | None


class Timeline(BaseModel):
    """Steps with at least one request, in order."""

    model_config = FIGURES_CONFIG

    step_s: int
    steps: list[Step]


def timeline(requests: pl.DataFrame) -> Timeline:
    first, last = requests["requested_at"].min(), requests["requested_at"].max()
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return Timeline(step_s=_STEPS_S[0], steps=[])
    span_s = (last - first).total_seconds()
    step_s = next((step for step in _STEPS_S if span_s / step < MAX_STEPS), _STEPS_S[-1])
    outcome = pl.col("cache_outcome")
    table = (
        requests.group_by(pl.col("requested_at").dt.truncate(f"{step_s}s").alias("start"))
        .agg(
            pl.len().alias("requests"),
            (outcome == "exact").sum().alias("exact"),
            (outcome == "semantic").sum().alias("semantic"),
            (outcome == "coalesced").sum().alias("coalesced"),
            outcome.is_in(list(HITS)).sum().alias("hits"),
            outcome.is_not_null().sum().alias("served"),
            pl.col("cost_micro_usd").sum(),
            pl.col("total_ms").quantile(0.5, "linear").round(3).alias("p50_ms"),
            pl.col("total_ms").quantile(0.95, "linear").round(3).alias("p95_ms"),
        )
        .sort("start")
    )
    return Timeline(
        step_s=step_s,
        steps=[
            Step(
                start=row.pop("start").isoformat(),
                hit_rate=share(row.pop("hits"), row.pop("served")),
                **row,
            )
            for row in table.iter_rows(named=True)
        ],
    )
