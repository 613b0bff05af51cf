"""What shares an answer and what does not."""

from typing import Any

import pytest

from groundwire.schemas.plan import Plan
from groundwire.schemas.settings import Settings
from groundwire.streams.stages.normalize import Normalize
from tests.unit.stage_fakes import (
    DAY_MS,
    KEEP_FOR_ONE_TENANT,
    NOON_MS,
    FakeDirectory,
    FakeProvider,
    plan_of,
    request_record,
)

BASE: dict[str, Any] = {"query": "Paris weather", "freshness": "slow"}


def plan(
    changes: dict[str, Any] | None = None, *providers: FakeProvider, at_ms: int = NOON_MS, scope: str = "shared"
) -> Plan:
    providers = providers or (FakeProvider("alpha"), FakeProvider("beta"))
    settings = Settings.model_validate({"routes": {"default": [p.name for p in providers]}, "cache": {"scope": scope}})
    normalize = Normalize(settings, FakeDirectory(*providers))
    return plan_of(normalize(request_record({**BASE, **(changes or {})}, timestamp_ms=at_ms), at_ms))


def key(changes: dict[str, Any] | None = None, *providers: FakeProvider, **more: Any) -> str:
    return plan(changes, *providers, **more).chain[0].cache_key


@pytest.mark.parametrize(
    "changes",
    [
        {"query": "Paris weather in May"},
        {"query": "Paris Texas weather"},
        {"depth": 6},
        {"providers": ["beta"]},
        {"language": "fr"},
        {"country": "FR"},
        {"freshness": "static"},
        {"filters": {"include_domains": ["example.org"]}},
        {"filters": {"exclude_domains": ["example.org"]}},
        {"filters": {"published_after": "2026-01-01"}},
        {"filters": {"published_before": "2026-01-01"}},
        {"filters": {"topic": "news"}},
        {"filters": {"safe_search": "strict"}},
    ],
)
def test_whatever_may_change_the_answer_changes_the_key(changes: dict[str, Any]) -> None:
    assert key(changes) != key()


@pytest.mark.parametrize(
    "changes",
    [
        {"query": " PARIS  weather? "},
        {"context_tokens": 500},
        {"timeout_s": 3},
        {"tenant": "other"},
        {"metadata": {"a": "b"}},
        {"max_age_s": 5},
        {"min_similarity": 0.99},
        {"cache": "refresh"},
        {"request_id": "r"},
        {"route": "default"},
        {"x-trace": "1"},
    ],
)
def test_what_changes_only_the_reply_leaves_the_key_alone(changes: dict[str, Any]) -> None:
    assert key(changes) == key()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"language": "en-US"}, {"language": "en-us"}),
        ({"country": "kr"}, {"country": "KR"}),
        (
            {"filters": {"include_domains": ["a.org", "b.org"]}},
            {"filters": {"include_domains": ["b.org", "www.A.org"]}},
        ),
        ({"filters": {}}, {}),
    ],
)
def test_other_spellings_of_the_same_options_share_a_key(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert key(one) == key(other)


def test_the_depth_in_the_key_is_the_one_the_vendor_can_serve() -> None:
    small = FakeProvider("alpha", max_depth=10)
    assert key({"depth": 15}, small) == key({"depth": 10}, small)


def test_the_facet_leaves_the_text_out_and_keeps_everything_else() -> None:
    one, other = plan().chain[0], plan({"query": "Rome weather"}).chain[0]
    assert one.facet == other.facet
    assert one.cache_key != other.cache_key
    assert plan({"depth": 6}).chain[0].facet != one.facet


def test_wordings_judged_static_and_slow_may_be_compared_and_never_share_a_key() -> None:
    auto = {"freshness": "auto"}
    static, slow = plan({**auto, "query": "who wrote the song"}), plan({**auto, "query": "who is the mayor of Oslo"})
    assert (static.freshness, slow.freshness) == ("static", "slow")
    assert static.chain[0].facet == slow.chain[0].facet
    daily = plan({**auto, "query": "price of oat milk"})
    assert daily.chain[0].facet != slow.chain[0].facet


def test_a_class_that_the_caller_wished_is_compared_with_the_same_wish_only() -> None:
    facets = {
        plan({"freshness": wish, "query": "who is the mayor of Oslo"}).chain[0].facet
        for wish in ("auto", "static", "slow", "daily", "live")
    }
    assert len(facets) == 5
    assert key({"freshness": "auto", "query": "who is the mayor of Oslo"}) == key({"query": "who is the mayor of Oslo"})


@pytest.mark.parametrize(
    "query", ["Paris weather today", "latest Paris weather", "current Paris weather", "파리 날씨 오늘"]
)
def test_yesterdays_answer_to_a_question_of_today_has_another_key(query: str) -> None:
    assert key({"query": query}) != key({"query": query}, at_ms=NOON_MS + DAY_MS)
    assert key({"query": query}) == key({"query": query}, at_ms=NOON_MS + 60_000)


def test_a_question_without_relative_words_keeps_its_key_over_the_days() -> None:
    assert key() == key(at_ms=NOON_MS + 400 * DAY_MS)


def test_tenants_share_unless_the_operator_or_the_vendor_says_no() -> None:
    assert key({"tenant": "a"}) == key({"tenant": "b"})
    assert key({"tenant": "a"}, scope="tenant") != key({"tenant": "b"}, scope="tenant")
    private = FakeProvider("alpha", storage=KEEP_FOR_ONE_TENANT)
    assert key({"tenant": "a"}, private) != key({"tenant": "b"}, private)


def test_a_changed_request_or_mapping_or_option_of_the_provider_file_changes_the_key() -> None:
    other_mapping = {
        "answer": {"recognise": ["rows"], "results": "items", "url": "url", "title": "title", "body": "body"}
    }
    assert key(None, FakeProvider("alpha", spec_changes=other_mapping)) != key(None, FakeProvider("alpha"))
    with_option = FakeProvider("alpha")
    with_option.adapter.options["search_depth"] = "advanced"
    assert key(None, with_option) != key(None, FakeProvider("alpha"))


def test_a_changed_price_leaves_the_answers_where_they_are() -> None:
    dearer = {"price": {"rates": [{"usd_per_1000": "9"}]}, "timeout_s": 3.0}
    assert key(None, FakeProvider("alpha", spec_changes=dearer)) == key(None, FakeProvider("alpha"))
