"""What was spent today and this month, by provider, as the lake knows it. Days and months are UTC, as budgets are."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from groundwire.lake.events.scan import scan


@dataclass(frozen=True, slots=True)
class Spent:
    """One provider's known costs in micro-USD, and how many calls of this month are of unknown cost."""

    today_micro_usd: int
    month_micro_usd: int
    unknown_cost: int


def spent_by_provider(lake: Path, now: datetime) -> dict[str, Spent] | None:
    """Provider → spending; one that was not asked this month is left out. None: there is no lake here."""
    if not lake.is_dir():
        return None
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    cost = pl.col("cost_micro_usd")
    rows = (
        scan("attempts", lake, since=today.replace(day=1))
        .group_by("provider")
        .agg(
            cost.filter(pl.col("started_at") >= today).sum().alias("today"),
            cost.sum().alias("month"),
            cost.is_null().sum().alias("unknown"),
        )
        .collect()
    )
    return {row["provider"]: Spent(row["today"], row["month"], row["unknown"]) for row in rows.iter_rows(named=True)}
