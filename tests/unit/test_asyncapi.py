"""The published contract is a valid AsyncAPI document, whole, and says the same as the code."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from jsonschema.protocols import Validator

from groundwire.schemas.headers import CORRELATION, REPLY_PARTITION, REPLY_TOPIC, read_headers
from groundwire.schemas.record import RecordError
from groundwire.schemas.reply import SearchReply
from groundwire.schemas.request import parse_request
from groundwire.schemas.topics import TOPICS
from groundwire.streams.faces.asyncapi import document

OWN_SCHEMA = Path(__file__).resolve().parents[1] / "data" / "asyncapi" / "asyncapi-3.0.0.json"


@pytest.fixture(scope="module")
def contract() -> dict[str, Any]:
    return document()


@pytest.fixture(scope="module")
def asyncapi_itself() -> Validator:
    return Draft7Validator(json.loads(OWN_SCHEMA.read_text(encoding="utf-8")))


def _payload_validator(contract: dict[str, Any], name: str) -> Validator:
    return Draft7Validator({"$ref": f"#/components/schemas/{name}", "components": contract["components"]})


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _resolve(contract: dict[str, Any], reference: str) -> Any:
    node: Any = contract
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def test_the_document_is_valid_by_asyncapis_own_schema(contract: dict[str, Any], asyncapi_itself: Validator) -> None:
    assert [error.message[:300] for error in asyncapi_itself.iter_errors(contract)] == []


@pytest.mark.parametrize(
    "path",
    [("info", "title"), ("channels", "requests", "address"), ("operations", "answerRequests", "action")],
)
def test_asyncapis_schema_sees_a_wrong_type(
    contract: dict[str, Any], asyncapi_itself: Validator, path: tuple[str, ...]
) -> None:
    wrong = copy.deepcopy(contract)
    _resolve(wrong, "/".join(path[:-1]))[path[-1]] = 7
    assert not asyncapi_itself.is_valid(wrong)


def test_the_document_is_plain_json_and_the_same_every_time(contract: dict[str, Any]) -> None:
    assert json.loads(json.dumps(contract, allow_nan=False)) == document()


def test_every_reference_leads_somewhere(contract: dict[str, Any]) -> None:
    references = set(_references(contract))
    assert len(references) > len(TOPICS)
    for reference in references:
        assert isinstance(_resolve(contract, reference), dict), reference


def test_no_schema_is_left_that_nothing_uses(contract: dict[str, Any]) -> None:
    used = {reference.rpartition("/")[2] for reference in _references(contract) if "/schemas/" in reference}
    assert used == set(contract["components"]["schemas"])


def test_every_payload_schema_is_json_schema_draft_07(contract: dict[str, Any]) -> None:
    for name, schema in contract["components"]["schemas"].items():
        Draft7Validator.check_schema(schema)
        assert "prefixItems" not in json.dumps(schema), f"{name} holds a keyword that draft-07 passes over"


def test_every_topic_is_a_channel_with_its_settings(contract: dict[str, Any]) -> None:
    channels = {channel["address"]: channel for channel in contract["channels"].values()}
    assert list(channels) == [topic.name for topic in TOPICS]
    for topic in TOPICS:
        kafka = channels[topic.name]["bindings"]["kafka"]
        assert kafka["partitions"] == topic.partitions
        assert kafka["topicConfiguration"]["retention.ms"] == topic.retention_ms
        assert kafka["topicConfiguration"]["max.message.bytes"] == topic.max_bytes
        payloads = {message["payload"]["$ref"] for message in channels[topic.name]["messages"].values()}
        assert payloads == {f"#/components/schemas/{model.__name__}" for model in topic.models}


def test_every_writer_sends_and_every_reader_receives(contract: dict[str, Any]) -> None:
    said = {
        (operation["action"], _resolve(contract, operation["channel"]["$ref"])["address"], tag["name"])
        for operation in contract["operations"].values()
        for tag in operation["tags"]
    }
    outside = {"producer", "consumer", "operator"}
    assert said == {
        (action, topic.name, role)
        for topic in TOPICS
        for action, roles in (("send", topic.writers), ("receive", topic.readers))
        for role in roles
        if role not in outside
    }


@pytest.mark.parametrize("suffix", ["", "Spring", "FastStream"])
def test_each_dialect_has_its_headers_and_its_reply(contract: dict[str, Any], suffix: str) -> None:
    dialect = {"": "groundwire", "Spring": "spring", "FastStream": "faststream"}[suffix]
    operation = contract["operations"][f"answerRequests{suffix}"]
    request = _resolve(contract, operation["messages"][0]["$ref"])
    reply = _resolve(contract, operation["reply"]["messages"][0]["$ref"])
    names = {CORRELATION[dialect], REPLY_TOPIC[dialect], "traceparent"}  # type: ignore[index]
    if dialect in REPLY_PARTITION:
        names.add(REPLY_PARTITION[dialect])  # type: ignore[index]
    if dialect == "groundwire":
        names.add("deadline")
    assert set(request["headers"]["properties"]) == names
    assert set(reply["headers"]["properties"]) == {CORRELATION[dialect], "traceparent"}  # type: ignore[index]
    assert request["correlationId"]["location"] == f"$message.header#/{CORRELATION[dialect]}"  # type: ignore[index]
    assert operation["reply"]["address"]["location"] == f"$message.header#/{REPLY_TOPIC[dialect]}"  # type: ignore[index]


def test_the_examples_are_valid_by_the_document_and_by_the_code(contract: dict[str, Any]) -> None:
    request = contract["channels"]["requests"]["messages"]["SearchRequest"]["examples"][0]
    reply = contract["channels"]["replies"]["messages"]["SearchReply"]["examples"][0]
    _payload_validator(contract, "SearchRequest").validate(request["payload"])
    _payload_validator(contract, "SearchReply").validate(reply["payload"])
    parse_request(json.dumps(request["payload"]).encode())
    SearchReply.decode(json.dumps(reply["payload"]).encode())
    headers = read_headers(tuple((name, text.encode()) for name, text in request["headers"].items()))
    assert headers.reply_topic == "search.replies.v1"
    assert headers.warnings == ()


@pytest.mark.parametrize(
    ("payload", "valid"),
    [
        ({"query": "a"}, True),
        ({"query": "a", "x-anything": {"goes": True}}, True),
        ({}, False),
        ({"query": "a", "dept": 3}, False),
        ({"query": "a", "depth": 0}, False),
        ({"query": "a", "depth": 21}, False),
        ({"query": "a", "depth": "5"}, False),
        ({"query": "a", "providers": []}, False),
        ({"query": "a", "freshness": "fresh"}, False),
        ({"query": "a", "filters": {"topic": "sports"}}, False),
        ({"query": "a", "filters": {"unknown": 1}}, False),
        ({"query": "a", "country": "KOR"}, False),
        ({"query": "a", "timeout_s": 0}, False),
        ({"query": "a", "metadata": {"n": 1}}, False),
        ({"query": "a", "language": "ko", "country": "KR", "cache": "only", "min_similarity": 1}, True),
    ],
)
def test_the_document_and_the_code_refuse_the_same_requests(
    contract: dict[str, Any], payload: dict[str, Any], valid: bool
) -> None:
    try:
        parse_request(json.dumps(payload).encode())
        accepted = True
    except RecordError:
        accepted = False
    assert accepted is valid
    assert _payload_validator(contract, "SearchRequest").is_valid(payload) is valid


def test_a_reply_may_grow_a_field_without_breaking_its_readers(contract: dict[str, Any]) -> None:
    reply = copy.deepcopy(contract["channels"]["replies"]["messages"]["SearchReply"]["examples"][0]["payload"])
    reply["added_later"] = True
    reply["results"][0]["added_later"] = True
    assert _payload_validator(contract, "SearchReply").is_valid(reply)
    del reply["status"]
    assert not _payload_validator(contract, "SearchReply").is_valid(reply)
