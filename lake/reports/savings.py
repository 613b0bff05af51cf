"""What was saved, against a named baseline, with the sum spelled out and its limits said."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import yaml
from pydantic import BaseModel, Field

from groundwire.lake.reports.figures import FIGURES_CONFIG
from groundwire.schemas.money import MICRO_PER_USD


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the same questions would have cost in search fees elsewhere."""

    name: str
    usd_per_1000: int
    what: str


def _read_baselines() -> dict[str, Baseline]:
    """Prices of others are data, not code: they stand in a file of their own."""
    document = yaml.safe_load(Path(__file__).with_name("baselines.yaml").read_text(encoding="utf-8"))
    return {name: Baseline(name, **facts) for name, facts in document.items()}


BASELINES: dict[str, Baseline] = _read_baselines()


class UnknownBaselineError(ValueError):
    """No baseline of that name; the message lists those there are."""

    def __init__(self, name: str) -> None:
        known = "; ".join(f"`{baseline.name}`: {baseline.what}" for baseline in BASELINES.values())
        super().__init__(f"no baseline `{name[:64]}`. There are: {known}")


class Savings(BaseModel):
    """Baseline minus spending, in search fees. Negative: more was spent than the baseline would have cost."""

    model_config = FIGURES_CONFIG

    baseline: str
    baseline_what: str
    baseline_usd_per_1000: int
    search_share: float
    requests: int = Field(description="Requests counted: all but error replies, for which nobody would have searched.")
    baseline_micro_usd: int
    spent_micro_usd: int
    micro_usd: int
    share: float | None = Field(description="Of the baseline; null when the baseline is nothing.")
    cache_micro_usd: int = Field(description="What the cached answers would have cost at their own providers again.")
    sum: str
    cache_sum: str
    notes: list[str]


def baseline_named(name: str) -> Baseline:
    """Raises UnknownBaselineError, which lists the names there are."""
    try:
        return BASELINES[name]
    except KeyError:
        raise UnknownBaselineError(name) from None


def savings(
    baseline: Baseline,
    *,
    search_share: float,
    requests: int,
    errors: int,
    spent_micro_usd: int,
    unknown_cost: int,
    cache_micro_usd: int,
    cached: int,
    repeated: int,
    token_billers: list[str],
) -> Savings:
    """The comparison. `requests` are those counted; `errors` the error replies left out of them."""
    would_cost = _rounded(Decimal(requests) * Decimal(str(search_share)) * baseline.usd_per_1000 * MICRO_PER_USD / 1000)
    saved = would_cost - spent_micro_usd
    return Savings(
        baseline=baseline.name,
        baseline_what=baseline.what,
        baseline_usd_per_1000=baseline.usd_per_1000,
        search_share=search_share,
        requests=requests,
        baseline_micro_usd=would_cost,
        spent_micro_usd=spent_micro_usd,
        micro_usd=saved,
        share=round(saved / would_cost, 6) if would_cost else None,
        cache_micro_usd=cache_micro_usd,
        sum=_sum(baseline, search_share, requests, would_cost, spent_micro_usd, unknown_cost),
        cache_sum=(
            f"The cache alone: {count(cached, 'request')} answered without a vendor call, which would have cost "
            f"{usd(cache_micro_usd)} at the providers the answers came from."
        ),
        notes=_notes(search_share, errors, unknown_cost, requests, repeated, token_billers),
    )


def _sum(baseline: Baseline, search_share: float, requests: int, would_cost: int, spent: int, unknown_cost: int) -> str:
    product = (
        f"{count(requests, 'request')} × {percent(search_share)} that search × "
        f"${baseline.usd_per_1000:.2f}/1,000 = {usd(would_cost)}"
    )
    at_least = "at least " if unknown_cost else ""
    saved = would_cost - spent
    if saved >= 0:
        at_most = "at most " if unknown_cost else ""
        of = f" ({percent(saved / would_cost)})" if would_cost else ""
        result = f"saved {at_most}{usd(saved)}{of} of vendor fees"
    else:
        result = f"spent {usd(-saved)} more in vendor fees"
    return (
        f"{product}; spent {at_least}{usd(spent)}; {result} against {baseline.name} (search built into a model at "
        f"${baseline.usd_per_1000} per 1,000); this counts search fees only."
    )


def _notes(
    search_share: float, errors: int, unknown_cost: int, requests: int, repeated: int, token_billers: list[str]
) -> list[str]:
    notes = [
        "Search fees only: the tokens a model reads, the machines this runs on and the work of running it are not in it.",
        f"The share that searches, {percent(search_share)}, is a setting (report.search_share), not a measurement.",
    ]
    if requests:
        notes.append(
            f"{repeated:,} of {count(requests, 'request')} ask again what was asked before in this window; hit rates and "
            "savings of a replay of the same questions say nothing about other traffic."
        )
    if unknown_cost:
        notes.append(f"{count(unknown_cost, 'call')} of unknown cost are not in what was spent.")
    if errors:
        notes.append(
            f"{count(errors, 'error reply', 'error replies')} not counted: nobody would have searched for them."
        )
    if token_billers:
        notes.append(f"What {', '.join(token_billers)} cost includes the tokens of the vendor's own model.")
    return notes


def usd(amount_micro_usd: int) -> str:
    """For people: exact, with two decimals at the least. `$9.07`, `$0.0035`, `-$1.20`."""
    text = f"{Decimal(abs(amount_micro_usd)) / MICRO_PER_USD:,.6f}"
    while text.endswith("0") and len(text.rsplit(".", 1)[1]) > 2:
        text = text[:-1]
    return f"{'-' if amount_micro_usd < 0 else ''}${text}"


def percent(part: float) -> str:
    """`90.7 %`, `100 %`. Rounded, but something short of all is never called all, nor something nothing."""
    text = f"{100 * part:.1f}"
    if text == "100.0" and part < 1:
        text = "> 99.9"
    elif text == "0.0" and part > 0:
        text = "< 0.1"
    return f"{text.removesuffix('.0')} %"


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 request`, `1,000 requests`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _rounded(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))
