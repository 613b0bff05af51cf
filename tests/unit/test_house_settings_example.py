"""groundwire.example.yaml is the operator's page on settings: complete, true, and a settings file that loads."""

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from groundwire.schemas.settings import ProviderSettings, Settings, TenantSettings
from groundwire.streams.runtime.configuration import load_settings

EXAMPLE = Path(__file__).resolve().parents[2] / "groundwire.example.yaml"


def _example() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    return document


def _group_in(kind: Any) -> tuple[type[BaseModel] | None, bool]:
    """The group of settings that an annotation holds, if any, and whether it is a mapping of names to such groups."""
    named = typing.get_origin(kind) is dict
    inner = typing.get_args(kind)[1] if named else kind
    return (inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None), named


def _keys_of(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield (*path, name)
        group, named = _group_in(field.annotation)
        if group is not None:
            yield from _keys_of(group, (*path, name, "*") if named else (*path, name))


def _keys_in(document: dict[str, Any], model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in document.items():
        yield (*path, name)
        field = model.model_fields.get(name)
        group, named = _group_in(None if field is None else field.annotation)
        if group is not None:
            for each in value.values() if named else [value]:
                yield from _keys_in(each, group, (*path, name, "*") if named else (*path, name))


def test_every_setting_stands_in_the_example_and_nothing_else_does() -> None:
    assert sorted(set(_keys_in(_example(), Settings))) == sorted(set(_keys_of(Settings)))


def test_the_settings_are_in_the_order_of_the_code() -> None:
    assert list(_keys_in(_example(), Settings)) == list(_keys_of(Settings))


def test_the_values_shown_are_the_defaults() -> None:
    shown = Settings.model_validate(_example())
    assert shown.providers == {"serper": ProviderSettings()}
    assert shown.tenants == {"default": TenantSettings()}
    assert shown.model_copy(update={"providers": {}, "tenants": {}}) == load_settings(environ={})


def test_every_paragraph_of_settings_begins_with_its_explanation() -> None:
    paragraphs = EXAMPLE.read_text(encoding="utf-8").strip().split("\n\n")
    assert [paragraph for paragraph in paragraphs if not paragraph.lstrip().startswith("#")] == []
