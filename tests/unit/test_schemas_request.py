"""A request is read strictly: what is wrong is refused by name, nothing is dropped silently, nothing is repeated."""

import json
from typing import Any

import pytest

from groundwire.schemas.record import RecordError
from groundwire.schemas.request import MAX_REQUEST_BYTES, SearchRequest, parse_request


def parsed(**fields: Any) -> SearchRequest:
    return parse_request(json.dumps({"query": "how high is everest", **fields}).encode())


def refused(value: bytes) -> RecordError:
    with pytest.raises(RecordError) as failure:
        parse_request(value)
    return failure.value


def refused_field(**fields: Any) -> tuple[str, str | None]:
    error = refused(json.dumps({"query": "how high is everest", **fields}).encode())
    return error.kind, error.field


def test_a_query_is_enough_and_the_rest_has_the_contracts_defaults() -> None:
    assert parsed().model_dump() == {
        "query": "how high is everest",
        "request_id": None,
        "depth": 5,
        "route": "default",
        "providers": None,
        "freshness": "auto",
        "max_age_s": None,
        "cache": "use",
        "min_similarity": None,
        "language": None,
        "country": None,
        "filters": {
            "include_domains": [],
            "exclude_domains": [],
            "published_after": None,
            "published_before": None,
            "topic": None,
            "safe_search": None,
        },
        "context_tokens": 2000,
        "timeout_s": 15.0,
        "tenant": "default",
        "metadata": {},
    }


def test_the_query_is_kept_as_sent() -> None:
    assert parsed(query="  What\tis   this? ").query == "  What\tis   this? "


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query", "가" * 2000),
        ("query", " " * 30 + "x" * 2000 + " " * 30),
        ("request_id", "r" * 128),
        ("depth", 1),
        ("depth", 20),
        ("providers", ["serper", "exa"]),
        ("freshness", "live"),
        ("max_age_s", 0),
        ("cache", "only"),
        ("min_similarity", 1),
        ("language", "zh-Hant-TW"),
        ("country", "kr"),
        ("context_tokens", 50),
        ("context_tokens", 32_000),
        ("timeout_s", 0.05),
        ("timeout_s", 120),
        ("tenant", "t" * 64),
        ("metadata", {str(number): "x" for number in range(16)}),
        ("filters", {"published_after": "2026-02-28", "topic": "news", "safe_search": "strict"}),
    ],
)
def test_what_the_contract_allows_is_taken(name: str, value: Any) -> None:
    stated = parsed(**{name: value}).model_dump()[name]
    assert stated == value or {**stated, **value} == stated


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("query", "", "query"),
        ("query", " \t\n", "query"),
        ("query", "x" * 2001, "query"),
        ("query", 5, "query"),
        ("query", None, "query"),
        ("request_id", "", "request_id"),
        ("request_id", "r" * 129, "request_id"),
        ("depth", 0, "depth"),
        ("depth", 21, "depth"),
        ("depth", "5", "depth"),
        ("depth", 5.0, "depth"),
        ("depth", True, "depth"),
        ("depth", None, "depth"),
        ("depth", 10**40, "depth"),
        ("route", "", "route"),
        ("providers", [], "providers"),
        ("providers", "serper", "providers"),
        ("providers", ["serper", 5], "providers[1]"),
        ("providers", ["x"] * 17, "providers"),
        ("freshness", "fresh", "freshness"),
        ("max_age_s", -1, "max_age_s"),
        ("max_age_s", 1.5, "max_age_s"),
        ("cache", "USE", "cache"),
        ("min_similarity", 1.01, "min_similarity"),
        ("min_similarity", "0.9", "min_similarity"),
        ("language", "english please", "language"),
        ("country", "USA", "country"),
        ("context_tokens", 49, "context_tokens"),
        ("context_tokens", 32_001, "context_tokens"),
        ("timeout_s", 0.01, "timeout_s"),
        ("timeout_s", 121, "timeout_s"),
        ("tenant", "", "tenant"),
        ("tenant", "t" * 65, "tenant"),
        ("metadata", {"a": 1}, "metadata.a"),
        ("metadata", {str(number): "x" for number in range(17)}, "metadata"),
        ("metadata", [], "metadata"),
        ("filters", {"safe_search": "maybe"}, "filters.safe_search"),
        ("filters", {"published_after": "2026-02-30"}, "filters.published_after"),
        ("filters", {"published_before": "05.12.2026"}, "filters.published_before"),
        ("filters", {"include_domains": ["https://example.org"]}, "filters.include_domains[0]"),
        ("filters", {"exclude_domains": [""]}, "filters.exclude_domains[0]"),
        ("filters", {"include_domains": ["x.org"] * 101}, "filters.include_domains"),
        ("filters", None, "filters"),
    ],
)
def test_what_the_contract_does_not_allow_is_refused_by_its_path(name: str, value: Any, field: str) -> None:
    assert refused_field(**{name: value}) == ("invalid_request", field)


