"""How long requests took: all together, by where the answer came from, and by stage."""

import polars as pl
from pydantic import BaseModel

from groundwire.lake.reports.figures import FIGURES_CONFIG, Distribution, groups

STAGES = ("queue", "normalize", "lookup", "fetch", "unify")


# Milliseconds, 0.1 to 100,000: each a third above the one before, so that a hit's 3 ms and a vendor's 3 s fit one axis and
# bars of equal width stand for equal ratios.
STEPS_A_DECADE = 8
EDGES_MS = tuple(float(f"{10 ** (step / STEPS_A_DECADE):.4g}") for step in range(-8, 41))


class Histogram(BaseModel):
    """Requests by total latency. `counts[i]` of them took `edges_ms[i]` to below `edges_ms[i + 1]`; what lies outside the
    edges is counted in the first or the last."""

    model_config = FIGURES_CONFIG

    edges_ms: list[float]
    by_cache: dict[str, list[int]]


class LatencyFigures(BaseModel):
    """Milliseconds. By cache outcome the totals; by stage the requests that reached it."""

    model_config = FIGURES_CONFIG

    total: Distribution | None
    by_cache: dict[str, Distribution]
    by_stage: dict[str, Distribution]
    histogram: Histogram


def latency_figures(requests: pl.DataFrame) -> LatencyFigures:
    by_cache = {}
    histograms = {}
    for outcome, rows in groups(requests, "cache_outcome", "total_ms"):
        by_cache[outcome] = Distribution.of(rows["total_ms"])
        histograms[outcome] = _histogram(rows["total_ms"])
    by_stage = {stage: Distribution.of(requests[f"{stage}_ms"]) for stage in STAGES}
    return LatencyFigures(
        total=Distribution.of(requests["total_ms"]),
        by_cache={name: found for name, found in by_cache.items() if found is not None},
        by_stage={name: found for name, found in by_stage.items() if found is not None},
        histogram=Histogram(edges_ms=list(EDGES_MS), by_cache=histograms),
    )


def _histogram(total_ms: pl.Series) -> list[int]:
    known = total_ms.drop_nulls()
    known = known.filter(known.is_finite()).clip(EDGES_MS[0], EDGES_MS[-2])
    bins = pl.Series(EDGES_MS).search_sorted(known, side="right") - 1
    filled = dict(bins.value_counts(name="n").iter_rows())
    return [filled.get(bin_, 0) for bin_ in range(len(EDGES_MS) - 1)]
