"""What YAML can't say: turns that pause, addresses that forward, envelopes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from groundwire.adapters.call import CallOutcome, ProviderCall
from groundwire.adapters.citations import Sources, sentence_before
from groundwire.adapters.errors import BadAnswer, WireError
from groundwire.adapters.fixtures import PLANTED_KEY
from groundwire.adapters.http import CannedTransport, HttpAnswer, HttpRequest
from groundwire.adapters.registry import Registry, load_specs
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings

SPECS, _ = load_specs([])
CALL = ProviderCall("q", 5, None, None, "slow", Filters())

Answers = Callable[[HttpRequest], HttpAnswer]


async def ask(
    name: str, respond: Answers, options: dict[str, str] | None = None
) -> tuple[CallOutcome, list[str], list[str]]:
    """(outcome, addresses of its results, their bodies)."""
    settings = Settings.model_validate({"providers": {name: {"api_keys": [PLANTED_KEY], "options": options or {}}}})
    provider = Registry.of({name: SPECS[name]}, [], settings, {}, transport=CannedTransport(respond)).get(name)
    outcome = await provider.call(CALL, 5.0)
    results = provider.results(outcome.body, CALL, 0) if outcome.body and outcome.outcome == "ok" else []
    return outcome, [result.url for result in results], [result.body for result in results]


def answer(status: int = 200, **body: Any) -> HttpAnswer:
    return HttpAnswer(status, {"content-type": "application/json"}, json.dumps(body).encode())


# ---- a turn that pauses ------------------------------------------------------------------------------------------------------

SEARCHED = {"type": "web_search_tool_result", "content": [{"url": "https://a.example/", "title": "A"}]}
PAUSED = {
    "type": "message",
    "stop_reason": "pause_turn",
    "content": [SEARCHED],
    "usage": {"input_tokens": 1000, "output_tokens": 100, "server_tool_use": {"web_search_requests": 1}},
}
REST = {
    "type": "message",
    "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "x", "citations": [{"url": "https://a.example/", "cited_text": "cited"}]}],
    "usage": {"input_tokens": 2000, "output_tokens": 200, "server_tool_use": {"web_search_requests": 1}},
}


class Turns:
    def __init__(self, *answers: HttpAnswer | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[Any] = []

    def __call__(self, request: HttpRequest) -> HttpAnswer:
        self.sent.append(json.loads(request.body or b"{}"))
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


async def test_a_paused_turn_is_continued_and_every_turn_is_paid_once() -> None:
    turns = Turns(answer(**PAUSED), answer(**REST))
    outcome, urls, bodies = await ask("anthropic", turns)
    assert (outcome.outcome, urls, bodies) == ("ok", ["https://a.example/"], ["cited"])
    # two searches, 3,000 tokens read and 300 written
    assert outcome.cost.micro_usd == 20_000 + 9_000 + 4_500
    assert turns.sent[1]["messages"] == [turns.sent[0]["messages"][0], {"role": "assistant", "content": [SEARCHED]}]


async def test_a_turn_that_never_ends_is_left_after_three() -> None:
    turns = Turns(answer(**PAUSED), answer(**PAUSED), answer(**PAUSED))
    outcome, urls, _ = await ask("anthropic", turns)
    assert (outcome.outcome, len(turns.sent), urls) == ("ok", 3, ["https://a.example/"])
    assert outcome.cost.micro_usd == 3 * (10_000 + 3_000 + 1_500)


@pytest.mark.parametrize(
    ("second", "micro_usd"),
    [
        (WireError("timeout", "no whole answer", reached=True), None),
        (HttpAnswer(200, {}, b"<html>"), None),
        (answer(429, type="error", error={"type": "rate_limit_error"}), 14_500),
        (answer(200, type="error"), 14_500),
        (answer(**{**REST, "usage": None}), None),
    ],
)
async def test_what_was_found_before_a_turn_failed_is_kept(
    second: HttpAnswer | Exception, micro_usd: int | None
) -> None:
    outcome, urls, _ = await ask("anthropic", Turns(answer(**PAUSED), second))
    assert (outcome.outcome, urls, outcome.cost.micro_usd) == ("ok", ["https://a.example/"], micro_usd)
    assert outcome.cost.source == ("unknown" if micro_usd is None else "answer")


# ---- addresses that forward ---------------------------------------------------------------------------------------------------

FORWARD = "https://vertexaisearch.example/grounding-api-redirect/"
GROUNDED = {
    "candidates": [
        {
            "content": {"parts": [{"text": "One. Two."}]},
            "groundingMetadata": {
                "webSearchQueries": ["q"],
                "groundingChunks": [
                    {"web": {"uri": f"{FORWARD}1", "title": "a.example"}},
                    {"web": {"uri": f"{FORWARD}2", "title": "a.example"}},
                    {"web": {"uri": f"{FORWARD}3", "title": "c.example"}},
                    {"web": {"uri": "https://d.example/own", "title": "d.example"}},
                ],
                "groundingSupports": [
                    {"segment": {"text": "One."}, "groundingChunkIndices": [0]},
                    {"segment": {"text": "Two."}, "groundingChunkIndices": [1, 2]},
                ],
            },
        }
    ],
    "usageMetadata": {"promptTokenCount": 0},
}


def forwarding(asked: list[str]) -> Answers:
    def respond(request: HttpRequest) -> HttpAnswer:
        if not request.url.startswith(FORWARD):
            return answer(**GROUNDED)
        asked.append(request.url)
        assert PLANTED_KEY not in repr(dict(request.headers))
        where = {"1": "https://a.example/page?utm_source=x", "2": "http://www.a.example/page/"}.get(request.url[-1])
        return HttpAnswer(302, {"location": where}, b"") if where else HttpAnswer(404, {}, b"")

    return respond


async def test_forwarding_addresses_are_kept_unless_the_operator_wants_them_looked_up() -> None:
    asked: list[str] = []
    _, urls, bodies = await ask("gemini", forwarding(asked))
    assert urls == [f"{FORWARD}1", f"{FORWARD}2", f"{FORWARD}3", "https://d.example/own"]
    assert bodies == ["One.", "Two.", "Two.", ""]
    assert asked == []


async def test_looked_up_addresses_are_one_page_when_they_lead_to_one() -> None:
    asked: list[str] = []
    outcome, urls, bodies = await ask("gemini", forwarding(asked), {"redirects": "resolve"})
    assert sorted(asked) == [f"{FORWARD}{n}" for n in (1, 2, 3)]
    assert urls == ["https://a.example/page", f"{FORWARD}3", "https://d.example/own"]
    assert bodies[0] == "One."
    assert json.loads(outcome.body or "")["candidates"] == GROUNDED["candidates"]


async def test_a_private_address_is_never_looked_up() -> None:
    inside = json.loads(json.dumps(GROUNDED).replace("https://vertexaisearch.example", "http://169.254.169.254"))
    asked: list[str] = []

    def respond(request: HttpRequest) -> HttpAnswer:
        asked.append(request.url)
        return answer(**inside)

    await ask("gemini", respond, {"redirects": "resolve"})
    assert len(asked) == 1


# ---- envelopes --------------------------------------------------------------------------------------------------------------


async def bright(text: str) -> CallOutcome:
    settings = Settings.model_validate(
        {"providers": {"brightdata": {"api_keys": [PLANTED_KEY], "options": {"zone": "z", "format": "json"}}}}
    )
    transport = CannedTransport(lambda _: HttpAnswer(200, {}, text.encode()))
    provider = Registry.of({"brightdata": SPECS["brightdata"]}, [], settings, {}, transport=transport).get("brightdata")
    return await provider.call(CALL, 5.0)


def wrapped(body: Any, status: Any = 200, headers: Any = None) -> str:
    return json.dumps({"status_code": status, "headers": headers, "body": body})


GOOD_BODY = json.dumps({"organic": [{"link": "https://a.example/", "title": "A"}]})


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (wrapped(GOOD_BODY), "ok"),
        (wrapped(json.loads(GOOD_BODY)), "ok"),
        (wrapped(wrapped(GOOD_BODY)), "ok"),
        (json.dumps(GOOD_BODY), "ok"),
        (wrapped(wrapped(wrapped(wrapped(GOOD_BODY)))), "bad_answer"),
        (wrapped(""), "bad_answer"),
        (wrapped(None), "bad_answer"),
        (wrapped([1]), "bad_answer"),
        (wrapped("[]"), "bad_answer"),
        (wrapped(GOOD_BODY[:-4]), "bad_answer"),
        (wrapped(GOOD_BODY, status="200"), "ok"),
        (wrapped("", status=401), "auth"),
        (wrapped("", status=429), "rate_limited"),
        (wrapped("", status=302), "bad_answer"),
        (wrapped("no such zone: zone not found", status=400), "auth"),
        (wrapped("", status=503, headers={"x-brd-error": ["first", "second"], "n": 5}), "server_error"),
        (wrapped("{}", status=500, headers="odd"), "server_error"),
    ],
)
async def test_an_envelope_is_opened_and_what_is_inside_counts(text: str, outcome: str) -> None:
    assert (await bright(text)).outcome == outcome


async def test_a_header_that_is_given_twice_counts_once() -> None:
    found = await bright(wrapped("", status=503, headers={"x-brd-error": ["first", "second"]}))
    assert found.reason == "503: failed: first"


# ---- citations --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "end", "sentence"),
    [
        ("One. Two three (link)", 15, "Two three"),
        ("One! Two? Three", 15, "Three"),
        ("- item one\n- item two", 21, "item two"),
        ("첫째。둘째", 5, "둘째"),
        ("short", 0, ""),
        ("short", -3, ""),
        ("Only one.", 9, "Only one."),
        ("A sentence that ends. ", 22, "A sentence that ends."),
    ],
)
def test_a_citation_stands_behind_the_sentence_before_it(text: str, end: int, sentence: str) -> None:
    assert sentence_before(text, end) == sentence


def test_pages_are_listed_once_the_cited_ones_first() -> None:
    sources = Sources()
    sources.found("https://a.example/", "A", ["x"])
    sources.cited("https://b.example/", "from b", "B")
    sources.cited("https://b.example/", "from b")
    sources.cited("https://b.example/", "more")
    rows = sources.rows(["the answer"])
    assert [(row.url, row.title, row.body) for row in rows] == [
        ("https://b.example/", "B", "from b … more"),
        ("https://a.example/", "A", ""),
    ]


def test_sources_without_an_address_are_a_bad_answer_unless_one_has_it() -> None:
    nothing = Sources()
    nothing.found(None, "A")
    nothing.cited(5, "x")
    with pytest.raises(BadAnswer, match="2 sources, none with an address"):
        nothing.rows()
    nothing.found("https://a.example/")
    assert len(nothing.rows()) == 1
    assert Sources().rows(["text"]) == []
