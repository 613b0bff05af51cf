"""Experiments that ask the same questions in several ways: at several depths, of several vendors. One arm a way.

The paper that Groundwire follows varies depth and grounding too (arXiv 2606.18947); there a model writes answers and is graded.
No model is asked here, so its figures do not stand beside these.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from groundwire.lake.reports.figures import FIGURES_CONFIG, share
from groundwire.lake.reports.hits import HITS
from groundwire.lake.reports.savings import count, percent, usd


class Arm(BaseModel):
    """What came of one arm. Latencies are milliseconds as the client saw them; means are over the grounded replies."""

    model_config = FIGURES_CONFIG

    name: str
    requests: int
    answered: int
    status: dict[str, int]
    cache: dict[str, int]
    cost_micro_usd: int
    cost_unknown: int = Field(description="Replies whose cost is unknown; they are not in the sum.")
    latency_ms: dict[str, float]
    results_mean: float | None
    context_tokens_mean: float | None
    context_tokens_total: int
    sites_mean: float | None = Field(description="Different hosts among the results of a reply.")
    answers_found: int | None = Field(
        default=None, description="Contexts that hold the expected answer; null: no answers given."
    )

    @property
    def grounded(self) -> int:
        return self.status.get("grounded", 0)

    @property
    def hits(self) -> int:
        return sum(self.cache.get(kind, 0) for kind in HITS)


class ArmLine(BaseModel):
    """One row of the table, as text: a measure in each arm."""

    model_config = FIGURES_CONFIG

    measure: str
    values: list[str]


class Arms(BaseModel):
    """The outcome. `lines` is the table for people; `arms` the figures for scripts."""

    model_config = FIGURES_CONFIG

    experiment: str
    questions: int
    arms: list[Arm]
    lines: list[ArmLine]
    conditions: list[str]


def depth_experiment(
    arms: Sequence[Arm], *, questions: int, source: str, sandbox: bool, cache: str, context_tokens: int
) -> Arms:
    """What more results cost and bring. An arm is a depth."""
    conditions = [
        f"Every arm asks the {count(questions, 'question')} of {source} once, one depth after the other.",
        "A vendor that sells pages of results may be asked for more than the depth, at one price for several depths, and "
        "its own maximum clamps it.",
        f"Context tokens are estimated (a third of the bytes), inside a budget of {context_tokens:,} for each reply.",
        *_of_the_cache(arms, cache),
        _of_the_vendors(sandbox),
        "No model was asked: how much better its answers get with depth is not measured here.",
    ]
    return _outcome("depth", arms, questions, conditions)


def grounding_experiment(arms: Sequence[Arm], *, questions: int, source: str, sandbox: bool, cache: str) -> Arms:
    """How often there is something to ground an answer on, and how often the expected answer stands in it. An arm is a vendor
    or a route."""
    graded = any(arm.answers_found is not None for arm in arms)
    conditions = [
        f"Every arm asks the {count(questions, 'question')} of {source} once, one arm after the other.",
        "“Answer in context” looks for the expected answer's words, letter case and punctuation aside, in the excerpts: an "
        "answer in other words is not found, and one that stands there by chance is."
        if graded
        else "Without --answers COLUMN, grounded says that there was a result, not that it was right.",
        *_of_the_cache(arms, cache),
        _of_the_vendors(sandbox),
        "No model was asked: the share of questions that a model answers rightly with these excerpts is another figure, and the "
        "paper's accuracies can't be held against this one.",
    ]
    if sandbox and graded:
        conditions.append("The sandbox's documents are made up: they hold few answers to real questions.")
    return _outcome("grounding", arms, questions, conditions)


def _outcome(experiment: str, arms: Sequence[Arm], questions: int, conditions: list[str]) -> Arms:
    lines = [
        ("grounded", [_of(arm.grounded, arm.requests) for arm in arms]),
        ("from the cache", [_of(arm.hits, sum(arm.cache.values())) for arm in arms]),
        ("vendor cost", [_cost(arm) for arm in arms]),
        ("mean latency", [_ms(arm, "mean") for arm in arms]),
        ("p50 latency", [_ms(arm, "p50") for arm in arms]),
        ("p95 latency", [_ms(arm, "p95") for arm in arms]),
        ("results, mean", [_mean(arm.results_mean) for arm in arms]),
        ("different sites, mean", [_mean(arm.sites_mean) for arm in arms]),
        ("context tokens, mean", [_mean(arm.context_tokens_mean) for arm in arms]),
    ]
    if any(arm.answers_found is not None for arm in arms):
        lines.insert(1, ("answer in context", [_of(arm.answers_found or 0, arm.requests) for arm in arms]))
    return Arms(
        experiment=experiment,
        questions=questions,
        arms=list(arms),
        lines=[ArmLine(measure=measure, values=values) for measure, values in lines],
        conditions=conditions,
    )


def _of_the_cache(arms: Sequence[Arm], cache: str) -> list[str]:
    hits = sum(arm.hits for arm in arms)
    asked = {
        "use": "The cache was used",
        "refresh": "The cache was written and not read (refresh)",
        "bypass": "The cache was passed by (bypass)",
    }[cache]
    if not hits:
        return [f"{asked}; no reply came from it."]
    return [
        f"{asked}: {count(hits, 'reply', 'replies')} came from it, at no cost and at its speed. With --cache refresh the vendors "
        "are asked each time, and paid."
    ]


def _of_the_vendors(sandbox: bool) -> str:
    if sandbox:
        return (
            "The vendors were the sandbox's local servers: prices are list prices, latency is drawn, pages are made up."
        )
    return "The vendors were real; their latency is that of this place and hour."


def _of(part: int, whole: int) -> str:
    found = share(part, whole)
    return "–" if found is None else f"{part:,} ({percent(found)})"


def _cost(arm: Arm) -> str:
    unknown = f" + {arm.cost_unknown:,} unknown" if arm.cost_unknown else ""
    return usd(arm.cost_micro_usd) + unknown


def _ms(arm: Arm, name: str) -> str:
    return f"{arm.latency_ms[name]:,.1f} ms" if arm.answered else "–"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"
