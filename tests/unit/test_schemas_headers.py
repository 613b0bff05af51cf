"""Three dialects of headers in, the same dialect back, and nothing a stranger sends makes reading fail."""

import pytest

from groundwire.schemas.headers import MAX_HEADER_BYTES, ReturnAddress, read_headers
from groundwire.schemas.record import Headers

OURS: Headers = (("correlation-id", b"\x00\xff"), ("reply-topic", b"search.replies.a"), ("reply-partition", b"3"))
SPRING: Headers = (
    ("kafka_correlationId", b"\x01\x02\x03"),
    ("kafka_replyTopic", b"search.replies.b"),
    ("kafka_replyPartition", b"\x00\x00\x01\x02"),
)
FASTSTREAM: Headers = (("correlation_id", b"abc"), ("reply_to", b"search.replies.c"))


@pytest.mark.parametrize(
    ("headers", "correlation", "topic", "partition", "field"),
    [
        (OURS, OURS[0], "search.replies.a", 3, "reply-topic"),
        (SPRING, SPRING[0], "search.replies.b", 258, "kafka_replyTopic"),
        (FASTSTREAM, FASTSTREAM[0], "search.replies.c", None, "reply_to"),
    ],
)
def test_each_dialect_is_read_and_answered_in_itself(
    headers: Headers, correlation: tuple[str, bytes], topic: str, partition: int | None, field: str
) -> None:
    found = read_headers(headers)
    assert (found.reply_topic, found.reply_partition, found.reply_topic_field) == (topic, partition, field)
    assert found.warnings == ()
    address = found.return_address(topic)
    assert address.headers() == (correlation,)
    assert address.partition == partition


def test_of_several_dialects_ours_wins_then_springs_then_faststreams() -> None:
    assert read_headers(FASTSTREAM + SPRING + OURS).return_address("t").headers() == (OURS[0],)
    assert read_headers(FASTSTREAM + SPRING).reply_topic == "search.replies.b"
    mixed = read_headers((("reply_to", b"c"), ("kafka_correlationId", b"x")))
    assert (mixed.reply_topic, mixed.correlation_name) == ("c", "kafka_correlationId")


def test_the_trace_travels_and_a_reply_topic_never_does() -> None:
    found = read_headers((*OURS, ("traceparent", b"00-abc-def-01")))
    names = [name for name, _ in found.return_address("search.replies.a").headers()]
    assert names == ["correlation-id", "traceparent"]


def test_no_correlation_header_none_goes_back() -> None:
    assert read_headers(()).return_address("search.replies.v1").headers() == ()


def test_an_empty_correlation_is_one_too() -> None:
    assert read_headers((("correlation-id", b""),)).return_address("t").headers() == (("correlation-id", b""),)


def test_the_partition_holds_only_for_the_topic_that_was_asked_for() -> None:
    assert read_headers(OURS).return_address("search.replies.v1").partition is None


def test_the_first_of_equal_headers_counts() -> None:
    found = read_headers((("correlation-id", b"one"), ("correlation-id", b"two")))
    assert found.return_address("t").headers() == (("correlation-id", b"one"),)


@pytest.mark.parametrize(
    ("headers", "warning"),
    [
        ((("deadline", b"tomorrow"),), "`deadline` is not a decimal number"),
        ((("deadline", b"-5"),), "`deadline` is not a decimal number"),
        ((("deadline", "\u0665".encode()),), "`deadline` is not a decimal number"),
        ((("deadline", b"9" * 19),), "`deadline` is not a decimal number"),
        ((("reply-partition", b"0x1"),), "`reply-partition` is not a decimal number"),
        ((("kafka_replyPartition", b"1"),), "`kafka_replyPartition` is not four bytes"),
        ((("reply-topic", b"\xff"),), "`reply-topic` is not UTF-8"),
        ((("correlation-id", b"x" * (MAX_HEADER_BYTES + 1)),), "`correlation-id` is longer than 1,024 bytes"),
    ],
)
def test_what_cannot_be_read_is_left_out_with_a_warning(headers: Headers, warning: str) -> None:
    found = read_headers(headers)
    assert warning in " ".join(found.warnings)
    assert (found.deadline_ms, found.reply_partition, found.reply_topic, found.correlation_name) == (None,) * 4


def test_a_deadline_is_read_as_unix_milliseconds() -> None:
    assert read_headers((("deadline", b" 1796464800000 "),)).deadline_ms == 1_796_464_800_000


def test_an_empty_reply_topic_is_none() -> None:
    found = read_headers((("reply-topic", b""),))
    assert (found.reply_topic, found.reply_topic_field) == (None, None)


def test_a_header_without_a_value_is_as_if_it_were_not_there() -> None:
    assert read_headers((("correlation-id", None),)) == read_headers(())  # type: ignore[arg-type]


def test_an_address_without_its_name_carries_no_correlation() -> None:
    assert ReturnAddress(topic="t", correlation_hex="00").headers() == ()
