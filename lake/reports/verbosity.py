"""How much the contexts say: the tokens a model has to read for each answer, and the results they are made of."""

import polars as pl
from pydantic import BaseModel, Field

from groundwire.lake.reports.figures import FIGURES_CONFIG, Distribution, groups


class VerbosityFigures(BaseModel):
    """Of the grounded replies; an empty context says nothing about a vendor's verbosity."""

    model_config = FIGURES_CONFIG

    context_tokens: Distribution | None
    context_tokens_total: int
    results: Distribution | None
    by_provider: dict[str, Distribution] = Field(description="Context tokens of a reply, by provider.")


def verbosity_figures(requests: pl.DataFrame) -> VerbosityFigures:
    grounded = requests.filter(pl.col("status") == "grounded")
    by_provider = {
        name: Distribution.of(rows["context_tokens"]) for name, rows in groups(grounded, "provider", "context_tokens")
    }
    return VerbosityFigures(
        context_tokens=Distribution.of(grounded["context_tokens"]),
        context_tokens_total=int(grounded["context_tokens"].sum()),
        results=Distribution.of(grounded["results"]),
        by_provider={name: found for name, found in by_provider.items() if found is not None},
    )
