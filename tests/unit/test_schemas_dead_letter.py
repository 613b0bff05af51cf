"""A dead letter keeps the record, its reason and its origin, and is never too large for its own topic."""

import base64

import pytest

from groundwire.schemas.dead_letter import MAX_KEPT_BYTES, MAX_KEPT_KEY_BYTES, DeadLetter
from groundwire.schemas.record import Headers, InboundRecord
from groundwire.schemas.topics import DEAD_LETTERS


def letter(
    value: bytes | None = b"{", key: bytes | None = b"key", headers: Headers = (), message: str = "not JSON"
) -> DeadLetter:
    record = InboundRecord("search.requests.v1", 3, 41, key, value, headers, 1000)
    return DeadLetter.of(record, stage="frontline", reason="invalid_json", message=message, now_ms=2000, field="query")


def test_it_says_what_where_and_why() -> None:
    found = DeadLetter.decode(letter(headers=(("a", b"\xff"), ("a", b""))).encode())
    assert found.dead_letter_id == "search.requests.v1-3-41"
    assert (found.topic, found.partition, found.offset, found.timestamp_ms) == ("search.requests.v1", 3, 41, 1000)
    assert (found.stage, found.reason, found.message, found.field) == ("frontline", "invalid_json", "not JSON", "query")
    assert base64.b64decode(found.value_base64 or "") == b"{"
    assert base64.b64decode(found.key_base64 or "") == b"key"
    assert [(name, base64.b64decode(content)) for name, content in found.headers] == [("a", b"\xff"), ("a", b"")]
    assert (found.value_bytes, found.truncated, found.refused_at_ms) == (1, False, 2000)


def test_a_tombstone_stays_one() -> None:
    found = letter(value=None, key=None)
    assert (found.value_base64, found.key_base64, found.value_bytes, found.truncated) == (None, None, 0, False)


def test_a_header_without_a_value_is_kept_as_an_empty_one() -> None:
    assert letter(headers=(("a", None),)).headers == [("a", "")]  # type: ignore[arg-type]


def test_of_a_huge_value_the_beginning_is_kept() -> None:
    whole = letter(value=b"x" * MAX_KEPT_BYTES)
    cut = letter(value=b"x" * (MAX_KEPT_BYTES + 1))
    assert (whole.truncated, cut.truncated) == (False, True)
    assert cut.value_base64 == whole.value_base64
    assert cut.value_bytes == MAX_KEPT_BYTES + 1


MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("value", "key", "headers"),
    [
        (b"x" * 8 * MIB, b"k" * 2 * MIB, (("h", b"h" * 2 * MIB),)),
        (b"x", b"k" * (MAX_KEPT_KEY_BYTES + 1), ()),
        (b"x", None, tuple((str(number), b"y" * 100) for number in range(20_000))),
        (b"x" * MIB, b"k" * MIB, tuple(("\x00" * 1000, b"") for _ in range(2000))),
    ],
)
def test_whatever_the_record_the_letter_fits_its_topic(value: bytes, key: bytes | None, headers: Headers) -> None:
    """A dead letter that the broker refuses for its size would come back for ever."""
    found = letter(value=value, key=key, headers=headers, message="m" * MIB)
    assert found.truncated
    assert len(found.encode()) < DEAD_LETTERS.max_bytes
    assert found.value_bytes == len(value)


def test_the_first_headers_are_kept_when_there_are_too_many() -> None:
    found = letter(headers=(("correlation-id", b"1"), ("large", b"y" * MIB), ("last", b"2")))
    assert [name for name, _ in found.headers] == ["correlation-id"]
