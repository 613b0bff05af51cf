"""What a purge forgets, by each of its fields."""

from pathlib import Path
from typing import Any

import pytest

from groundwire.lake.cache.purge import domain_labels, matches
from groundwire.schemas.cache_write import Purge
from groundwire.schemas.reply import Result
from tests.unit.cache_views import NOW_MS, batch, entry, keys_in, opened, purge, put, settings_in

KEYS = ["plain", "quote's", "exa", "tenant", "old", "below", "new"]


def changes() -> list[Any]:
    return [
        put("plain"),
        put("quote's", query="it's 100% |odd|"),
        put("exa", provider="exa"),
        put("tenant", tenant="acme"),
        put("old", stored_at_ms=NOW_MS - 5000),
        put("below", domain="a.b.example.net"),
        put("new", stored_at_ms=NOW_MS + 10),
    ]


PURGES = [
    ({"query": "plain"}, {"plain"}),
    ({"query": "it's 100% |odd|"}, {"quote's"}),
    ({"provider": "exa"}, {"exa"}),
    ({"tenant": "acme"}, {"tenant"}),
    ({"before_ms": NOW_MS - 4000}, {"old"}),
    ({"domain": "example.net"}, {"below"}),
    ({"domain": "b.example.net"}, {"below"}),
    ({"domain": "*.Example.NET"}, {"below"}),
    ({"domain": "ample.net"}, set()),
    ({"domain": "%"}, set()),
    ({"provider": "serper", "tenant": "acme"}, {"tenant"}),
    ({"provider": "exa", "tenant": "acme"}, set()),
    # Everything, but what was stored after the purge was asked for.
    ({}, set(KEYS) - {"new"}),
]


@pytest.mark.parametrize(("fields", "forgotten"), PURGES)
async def test_a_purge_forgets_what_matches_all_its_fields(
    tmp_path: Path, fields: dict[str, Any], forgotten: set[str]
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*changes()))
    writer.apply(batch(purge(**fields), begin=len(KEYS)))
    writer.close()
    assert await keys_in(settings, KEYS) == set(KEYS) - forgotten


@pytest.mark.parametrize(("fields", "forgotten"), PURGES)
async def test_a_purge_in_the_same_batch_forgets_the_same(
    tmp_path: Path, fields: dict[str, Any], forgotten: set[str]
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*changes(), purge(**fields)))
    writer.close()
    assert await keys_in(settings, KEYS) == set(KEYS) - forgotten


async def test_an_answer_stored_again_behind_a_purge_stays(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a"), purge(), put("a", stored_at_ms=NOW_MS + 5), put("b")))
    writer.close()
    assert await keys_in(settings, ["a", "b"]) == {"a", "b"}


async def test_a_purged_answer_does_not_bring_an_older_one_back(tmp_path: Path) -> None:
    """The older answer lies under the newer one and does not match the purge itself."""
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a", provider="exa"), put("b", provider="exa")))
    writer.apply(batch(put("a", provider="serper"), begin=2))
    writer.apply(batch(purge(provider="serper"), begin=3))
    writer.apply(batch(put("b", provider="serper"), purge(provider="serper"), begin=4))
    writer.close()
    assert await keys_in(settings, ["a", "b"]) == set()
    opened(settings).close()  # reads the files anew
    assert await keys_in(settings, ["a", "b"]) == set()


def test_a_results_address_without_a_host_has_no_domain_to_purge_by() -> None:
    odd = entry("a", results=[Result(index=1, title="", url="https://[broken", body="", provider="p")])
    assert domain_labels(odd) == "|"
    assert not matches(Purge(domain="broken", requested_at_ms=NOW_MS + 1), odd)


def test_domains_are_kept_with_everything_above_them_once() -> None:
    results = [
        Result(index=at, title="", url=url, body="", provider="p")
        for at, url in enumerate(["https://Docs.Example.org:8443/x", "https://example.org/y"], 1)
    ]
    assert domain_labels(entry("a", results=results)) == "|docs.example.org|example.org|org|"