def test_the_query_is_required() -> None:
    error = refused(b"{}")
    assert (error.kind, error.field, error.message) == ("invalid_request", "query", "`query` is required")


def test_an_unknown_field_is_named_first_for_it_is_the_likeliest_slip() -> None:
    error = refused(b'{"querry": "x", "depth": "5"}')
    assert (error.kind, error.field) == ("invalid_request", "querry")
    assert "unknown field `querry`" in error.message


def test_unknown_fields_inside_filters_are_named_by_their_path() -> None:
    assert refused_field(filters={"x-domains": []}) == ("invalid_request", "filters.x-domains")


def test_fields_that_start_with_x_pass() -> None:
    assert parsed(**{"x-trace": {"any": ["thing"]}, "x-": 1}) == parsed()
    assert refused_field(X_trace=1) == ("invalid_request", "X_trace")


def test_domains_are_compared_in_lower_case_without_www() -> None:
    assert parsed(filters={"include_domains": ["WWW.Example.ORG"]}).filters.include_domains == ["example.org"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"\xef\xbb\xbf{}", "invalid_json"),
        ('{"query": "é"}'.encode("latin-1"), "invalid_json"),
        ('{"query": "x"}'.encode("utf-16"), "invalid_json"),
        (b'{"query": NaN}', "invalid_json"),
        (b'{"query": "x", "timeout_s": Infinity}', "invalid_json"),
        (b'{"query": "x", "timeout_s": 1e999}', "invalid_request"),
        (b'{"query": "x", "query": "y"}', "invalid_json"),
        (b'{"query": "x", "filters": {"topic": "news", "topic": "news"}}', "invalid_json"),
        (b'{"query": "x", "depth": ' + b"9" * 5000 + b"}", "invalid_json"),
        (b'{"query": "x", "depth": ' + b"9" * 4000 + b"}", "invalid_request"),
        (b'{"x-deep": ' + b"[" * 30_000 + b"]" * 30_000 + b"}", "invalid_json"),
        (b'{"query": "\\ud800"}', "invalid_json"),
        (b'{"query": "x", "\\udc00": 1}', "invalid_json"),
        (b"[]", "invalid_request"),
        (b'"query"', "invalid_request"),
        (b"null", "invalid_request"),
        (b" " * (MAX_REQUEST_BYTES + 1), "too_large"),
    ],
)
def test_what_is_no_request_at_all_is_refused_with_its_kind(value: bytes, kind: str) -> None:
    assert refused(value).kind == kind


def test_a_request_of_exactly_the_limit_is_read() -> None:
    value = b'{"query": "x"}'
    assert parse_request(value + b" " * (MAX_REQUEST_BYTES - len(value))).query == "x"


def test_half_a_pair_that_has_its_other_half_is_a_character() -> None:
    assert parse_request(b'{"query": "\\ud83d\\ude80"}').query == "🚀"


@pytest.mark.parametrize(
    "document",
    [
        {"query": "secret words", "depth": "secret words"},
        {"query": "secret words" * 500},
        {"query": "x", "filters": {"published_after": "secret words"}},
        {"query": "x", "language": "secret words"},
        {"query": "x", "metadata": {"a": ["secret words"]}},
    ],
)
def test_a_refusal_never_repeats_the_content(document: dict[str, Any]) -> None:
    assert "secret" not in refused(json.dumps(document).encode()).message


@pytest.mark.parametrize("document", [{"y" * 60_000: 1}, {"query": "x", "metadata": {"y" * 60_000: 1}}])
def test_a_name_a_stranger_chose_makes_no_message_long(document: dict[str, Any]) -> None:
    error = refused(json.dumps(document).encode())
    assert len(error.message) < 400
    assert error.field is not None
    assert len(error.field) <= 128


def test_a_duplicate_key_is_named() -> None:
    assert refused(b'{"query": "x", "depth": 1, "depth": 2}').field == "depth"


@pytest.mark.parametrize("field", ["depth", "x-mine"])
def test_a_number_of_thousands_of_digits_is_refused_in_words_of_ours(field: str) -> None:
    value = b'{"query": "tides", "' + field.encode() + b'": ' + b"9" * 5_000 + b"}"
    with pytest.raises(RecordError) as refused:
        parse_request(value)
    assert refused.value.kind == "invalid_json"
    assert refused.value.message == "a number has too many digits; at most 4,300 are read"
