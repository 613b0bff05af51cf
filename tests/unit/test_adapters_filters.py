"""Filters and languages: sent, put into the query, applied here, or a reason; never dropped in silence."""

from typing import Any

import pytest

from groundwire.adapters.call import MappedResult, ProviderCall
from groundwire.adapters.filters import filters_here, keep_matching, query_with_operators, unfit_for, warnings_for
from groundwire.adapters.locality import Code, country_code, language_code, language_of_script
from groundwire.adapters.spec import CountrySpec, LanguageSpec, ProviderSpec
from groundwire.schemas.request import Filters


def spec(**parts: Any) -> ProviderSpec:
    return ProviderSpec.model_validate(
        {
            "name": "acme",
            "title": "Acme",
            "about": "x",
            "request": {"base_url": "https://a.example", "body": {"q": "{query}"}},
            "answer": {"recognise": ["r"], "results": "r", "url": "u", "title": "t", "body": "b"},
            "price": {},
            **parts,
        }
    )


def call(query: str = "q", language: str | None = None, country: str | None = None, **filters: Any) -> ProviderCall:
    return ProviderCall(query, 5, language, country, "slow", Filters(**filters))


def test_operators_follow_the_query() -> None:
    both = spec(capabilities={"include_domains": "operator", "exclude_domains": "operator"})
    asked = call(" q ", include_domains=["a.example", "b.example"], exclude_domains=["c.example", "d.example"])
    assert query_with_operators(both, asked) == "q site:a.example OR site:b.example -site:c.example -site:d.example"
    assert query_with_operators(spec(), asked) == "q"


def test_operators_count_against_the_vendors_limit() -> None:
    limited = spec(capabilities={"include_domains": "operator"}, limits={"max_query_chars": 20, "max_query_words": 3})
    assert unfit_for(limited, call("word " * 3)) is None
    assert "20" in (unfit_for(limited, call("words", include_domains=["long-domain.example"])) or "")
    assert unfit_for(limited, call("a b c d")) == "the query has 4 words; Acme takes at most 3"


def test_too_many_domains_for_the_vendor() -> None:
    limited = spec(limits={"max_domains": 2})
    assert unfit_for(limited, call(include_domains=["a.example", "b.example"])) is None
    assert unfit_for(limited, call(exclude_domains=["a.example", "b.example", "c.example"])) == (
        "3 domains in a filter; Acme takes at most 2"
    )


@pytest.mark.parametrize(
    ("wanted", "fits"), [("acme.example", True), ("en.acme.example", True), ("example", True), ("other.example", False)]
)
def test_a_vendor_with_a_world_of_its_own(wanted: str, fits: bool) -> None:
    own = spec(capabilities={"only_domains": ["acme.example"]})
    reason = unfit_for(own, call(include_domains=[wanted]))
    assert (reason is None) == fits
    assert reason in (None, "its results all lie in acme.example")


def test_dates_are_checked_where_a_result_has_one() -> None:
    results = [
        MappedResult("", f"https://a.example/{day}", "", day or None, None)
        for day in ("2026-11-01", "2026-11-15T23:00:00Z", "2026-12-01", "")
    ]
    kept = keep_matching(Filters(published_after="2026-11-01", published_before="2026-11-30"), results)
    assert [result.published_at for result in kept] == ["2026-11-01", "2026-11-15T23:00:00Z", None]
    local = spec(capabilities={"published": "local"})
    assert warnings_for(local, call(published_after="2026-11-01")) == [
        "acme: results without a date are kept unchecked by published_after and published_before"
    ]
    assert filters_here(local, Filters(published_before="2026-11-01"))
    assert not filters_here(spec(capabilities={"published": "native"}), Filters(published_before="2026-11-01"))


def test_domains_are_checked_on_every_result() -> None:
    results = [
        MappedResult("", url, "", None, None)
        for url in (
            "https://www.a.example/",
            "http://b.a.example:8080/x",
            "https://aa.example/",
            "https://x.example/?a.example",
        )
    ]
    assert len(keep_matching(Filters(include_domains=["a.example"]), results)) == 2
    assert len(keep_matching(Filters(exclude_domains=["a.example"]), results)) == 2
    assert len(keep_matching(Filters(include_domains=["a.example"], exclude_domains=["b.a.example"]), results)) == 1
    assert keep_matching(Filters(), results) == results


def test_languages_a_vendor_does_not_know_are_a_warning() -> None:
    knows = spec(
        capabilities={"language": "native", "country": "native"},
        locale={"language": {"only": ["en"]}, "country": {"only": ["us"]}},
    )
    assert warnings_for(knows, call(language="xx", country="zz")) == [
        "acme: language `xx` is not used; this provider does not know it",
        "acme: country `zz` is not used; this provider does not know it",
    ]
    assert warnings_for(knows, call(language="en-GB", country="US")) == []


@pytest.mark.parametrize(
    ("spec", "language", "code"),
    [
        (LanguageSpec(), "en-GB", Code("en")),
        (LanguageSpec(send="full", case="keep"), "en-GB", Code("en-GB")),
        (LanguageSpec(send="full"), "en-GB", Code("en-gb")),
        (LanguageSpec(case="upper"), "en", Code("EN")),
        (LanguageSpec(map={"zh": "zh-hans", "zh-tw": "zh-hant"}), "zh-TW", Code("zh-hant")),
        (LanguageSpec(map={"zh": "zh-hans"}), "zh-Hans-CN", Code("zh-hans")),
        (LanguageSpec(map={"ja": "JP"}), "ja", Code("JP")),
        (LanguageSpec(only=["en"], default="en"), "ko", Code("en", unknown=True)),
        (LanguageSpec(default="en"), None, Code("en")),
        (LanguageSpec(), None, Code(None)),
        (LanguageSpec(guess=True, only=["en"], default="en"), None, Code("en")),
    ],
)
def test_a_language_in_the_vendors_own_codes(spec: LanguageSpec, language: str | None, code: Code) -> None:
    assert language_code(spec, language, "한국어") == code


@pytest.mark.parametrize(
    ("spec", "country", "code"),
    [
        (CountrySpec(), "US", Code("us")),
        (CountrySpec(case="upper"), "us", Code("US")),
        (CountrySpec(map={"us": "united states"}), "US", Code("united states")),
        (CountrySpec(only=["us"], default="us"), "kr", Code("us", unknown=True)),
        (CountrySpec(default="de"), None, Code("de")),
    ],
)
def test_a_country_in_the_vendors_own_codes(spec: CountrySpec, country: str | None, code: Code) -> None:
    assert country_code(spec, country) == code


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("에펠탑 높이", "ko"),
        ("東京タワー", "ja"),
        ("埃菲尔铁塔", "zh"),
        ("башня", "ru"),
        ("برج", "ar"),
        ("מגדל", "he"),
        ("หอ", "th"),
        ("tower", None),
        ("μ 5", None),
    ],
)
def test_a_script_tells_the_language(text: str, language: str | None) -> None:
    assert language_of_script(text) == language
