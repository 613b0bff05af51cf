"""Records of version 1 are read for ever, and one of a version nobody knows yet says so."""

import json
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from groundwire.schemas.record import Record, RecordError
from groundwire.schemas.request import SearchRequest, parse_request
from groundwire.schemas.topics import TOPICS, TopicSpec

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "records"
FILES = sorted(GOLDEN.glob("*/*.json"))


def _topic(file: Path) -> TopicSpec:
    return next(topic for topic in TOPICS if topic.name == file.parent.name)


def _read(file: Path) -> BaseModel:
    """The record as the model of its topic reads it; where a topic has several, the one its `kind` names."""
    value = file.read_bytes()
    models = _topic(file).models
    if models == (SearchRequest,):
        return parse_request(value)
    kind = json.loads(value).get("kind")
    model = next(m for m in models if len(models) == 1 or m.model_fields["kind"].default == kind)  # type: ignore[attr-defined]
    assert issubclass(model, Record)
    return model.decode(value)


def _holds(now: Any, then: Any) -> bool:
    """Everything that stood in the old document stands in the new one; more may."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(name in now and _holds(now[name], value) for name, value in then.items())
    if isinstance(then, list):
        return isinstance(now, list) and len(now) == len(then) and all(map(_holds, now, then))
    return bool(now == then)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_record_of_version_1_is_read_with_nothing_lost(file: Path) -> None:
    then = json.loads(file.read_bytes())
    now = json.loads(_read(file).model_dump_json())
    assert _holds(now, {name: value for name, value in then.items() if not name.startswith("x-")})


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_record_whose_field_got_another_type_is_refused(file: Path) -> None:
    """The counter-proof: reading is strict, so the test above can fail."""
    spoiled = json.loads(file.read_bytes())
    name = next(name for name in spoiled if name not in {"version", "kind"} and not name.startswith("x-"))
    spoiled[name] = {"not": ["what", "it", "was"]}
    with pytest.raises(RecordError):
        if _topic(file).models == (SearchRequest,):
            parse_request(json.dumps(spoiled).encode())
        else:
            for model in _topic(file).models:
                model.decode(json.dumps(spoiled).encode())  # type: ignore[attr-defined]


def _words(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Every (field, word) that a model or one inside it may hold."""
    for name, field in model.model_fields.items():
        waiting = [field.annotation]
        while waiting:
            kind = waiting.pop()
            if typing.get_origin(kind) is typing.Literal:
                yield from ((name, word) for word in typing.get_args(kind))
            elif isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _words(kind)
            else:
                waiting += typing.get_args(kind)


def _words_in(document: Any) -> Iterator[tuple[str, str]]:
    if isinstance(document, dict):
        for name, value in document.items():
            if isinstance(value, str):
                yield name, value
            else:
                yield from _words_in(value)
    elif isinstance(document, list):
        for value in document:
            yield from _words_in(value)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_topic_has_golden_records_of_every_kind(topic: TopicSpec) -> None:
    files = [file for file in FILES if file.parent.name == topic.name]
    assert files
    said = {word for file in files for word in _words_in(json.loads(file.read_bytes()))}
    kinds = {"kind", "outcome", "status"}
    wanted = {
        (name, word)
        for model in topic.models
        if issubclass(model, BaseModel)
        for name, word in _words(model)
        if name in kinds
    }
    assert sorted(wanted - said) == []


@pytest.mark.parametrize(
    "model",
    [model for topic in TOPICS for model in topic.models if issubclass(model, Record)],
    ids=lambda model: model.__name__,
)
def test_a_record_of_a_later_version_says_what_to_do(model: type[Record]) -> None:
    later = json.dumps({"version": model.VERSION + 1, "a field of the future": True}).encode()
    with pytest.raises(RecordError) as refused:
        model.decode(later)
    assert refused.value.kind == "future_version"
    assert "upgrade the workers, then replay" in refused.value.message
