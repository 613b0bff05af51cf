"""Money is whole micro-USD, and people read it to the last unit."""

from decimal import Decimal, InvalidOperation

import pytest

from groundwire.schemas.money import as_usd, micro_usd, per_thousand


@pytest.mark.parametrize(
    ("usd", "micro"),
    [("0.007", 7000), (Decimal("0.0000005"), 1), ("0.00000049", 0), (3, 3_000_000), ("0", 0), ("1e-6", 1)],
)
def test_usd_become_micro_usd_half_up(usd: Decimal | str | int, micro: int) -> None:
    assert micro_usd(usd) == micro


@pytest.mark.parametrize(("price", "micro"), [("1", 1000), ("0.3", 300), ("7", 7000), ("0.0005", 1)])
def test_a_price_for_a_thousand_is_a_price_for_one(price: str, micro: int) -> None:
    assert per_thousand(price) == micro


def test_what_is_no_amount_is_refused() -> None:
    with pytest.raises(InvalidOperation):
        micro_usd("a dollar")


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.0000"), (1, "$0.000001"), (1000, "$0.0010"), (1_234_567, "$1.234567"), (-5_000_000_000, "-$5,000.0000")],
)
def test_amounts_have_four_decimals_or_as_many_as_they_need(amount: int, text: str) -> None:
    assert as_usd(amount) == text
