"""Settings refuse what they don't know, and fill in what is not said."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from groundwire.schemas.settings import TTL_DEFAULT_S, Settings


def settings(**groups: Any) -> Settings:
    return Settings.model_validate(groups)


def test_nothing_has_to_be_set() -> None:
    found = settings()
    assert found.brokers is None
    assert (found.lake_path, found.cache_path) == (Path(".groundwire/lake"), Path(".groundwire/cache"))
    assert (found.routes, found.routes_by_freshness) == ({}, {})
    assert found.cache.ttl_s == TTL_DEFAULT_S


def test_state_lives_in_the_home_unless_it_is_told_where() -> None:
    found = settings(home="/srv/groundwire", lake={"path": "/data/lake"})
    assert (found.lake_path, found.cache_path) == (Path("/data/lake"), Path("/srv/groundwire/cache"))


def test_a_class_of_questions_can_only_take_a_route_that_there_is() -> None:
    routes = {"default": ["alpha"], "fast": ["beta"]}
    assert settings(routes=routes, routes_by_freshness={"live": "fast"}).routes_by_freshness == {"live": "fast"}
    with pytest.raises(ValidationError, match="no route `fats`; there are: default, fast"):
        settings(routes=routes, routes_by_freshness={"live": "fats"})
    with pytest.raises(ValidationError):
        settings(routes=routes, routes_by_freshness={"soon": "fast"})


def test_one_ttl_does_not_forget_the_others() -> None:
    assert settings(cache={"ttl_s": {"live": 5}}).cache.ttl_s == {**TTL_DEFAULT_S, "live": 5}


@pytest.mark.parametrize(
    ("groups", "path"),
    [
        ({"surprise": 1}, "surprise"),
        ({"cache": {"surprise": 1}}, "cache.surprise"),
        ({"cache": {"semantic": {"min_similarity": 1.5}}}, "cache.semantic.min_similarity"),
        ({"providers": {"Serper!": {}}}, "providers.Serper!.[key]"),
        ({"providers": {"serper": {"base_url": "example.org"}}}, "providers.serper.base_url"),
        ({"providers": {"serper": {"timeout_s": 0}}}, "providers.serper.timeout_s"),
        ({"routes": {"empty": []}}, "routes"),
        ({"lake": {"query_text": "some"}}, "lake.query_text"),
        ({"report": {"search_share": -0.1}}, "report.search_share"),
        ({"kafka": {"security_protocol": "TLS"}}, "kafka.security_protocol"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_path(groups: dict[str, Any], path: str) -> None:
    with pytest.raises(ValidationError) as failure:
        settings(**groups)
    [error] = failure.value.errors()
    assert ".".join(str(part) for part in error["loc"]) == path


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080/serper", "https://proxy.example.org", None])
def test_a_providers_address_is_an_http_one(address: str | None) -> None:
    assert settings(providers={"serper": {"base_url": address}}).providers["serper"].base_url == address


def test_keys_and_passwords_are_not_shown() -> None:
    found = settings(providers={"serper": {"api_keys": ["sk-hush"]}}, kafka={"sasl_password": "hush"})
    assert "hush" not in repr(found)
    assert "hush" not in found.model_dump_json()
    assert found.providers["serper"].api_keys[0].get_secret_value() == "sk-hush"
