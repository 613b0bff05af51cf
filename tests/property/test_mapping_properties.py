"""For any JSON at all, and any bytes, mapping gives results or one classified error: never an exception, never a blind index."""

import asyncio
import json
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire.adapters.call import ProviderCall
from groundwire.adapters.errors import BadAnswer
from groundwire.adapters.fixtures import ANSWERED_AT, fixture_provider
from groundwire.adapters.http import HttpAnswer
from groundwire.adapters.reading import decode_text, read_json
from groundwire.adapters.registry import load_specs
from groundwire.schemas.request import Filters

SPECS, _ = load_specs([])
ANSWERED_MS = int(ANSWERED_AT.timestamp() * 1000)
CALL = ProviderCall("q", 5, None, None, "slow", Filters(exclude_domains=["x.example"]))
DATED = ProviderCall("q", 5, None, None, "slow", Filters(exclude_domains=["x.example"], published_after="2020-01-01"))
LOOP = asyncio.Runner()
PROVIDERS = {name: fixture_provider(spec, HttpAnswer(200, {}, b""), []) for name, spec in SPECS.items()}
QUICK = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["https://a.example/", "http://[::1", "3 days ago", "2026-11-02", "<b>x</b>&amp;", "\ud800", "\u202e", "9" * 50]
    )
)


def words_of(name: str) -> list[str]:
    """Keys that this vendor's answers have, so that the search comes past the first check."""
    spec = SPECS[name]
    paths = [
        *spec.answer.recognise,
        *spec.answer.results,
        *spec.answer.url,
        *spec.answer.title,
        *spec.answer.body,
        *spec.answer.published,
        *spec.messages,
    ]
    found = {
        word for path in paths for word in path.replace("[", ".").replace("]", ".").split(".") if word.isidentifier()
    }
    native = {
        "content",
        "type",
        "text",
        "citations",
        "annotations",
        "action",
        "sources",
        "candidates",
        "groundingMetadata",
        "groundingChunks",
        "groundingSupports",
        "groundingChunkIndices",
        "segment",
        "web",
        "uri",
        "usage",
        "status",
        "stop_reason",
        "web_search_tool_result",
        "cited_text",
        "start_index",
        "promptFeedback",
        "finishReason",
        "resolved",
    }
    return sorted(found | (native if spec.kind == "native" else set()) | {"status_code", "body", "headers", "error"})


@cache
def answer_of(name: str) -> st.SearchStrategy[tuple[str, Any]]:
    """(vendor, JSON that resembles one of its answers more or less)."""
    anything = json_for(name)
    alike = st.fixed_dictionaries(dict.fromkeys(SPECS[name].answer.recognise[:3], anything))
    return st.tuples(st.just(name), anything | alike)


def json_for(name: str) -> st.SearchStrategy[Any]:
    words = st.sampled_from(words_of(name))
    kinds = st.sampled_from(["web_search_tool_result", "text", "message", "web_search_call", "url_citation", "search"])
    leaves = scalars | kinds
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
        max_leaves=15,
    )


a_vendor_and_json = st.sampled_from(sorted(SPECS)).flatmap(answer_of)


@settings(QUICK, max_examples=250)
@given(a_vendor_and_json)
def test_any_json_gives_results_or_a_bad_answer(drawn: tuple[str, Any]) -> None:
    name, document = drawn
    try:
        results = PROVIDERS[name].results(json.dumps(document), DATED, ANSWERED_MS)
    except BadAnswer as error:
        assert str(error)
        return
    assert len(results) <= DATED.depth
    for result in results:
        assert result.url.startswith(("http://", "https://"))
        for text in (result.title, result.body, result.url):
            text.encode("utf-8")
            assert "\u202e" not in text
        assert result.published_at is None or len(result.published_at) >= 10
        assert result.score is None or result.score == result.score


OUTCOMES = {"ok", "empty", "rate_limited", "quota", "auth", "rejected", "server_error", "bad_answer", "timeout"}


@settings(QUICK, max_examples=250)
@given(a_vendor_and_json, st.sampled_from([200, 200, 200, 203, 202, 302, 400, 401, 429, 500]))
def test_any_json_makes_exactly_one_outcome_whose_results_can_be_read_again(
    drawn: tuple[str, Any], status: int
) -> None:
    name, document = drawn
    answer = HttpAnswer(status, {"content-type": "application/json"}, json.dumps(document).encode())
    provider = fixture_provider(SPECS[name], answer, [])
    outcome = LOOP.run(provider.call(CALL, 5.0))
    assert outcome.outcome in OUTCOMES
    assert "not foreseen" not in (outcome.reason or "")
    assert (outcome.cost.micro_usd is None) == (outcome.cost.source == "unknown")
    assert outcome.cost.micro_usd is None or 0 <= outcome.cost.micro_usd < 2**62
    if outcome.outcome in ("ok", "empty"):
        assert outcome.body is not None
        assert len(provider.results(outcome.body, CALL, ANSWERED_MS)) == outcome.results
        assert (outcome.results > 0) == (outcome.outcome == "ok")


@QUICK
@given(st.binary(max_size=200), st.text(max_size=40))
def test_any_bytes_are_text_or_a_bad_answer(body: bytes, content_type: str) -> None:
    text = decode_text(body, content_type)
    text.encode("utf-8")
    try:
        read_json(text)
    except BadAnswer as error:
        assert str(error)
