"""How long an answer may be kept."""

import pytest

from groundwire.lake.cache.expiry import domain_matches, ttl_s
from groundwire.schemas.settings import CacheSettings


@pytest.mark.parametrize(
    ("freshness", "seconds"), [("static", 2_592_000), ("slow", 604_800), ("daily", 86_400), ("live", 60)]
)
def test_each_class_has_its_own_ttl(freshness: str, seconds: int) -> None:
    assert ttl_s(CacheSettings(), provider="serper", freshness=freshness) == seconds  # type: ignore[arg-type]


def test_the_shortest_of_class_provider_and_domain_wins() -> None:
    settings = CacheSettings(
        ttl_s={"slow": 500}, ttl_provider_s={"exa": 400}, ttl_domain_s={"*.example.org": 300, "example.net": 200}
    )

    def ttl(provider: str, *domains: str, cap_s: int | None = None) -> int:
        return ttl_s(settings, provider=provider, freshness="slow", domains=domains, cap_s=cap_s)

    assert ttl("serper") == 500
    assert ttl("exa") == 400
    assert ttl("exa", "other.test") == 400
    assert ttl("exa", "docs.example.org", "other.test") == 300
    assert ttl("exa", "docs.example.org", "example.net") == 200
    assert ttl("exa", "sub.example.net") == 400


def test_storage_terms_cap_everything_and_never_lengthen() -> None:
    settings = CacheSettings()
    assert ttl_s(settings, provider="exa", freshness="static", cap_s=3600) == 3600
    assert ttl_s(settings, provider="exa", freshness="live", cap_s=3600) == 60
    assert ttl_s(settings, provider="exa", freshness="live", cap_s=0) == 0


@pytest.mark.parametrize(
    ("host", "pattern", "matches"),
    [
        ("example.org", "example.org", True),
        ("www.example.org", "example.org", True),
        ("docs.example.org", "example.org", False),
        ("docs.example.org", "*.example.org", True),
        ("a.docs.example.org", "*.example.org", True),
        ("example.org", "*.example.org", True),
        ("notexample.org", "*.example.org", False),
        ("EXAMPLE.org.", "Example.ORG", True),
    ],
)
def test_a_pattern_is_a_host_or_everything_below_a_domain(host: str, pattern: str, matches: bool) -> None:
    assert domain_matches(host, pattern) is matches
