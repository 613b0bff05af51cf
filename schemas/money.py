"""Money is an integer of micro-USD everywhere: sums stay exact, and a ledger can equal an invoice to the last unit."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import Field

MICRO_PER_USD = 1_000_000

MicroUsd = Annotated[int, Field(ge=0, le=2**62)]


def micro_usd(usd: Decimal | str | int) -> int:
    """USD to micro-USD, half up. Takes no float: 0.007 as a float is not 0.007."""
    return int((Decimal(usd) * MICRO_PER_USD).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def per_thousand(usd_per_1000: Decimal | str | int) -> int:
    """A list price in USD per 1,000 calls as micro-USD per call."""
    return micro_usd(Decimal(usd_per_1000) / 1000)


def as_usd(amount_micro_usd: int) -> str:
    """For people: `$0.0010`, with as many decimals as the amount needs, four at the least."""
    sign = "-" if amount_micro_usd < 0 else ""
    text = f"{Decimal(abs(amount_micro_usd)) / MICRO_PER_USD:,.6f}"
    while text.endswith("0") and len(text.rsplit(".", 1)[1]) > 4:
        text = text[:-1]
    return f"{sign}${text}"
