"""Whatever bytes come: correlation goes back byte for byte, reading never fails but by RecordError, records come back whole."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire.schemas.event import RequestEvent
from groundwire.schemas.headers import (
    CORRELATION,
    MAX_HEADER_BYTES,
    REPLY_PARTITION,
    REPLY_TOPIC,
    Dialect,
    ReturnAddress,
    read_headers,
)
from groundwire.schemas.lookup import Embedding
from groundwire.schemas.money import as_usd, micro_usd
from groundwire.schemas.record import Headers, RecordError
from groundwire.schemas.request import SearchRequest, parse_request
from tests.unit.lake_events import request_event

# The time a test takes depends on what else the machine does, so no deadline.
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

DIALECTS: list[Dialect] = ["groundwire", "spring", "faststream"]
KNOWN = [*CORRELATION.values(), *REPLY_TOPIC.values(), *REPLY_PARTITION.values(), "deadline", "traceparent"]

content = st.binary(max_size=64)
any_headers = st.lists(st.tuples(st.sampled_from(KNOWN) | st.text(max_size=20), content), max_size=12).map(tuple)


@QUICK
@given(dialect=st.sampled_from(DIALECTS), correlation=st.binary(max_size=MAX_HEADER_BYTES))
def test_correlation_goes_back_byte_for_byte_under_its_own_name(dialect: Dialect, correlation: bytes) -> None:
    header = (CORRELATION[dialect], correlation)
    address = read_headers((header, (REPLY_TOPIC[dialect], b"search.replies.x"))).return_address("search.replies.x")
    travelled = ReturnAddress.model_validate_json(address.model_dump_json())
    assert travelled.headers() == (header,)


@QUICK
@given(headers=any_headers)
def test_no_headers_whatever_make_reading_fail_or_send_a_reply_topic_back(headers: Headers) -> None:
    found = read_headers(headers)
    back = found.return_address(found.reply_topic or "search.replies.v1").headers()
    assert {name for name, _ in back} <= {*CORRELATION.values(), "traceparent"}
    assert all((name, value) in headers for name, value in back)
    assert found == type(found).model_validate_json(found.model_dump_json())


@QUICK
@given(headers=any_headers)
def test_ours_wins_then_springs_then_faststreams(headers: Headers) -> None:
    names = {name for name, _ in headers}
    expected = next((CORRELATION[dialect] for dialect in DIALECTS if CORRELATION[dialect] in names), None)
    assert read_headers(headers).correlation_name == expected


@QUICK
@given(partition=st.integers(0, 2**31 - 1))
def test_a_reply_partition_means_the_same_in_both_dialects_that_have_one(partition: int) -> None:
    assert read_headers((("reply-partition", str(partition).encode()),)).reply_partition == partition
    assert read_headers((("kafka_replyPartition", partition.to_bytes(4, "big")),)).reply_partition == partition


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
field_names = st.sampled_from([*SearchRequest.model_fields, "x-any"]) | st.text(max_size=12)


@QUICK
@given(document=st.dictionaries(field_names, json_values, max_size=6))
def test_any_json_is_a_request_or_a_refusal(document: dict[str, Any]) -> None:
    try:
        request = parse_request(json.dumps(document).encode())
    except RecordError as error:
        assert error.kind in ("invalid_json", "invalid_request")
    else:
        assert request.query == document["query"]


@QUICK
@given(value=st.binary(max_size=200))
def test_any_bytes_are_a_request_or_a_refusal(value: bytes) -> None:
    with pytest.raises(RecordError):
        parse_request(value)


@QUICK
@given(value=st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_record_or_poison(value: bytes) -> None:
    with pytest.raises(RecordError) as failure:
        RequestEvent.decode(value)
    assert failure.value.kind in ("poison", "future_version")


clean_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@QUICK
@given(
    query=st.none() | clean_text,
    metadata=st.dictionaries(clean_text, clean_text, max_size=3),
    similarity=st.none() | st.floats(0, 1),
    cost=st.none() | st.integers(0, 2**62),
    total_ms=st.floats(0, 1e9),
)
def test_an_event_comes_back_as_it_went(
    query: str | None, metadata: dict[str, str], similarity: float | None, cost: int | None, total_ms: float
) -> None:
    event = request_event(
        1, query=query, metadata=metadata, similarity=similarity, cost_micro_usd=cost, total_ms=total_ms
    )
    assert RequestEvent.decode(event.encode()) == event


@QUICK
@given(vector=st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=400))
def test_half_precision_vectors_come_back_exactly(vector: list[float]) -> None:
    assert Embedding.model_validate_json(Embedding.of("m", vector).model_dump_json()).vector() == vector


@QUICK
@given(vector=st.lists(st.floats(-1, 1), min_size=1, max_size=50))
def test_other_vectors_lose_less_than_a_thousandth(vector: list[float]) -> None:
    kept = Embedding.of("m", vector).vector()
    assert all(abs(one - other) < 0.001 for one, other in zip(kept, vector, strict=True))


@QUICK
@given(amount=st.integers(-(2**62), 2**62))
def test_money_is_shown_so_that_it_can_be_read_back(amount: int) -> None:
    assert micro_usd(as_usd(amount).replace("$", "").replace(",", "")) == amount
