"""How long requests took: all together, by where the answer came from, and by stage."""

import polars as pl
from pydantic import BaseModel

from groundwire.lake.reports.figures import FIGURES_CONFIG, Distribution

STAGES = ("queue", "normalize", "lookup", "fetch", "unify")


class LatencyFigures(BaseModel):
    """Milliseconds. By cache outcome the totals; by stage the requests that reached it."""

    model_config = FIGURES_CONFIG

    total: Distribution | None
    by_cache: dict[str, Distribution]
    by_stage: dict[str, Distribution]


def latency_figures(requests: pl.DataFrame) -> LatencyFigures:
    by_cache = {}
    for (outcome,), rows in requests.drop_nulls("cache_outcome").group_by("cache_outcome", maintain_order=True):
        by_cache[str(outcome)] = Distribution.of(rows["total_ms"])
    by_stage = {stage: Distribution.of(requests[f"{stage}_ms"]) for stage in STAGES}
    return LatencyFigures(
        total=Distribution.of(requests["total_ms"]),
        by_cache={name: found for name, found in sorted(by_cache.items()) if found is not None},
        by_stage={name: found for name, found in by_stage.items() if found is not None},
    )
