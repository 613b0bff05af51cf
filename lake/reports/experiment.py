"""The warm-cache experiment: two passes over the same questions, beside the figures of the paper it repeats.

The paper: Decoupled Search Grounding, arXiv 2606.18947.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from groundwire.lake.reports.figures import FIGURES_CONFIG, share
from groundwire.lake.reports.hits import HITS
from groundwire.lake.reports.savings import count, percent, usd

PAPER = "arXiv 2606.18947"
PAPER_HIT_RATE = (0.062, 0.994)
PAPER_MEAN_LATENCY_CHANGE = -0.68


class PassLatency(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


class PassFigures(BaseModel):
    """One pass of a replay, as `groundwire replay --json` states it; what else stands there is not needed here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    requests: int = Field(ge=0)
    answered: int = Field(ge=0)
    status: dict[str, int] = Field(default_factory=dict)
    cache: dict[str, int] = Field(default_factory=dict)
    cost_micro_usd: int | None
    latency_ms: PassLatency = PassLatency()
    seconds: float | None = None

    @property
    def hit_rate(self) -> float | None:
        """Exact, semantic and stale hits among the replies that say where they came from."""
        return share(sum(self.cache.get(kind, 0) for kind in HITS), sum(self.cache.values()))


class Line(BaseModel):
    """One line of the table, as text: a measure in both passes, how it changed, and the same in the paper."""

    model_config = FIGURES_CONFIG

    measure: str
    first: str
    second: str
    change: str
    paper: str


class WarmCache(BaseModel):
    """The experiment's outcome. `lines` is the table for people; the figures under it are for scripts."""

    model_config = FIGURES_CONFIG

    questions: int
    hit_rates: tuple[float | None, float | None]
    mean_latency_ms: tuple[float | None, float | None]
    mean_latency_change: float | None
    cost_micro_usd: tuple[int | None, int | None]
    paper: dict[str, Any]
    lines: list[Line]
    conditions: list[str]


def warm_cache(
    passes: Sequence[PassFigures | Mapping[str, Any]], *, questions: int, source: str, sandbox: bool
) -> WarmCache:
    """The table of two passes. `source` is where the questions are from, `sandbox` whether the vendors were local ones.

    Raises ValueError unless there are exactly two passes.
    """
    if len(passes) != 2:
        raise ValueError(f"the warm-cache experiment compares two passes, not {len(passes)}")
    first, second = (PassFigures.model_validate(one) if isinstance(one, Mapping) else one for one in passes)
    change = _change(first.latency_ms.mean, second.latency_ms.mean)
    return WarmCache(
        questions=questions,
        hit_rates=(first.hit_rate, second.hit_rate),
        mean_latency_ms=(first.latency_ms.mean, second.latency_ms.mean),
        mean_latency_change=change,
        cost_micro_usd=(first.cost_micro_usd, second.cost_micro_usd),
        paper={
            "source": PAPER,
            "hit_rates": list(PAPER_HIT_RATE),
            "mean_latency_change": PAPER_MEAN_LATENCY_CHANGE,
        },
        lines=[
            Line(
                measure="cache hit rate",
                first=_percent(first.hit_rate),
                second=_percent(second.hit_rate),
                change="",
                paper=f"{percent(PAPER_HIT_RATE[0])} → {percent(PAPER_HIT_RATE[1])}",
            ),
            _latency_line("mean latency", first.latency_ms.mean, second.latency_ms.mean, PAPER_MEAN_LATENCY_CHANGE),
            _latency_line("p50 latency", first.latency_ms.p50, second.latency_ms.p50),
            _latency_line("p95 latency", first.latency_ms.p95, second.latency_ms.p95),
            Line(
                measure="vendor cost",
                first=_usd(first.cost_micro_usd),
                second=_usd(second.cost_micro_usd),
                change=_signed(_change(first.cost_micro_usd, second.cost_micro_usd)),
                paper="",
            ),
            Line(
                measure="grounded",
                first=f"{first.status.get('grounded', 0):,} of {first.requests:,}",
                second=f"{second.status.get('grounded', 0):,} of {second.requests:,}",
                change="",
                paper="",
            ),
        ],
        conditions=_conditions(questions, source, sandbox),
    )


def _conditions(questions: int, source: str, sandbox: bool) -> list[str]:
    vendors = (
        "The vendors were the sandbox's local servers, whose latency is drawn, not measured: the change of the mean says "
        "what a hit spares at that latency."
        if sandbox
        else "The vendors were real; their latency is that of this place and hour."
    )
    return [
        f"A replay of the same questions: pass 2 asks the {count(questions, 'question')} of {source} again that pass 1 "
        "asked. A hit rate near 100 % is what any exact cache gives then; it says nothing about traffic that repeats less.",
        vendors,
        f"The paper's figures ({PAPER}) come from a replay too, of its own questions, with its own vendors and model.",
    ]


def _latency_line(measure: str, first: float | None, second: float | None, paper: float | None = None) -> Line:
    return Line(
        measure=measure,
        first=_ms(first),
        second=_ms(second),
        change=_signed(_change(first, second)),
        paper=_signed(paper),
    )


def _change(first: float | None, second: float | None) -> float | None:
    if first is None or second is None or first == 0:
        return None
    return round((second - first) / first, 6)


def _signed(change: float | None) -> str:
    if change is None:
        return ""
    sign = "−" if change < 0 else "+" if change > 0 else ""
    return f"{sign}{percent(abs(change))}"


def _percent(rate: float | None) -> str:
    return "–" if rate is None else percent(rate)


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f} ms"


def _usd(amount_micro_usd: int | None) -> str:
    return "unknown" if amount_micro_usd is None else usd(amount_micro_usd)
