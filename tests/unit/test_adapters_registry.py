"""Loading: a bad file is turned away and named, the rest load; an operator's file may replace a shipped one."""

import os
import re
from pathlib import Path

import pytest

from groundwire.adapters.call import ProviderCall
from groundwire.adapters.registry import Registry, load_specs, shipped_folder
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.configuration import load_settings

ALL = {
    "serper",
    "brightdata",
    "firecrawl",
    "exa",
    "tavily",
    "brave",
    "searxng",
    "perplexity",
    "google_pse",
    "linkup",
    "you",
    "jina",
    "wikipedia",
    "anthropic",
    "openai",
    "gemini",
}
SMALL = """name: {name}
title: Small
about: {about}
request: {{base_url: "https://small.example", params: {{q: "{{query}}"}}, method: GET}}
answer: {{recognise: [r], results: r, url: u, title: t, body: b}}
price: {{rates: [{{usd_per_1000: "0"}}]}}
"""


def write(folder: Path, name: str, about: str = "small") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.yaml"
    file.write_text(SMALL.format(name=name, about=about))
    return file


def test_all_sixteen_are_there_without_a_problem() -> None:
    registry = Registry.load(Settings(), {})
    assert registry.problems == []
    assert set(registry.names()) == ALL


def test_every_provider_of_the_default_routes_exists() -> None:
    routes = load_settings(environ={}).routes
    assert {name for chain in routes.values() for name in chain} <= ALL


def test_each_names_the_variable_that_would_make_it_work() -> None:
    registry = Registry.load(Settings(), {})
    said = {name: registry.get(name).unavailable() for name in registry.names()}
    assert said["serper"] == "no key: set SERPER_API_KEY"
    assert said["brightdata"] == "no key: set BRIGHTDATA_API_KEY"
    assert said["searxng"] == "no base_url: set GROUNDWIRE_PROVIDERS__SEARXNG__BASE_URL"
    assert said["google_pse"] == "no key: set GOOGLE_PSE_API_KEY"
    assert [name for name, reason in said.items() if reason is None] == ["wikipedia"]
    with_key = Registry.load(Settings(), {"BRIGHTDATA_API_KEY": "k-12345678"})
    assert with_key.get("brightdata").unavailable() == "no zone: set BRIGHTDATA_ZONE"


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(KeyError, match="no provider `altavista`; there are anthropic, brave"):
        Registry.load(Settings(), {}).get("altavista")


def test_a_folder_adds_and_replaces(tmp_path: Path) -> None:
    write(tmp_path, "small")
    write(tmp_path, "serper", about="our own")
    registry = Registry.load(Settings(provider_path=[tmp_path]), {})
    assert registry.problems == []
    assert set(registry.names()) == ALL | {"small"}
    assert registry.get("serper").spec.about == "our own"
    assert registry.get("serper").unavailable() is None


def test_folders_come_from_the_environment_too_and_the_last_one_wins(tmp_path: Path) -> None:
    write(tmp_path / "a", "small", about="first")
    write(tmp_path / "b", "small", about="second")
    path = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b"), ""])
    registry = Registry.load(Settings(), {"GROUNDWIRE_PROVIDER_PATH": path})
    assert registry.get("small").spec.about == "second"


def test_a_bad_file_is_turned_away_and_the_rest_load(tmp_path: Path) -> None:
    write(tmp_path, "small")
    (tmp_path / "serper.yaml").write_text("name: serper\n")
    (tmp_path / "ghost.yaml").write_text(SMALL.format(name="ghost", about="x") + "adapter: nobody\n")
    (tmp_path / "notes.txt").write_text("no provider file")
    registry = Registry.load(Settings(provider_path=[tmp_path]), {})
    assert set(registry.names()) == ALL | {"small"}
    assert {problem.file.name for problem in registry.problems} == {"serper.yaml", "ghost.yaml"}
    assert registry.get("serper").spec.title == "Serper"  # the shipped one stays
    assert any("no such module in adapters/dedicated/" in problem.message for problem in registry.problems)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    _, problems = load_specs([tmp_path / "none"])
    assert [(problem.file, problem.message) for problem in problems] == [(tmp_path / "none", "no such folder")]


def test_settings_for_a_provider_that_does_not_exist_are_named() -> None:
    settings = Settings.model_validate({"providers": {"seprer": {"enabled": True}}})
    problems = Registry.load(settings, {}).problems
    assert "providers.seprer: no such provider; there are anthropic" in str(problems[0])


async def test_a_registry_can_be_closed_unused() -> None:
    await Registry.load(Settings(), {}).aclose()


def test_storage_is_off_where_the_vendors_terms_forbid_it_and_an_operator_may_allow_it() -> None:
    registry = Registry.load(Settings(), {})
    forbidden = {name for name in registry.names() if not registry.get(name).storage.allowed}
    assert forbidden == {"brave", "google_pse", "gemini", "exa"}
    assert all(registry.get(name).storage.max_ttl_s == 7 * 86_400 for name in set(registry.names()) - forbidden)
    own = Registry.load(Settings.model_validate({"providers": {"brave": {"storage": {"allowed": True}}}}), {})
    assert (own.get("brave").storage.allowed, own.get("brave").storage.max_ttl_s) == (True, 7 * 86_400)
    short = Registry.load(Settings.model_validate({"providers": {"serper": {"storage": {"max_ttl_s": 0}}}}), {})
    assert short.get("serper").storage.allowed is False


def test_the_list_prices_are_the_published_ones() -> None:
    """USD per 1,000 calls of five results, pay as you go."""
    registry = Registry.load(Settings(), {})
    prices = {
        name: registry.get(name).price_micro_usd(ProviderCall("q", 5, None, None, "slow", Filters()))
        for name in registry.names()
    }
    assert prices == {
        "serper": 1000,
        "brightdata": 1500,
        "firecrawl": 7000,
        "exa": 7000,
        "tavily": 8000,
        "brave": 5000,
        "searxng": 0,
        "perplexity": 5000,
        "google_pse": 5000,
        "linkup": 5000,
        "you": 5000,
        "jina": 500,
        "wikipedia": 0,
        "anthropic": 10_000,
        "openai": 10_000,
        "gemini": 14_000,
    }


def test_keys_go_into_headers_never_into_addresses() -> None:
    specs, _ = load_specs([])
    for spec in specs.values():
        for place in (spec.request.path, spec.request.base_url or "", spec.request.params, spec.request.body or {}):
            assert "{key}" not in str(place), spec.name


def test_the_shipped_files_name_their_schema_in_the_first_line() -> None:
    for file in shipped_folder().glob("*.yaml"):
        first = file.read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=../provider.schema.json", file


def test_no_vendors_name_stands_outside_its_own_files() -> None:
    """A vendor is one YAML file and, at most, one module of its own."""
    root = shipped_folder().parent.resolve()
    names = re.compile(rf"\b(?:{'|'.join(sorted(ALL - {'you'}))}|googleapis|claude|gpt|x-brd\S*)\b", re.IGNORECASE)
    found = {str(path.relative_to(root)): names.findall(path.read_text()) for path in root.glob("*.py")}
    assert {file: words for file, words in found.items() if words} == {}
