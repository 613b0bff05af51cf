"""The table of topics is whole: every topic once, written and read by somebody, large enough for what it carries."""

from pydantic import BaseModel

from groundwire.schemas.record import Record
from groundwire.schemas.request import MAX_REQUEST_BYTES, SearchRequest
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import PAYLOADS, REQUESTS, ROLES, TOPICS


def test_names_are_unique_and_versioned() -> None:
    names = [topic.name for topic in TOPICS]
    assert len(set(names)) == len(names)
    assert all(name.startswith("search.") and name.endswith(".v1") for name in names)


def test_every_topic_is_written_and_read_by_a_known_party() -> None:
    known = {*ROLES, "producer", "consumer", "operator"}
    for topic in TOPICS:
        assert topic.writers
        assert topic.readers
        assert {*topic.writers, *topic.readers} <= known, topic.name


def test_every_role_reads_something() -> None:
    assert {reader for topic in TOPICS for reader in topic.readers} >= set(ROLES)


def test_what_travels_between_roles_is_a_versioned_record() -> None:
    models = {model for topic in TOPICS for model in topic.models}
    assert {model for model in models if not issubclass(model, Record)} == {SearchRequest}
    assert all(issubclass(model, BaseModel) for model in models)


def test_a_record_too_large_to_be_a_request_still_reaches_us_to_be_answered() -> None:
    assert REQUESTS.max_bytes > 16 * MAX_REQUEST_BYTES


def test_the_largest_answer_a_vendor_may_give_fits_the_payloads() -> None:
    assert PAYLOADS.max_bytes >= 2 * Settings().fetch.max_answer_bytes


def test_every_topic_keeps_its_records_for_a_day_at_least() -> None:
    assert all(topic.retention_ms >= 86_400_000 and topic.partitions >= 1 for topic in TOPICS)
