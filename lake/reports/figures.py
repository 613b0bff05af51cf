"""Distributions: how a report states a set of measurements."""

from collections.abc import Iterator

import polars as pl
from pydantic import BaseModel, ConfigDict

FIGURES_CONFIG = ConfigDict(frozen=True, extra="forbid")


class Distribution(BaseModel):
    """Some measurements. Percentiles are interpolated linearly between the two nearest ones."""

    model_config = FIGURES_CONFIG

    n: int
    mean: float
    p50: float
    p95: float
    p99: float
    max: float

    @classmethod
    def of(cls, values: pl.Series) -> "Distribution | None":
        """None when there is nothing to state."""
        known = values.cast(pl.Float64).drop_nulls()
        known = known.filter(known.is_finite()).sort()  # once; every percentile of a sorted series is a look
        if known.is_empty():
            return None
        return cls(
            n=known.len(),
            mean=round(float(known.mean()), 3),  # type: ignore[arg-type]  # a float, for a series of floats
            p50=_quantile(known, 0.50),
            p95=_quantile(known, 0.95),
            p99=_quantile(known, 0.99),
            max=round(float(known.max()), 3),  # type: ignore[arg-type]
        )


def _quantile(values: pl.Series, share: float) -> float:
    return round(float(values.quantile(share, "linear") or 0.0), 3)


def counts(values: pl.Series) -> dict[str, int]:
    """How often each value is there, the most frequent first; nulls are left out."""
    found = values.drop_nulls().cast(pl.String).rename("value")
    table = found.value_counts(name="n").sort(["n", "value"], descending=[True, False])
    return dict(table.iter_rows())


def groups(rows: pl.DataFrame, key: str, *columns: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each value of a column, with the columns asked for, in the order of the values; nulls are left out."""
    found = rows.select(key, *columns).drop_nulls(key).partition_by(key, as_dict=True, maintain_order=False)
    for (name,), part in sorted(found.items()):
        yield str(name), part


def share(part: int, whole: int) -> float | None:
    """A part of a whole, 0 to 1; None when there is no whole."""
    return round(part / whole, 6) if whole else None
