"""Records on internal topics: strict, closed, versioned; what can't be read says which field, never what stood in it."""

import json
from typing import Any

import pytest

from groundwire.schemas.cache_write import CacheWrite
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.lookup import Embedding
from groundwire.schemas.record import InboundRecord, Record, RecordError, field_path
from tests.unit.lake_events import attempt_event, request_event


def refused(value: bytes | None, model: type[Record] = RequestEvent) -> RecordError:
    with pytest.raises(RecordError) as failure:
        model.decode(value)
    return failure.value


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(request_event(1).encode()), **fields}).encode()


def test_a_record_comes_back_as_it_went() -> None:
    event = request_event(1, query="가격 \U0001f680 \x00 \u2028", metadata={"a": "b"})
    assert RequestEvent.decode(event.encode()) == event


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, None),
        (b"", None),
        (b"{", None),
        (b"[]", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (changed(depth="5"), "depth"),
        (changed(depth=5.5), "depth"),
        (changed(status="fine"), "status"),
        (changed(metadata={"a": 1}), "metadata.a"),
        (changed(surprise=1), "surprise"),
        (changed(version="1"), "version"),
        (changed(version=0), "version"),
        (changed(version=True), "version"),
    ],
)
def test_what_cannot_be_read_is_poison_and_names_the_field(value: bytes | None, field: str | None) -> None:
    error = refused(value)
    assert (error.kind, error.field) == ("poison", field)
    assert error.message.startswith("RequestEvent: ")


@pytest.mark.parametrize("value", [changed(version=2), changed(version=3, surprise=[1]), b'{"version": 7}'])
def test_a_record_of_a_future_version_says_to_upgrade(value: bytes) -> None:
    error = refused(value)
    assert (error.kind, error.field) == ("future_version", "version")
    assert "upgrade the workers" in error.message


def test_a_refusal_never_repeats_the_content() -> None:
    assert "secret" not in refused(changed(depth="secret", status="secret")).message


def test_a_name_a_stranger_chose_makes_no_message_long() -> None:
    error = refused(changed(**{"y" * 500_000: 1}))
    assert error.field == "y" * 128
    assert len(error.message) < 400


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        attempt_event(1).cost_micro_usd = 0  # type: ignore[misc]


def test_numbers_that_json_does_not_know_are_written_as_null() -> None:
    assert json.loads(request_event(1, similarity=float("nan")).encode())["similarity"] is None


def test_a_path_reads_as_one() -> None:
    assert field_path(("filters", "include_domains", 0)) == "filters.include_domains[0]"
    assert field_path(()) == ""
    assert field_path((0, "a")) == "[0].a"


def test_an_event_of_the_other_kind_is_refused() -> None:
    assert refused(attempt_event(1).encode()).kind == "poison"
    assert refused(request_event(1).encode(), AttemptEvent).kind == "poison"


def test_a_cache_write_is_a_put_or_a_purge() -> None:
    assert refused(b'{"kind": "forget"}', CacheWrite).field == "kind"


def test_an_embedding_keeps_its_direction() -> None:
    vector = [0.25, -0.5, 0.125]
    kept = Embedding.of("model", vector)
    assert (kept.dimensions, kept.vector()) == (3, vector)


@pytest.mark.parametrize(("dimensions", "packed"), [(2, "AAAA"), (1, "not base64!"), (1, "")])
def test_an_embedding_that_does_not_fit_its_dimensions_is_refused(dimensions: int, packed: str) -> None:
    with pytest.raises(ValueError):
        Embedding(model="model", dimensions=dimensions, float16=packed).vector()


def test_an_inbound_record_is_only_data() -> None:
    record = InboundRecord("topic", 1, 2, None, None, (), 3)
    with pytest.raises(AttributeError):
        record.offset = 5  # type: ignore[misc]
