"""The invoice: each call is on it, the file outlives a kill, and the price list has no rounding in it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.adapters.sandbox import prices
from groundwire.adapters.sandbox.calls import QUERIES, Call, CallLog
from groundwire.adapters.sandbox.invoice import Invoice

NAMES = ("serper", "exa")


def test_calls_billed_calls_and_money_are_told_apart() -> None:
    invoice = Invoice(NAMES)
    for micro_usd in (1_000, None, 0):
        invoice.book("serper", micro_usd)
    assert invoice.as_dict() == {
        "total_micro_usd": 1_000,
        "providers": {"serper": {"calls": 3, "billed_calls": 2, "micro_usd": 1_000}},
    }


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.none() | st.integers(0, 10**9)), max_size=30))
def test_what_was_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, booked: list[tuple[str, int | None]]
) -> None:
    file = tmp_path_factory.mktemp("invoice") / "deep" / "invoice.log"
    first = Invoice(NAMES, file)
    for vendor, micro_usd in booked:
        first.book(vendor, micro_usd)
    # Not closed: a killed process doesn't close either.
    again = Invoice(NAMES, file)
    assert again.as_dict() == first.as_dict()
    first.close()
    again.close()


def test_a_line_cut_short_is_no_call_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = tmp_path / "invoice.log"
    file.write_bytes(b"serper 1000\nexa -\nserper 10")
    invoice = Invoice(NAMES, file)
    assert invoice.total_micro_usd == 1_000
    invoice.book("exa", 7_000)
    invoice.close()
    assert file.read_bytes() == b"serper 1000\nexa -\nexa 7000\n"


def test_a_vendor_that_is_no_longer_there_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "invoice.log"
    file.write_bytes(b"gone 5\nserper 1000\n")
    invoice = Invoice(NAMES, file)
    invoice.close()
    assert invoice.total_micro_usd == 1_000


def test_reset_clears_the_file_too(tmp_path: Path) -> None:
    invoice = Invoice(NAMES, tmp_path / "invoice.log")
    invoice.book("exa", 7_000)
    invoice.reset()
    invoice.book("serper", 1_000)
    invoice.close()
    again = Invoice(NAMES, tmp_path / "invoice.log")
    again.close()
    assert again.as_dict()["providers"] == {"serper": {"calls": 1, "billed_calls": 1, "micro_usd": 1_000}}


@given(st.sampled_from(sorted(prices.MODEL_TOKENS)), st.integers(0, 500), st.integers(0, 500))
def test_tokens_in_hundreds_cost_whole_micro_dollars(model: str, read: int, wrote: int) -> None:
    per_read, per_wrote = prices.MODEL_TOKENS[model]
    assert (100 * read * per_read) % 1_000_000 == (100 * wrote * per_wrote) % 1_000_000 == 0
    assert prices.token_price(model, 100 * read, 100 * wrote) == (read * per_read + wrote * per_wrote) // 10_000


def test_the_longest_beginning_of_a_models_name_decides_its_price() -> None:
    names = list(prices.MODEL_TOKENS)
    for name in names:
        assert next(first for first in names if name.startswith(first)) == name
    assert prices.is_sold("gemini-3-flash-preview", "gemini")
    assert not prices.is_sold("gpt-5.2", "gemini")
    with pytest.raises(KeyError):
        prices.token_price("llama", 100, 100)


def call(vendor: str = "serper", query: str = "q", status: int = 200) -> Call:
    return Call(vendor, query, status, None, 0.0, 0.0)


def test_calls_are_counted_by_vendor_and_by_query() -> None:
    log = CallLog()
    for vendor, query in (("serper", "a"), ("serper", "a"), ("exa", "a"), ("exa", None)):
        log.arrived(vendor, query)
    assert (log.count(), log.count("exa"), log.count("serper", "a"), log.count(query="a")) == (4, 2, 2, 3)
    assert log.as_dict()["repeated"] == {"serper: a": 2}
    assert log.as_dict(vendor="exa")["repeated"] == {}


def test_the_newest_calls_come_first_and_can_be_chosen() -> None:
    log = CallLog()
    for status in (200, 429, 500):
        log.answered(call(status=status))
    log.answered(call("exa", "other"))
    assert [one.status for one in log.newest("serper", "q", limit=2)] == [500, 429]
    assert [one.vendor for one in log.newest(query="other")] == ["exa"]
    log.reset()
    assert log.newest() == []


def test_only_so_many_queries_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert QUERIES >= 100_000
    monkeypatch.setattr("groundwire.adapters.sandbox.calls.QUERIES", 3)
    log = CallLog()
    for number in range(5):
        log.arrived("exa", str(number))
    assert [log.count("exa", str(number)) for number in range(5)] == [0, 0, 1, 1, 1]
    assert log.count("exa") == 5
