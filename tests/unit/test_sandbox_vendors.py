"""Each vendor of the sandbox by itself: what it refuses and how, what it answers, and what it bills."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.adapters.sandbox.library import Library
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.vendors import VENDORS
from groundwire.adapters.sandbox.wire import Answer, Asked

LIBRARY = Library()
VENDOR: dict[str, Vendor] = {vendor.name: vendor(LIBRARY) for vendor in VENDORS}
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
QUESTION = "how does photosynthesis work"
BEARER = {"authorization": "Bearer sandbox-key"}
SERP = f"https://www.google.com/search?q={quote(QUESTION)}&brd_json=1"

POSTS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "serper": ("/search", {"x-api-key": "k"}, {"q": QUESTION}),
    "brightdata": ("/request", BEARER, {"zone": "z", "url": SERP, "format": "raw"}),
    "firecrawl": ("/v2/search", BEARER, {"query": QUESTION}),
    "exa": ("/search", {"x-api-key": "k"}, {"query": QUESTION, "contents": {"text": True, "highlights": True}}),
    "tavily": ("/search", BEARER, {"query": QUESTION}),
    "perplexity": ("/search", BEARER, {"query": QUESTION}),
    "linkup": ("/v1/search", BEARER, {"q": QUESTION, "depth": "standard", "outputType": "searchResults"}),
    "you": ("/v1/search", {"x-api-key": "k"}, {"query": QUESTION}),
    "jina": ("/", BEARER | {"accept": "application/json"}, {"q": QUESTION}),
    "anthropic": (
        "/v1/messages",
        {"x-api-key": "k", "anthropic-version": "2023-06-01"},
        {
            "model": "claude-sonnet-5",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": QUESTION}],
            "tools": [{"type": "web_search_20250305", "name": "web_search"}],
        },
    ),
    "openai": (
        "/v1/responses",
        BEARER,
        {
            "model": "gpt-5.2",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}],
            "tools": [{"type": "web_search"}],
        },
    ),
    "gemini": (
        "/v1beta/models/gemini-3-flash-preview:generateContent",
        {"x-goog-api-key": "k"},
        {"contents": [{"parts": [{"text": QUESTION}]}], "tools": [{"google_search": {}}]},
    ),
}
GETS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "brave": ("/res/v1/web/search", {"x-subscription-token": "k"}, {"q": QUESTION}),
    "searxng": ("/search", {}, {"q": QUESTION, "format": "json"}),
    "google_pse": ("/customsearch/v1", {"x-goog-api-key": "k"}, {"q": QUESTION, "cx": "x"}),
    "wikipedia": (
        "/w/api.php",
        {"user-agent": "tests"},
        {"action": "query", "format": "json", "generator": "search", "gsrsearch": QUESTION, "prop": "extracts|info",
         "inprop": "url", "explaintext": "1", "formatversion": "2"},
    ),
}  # fmt: skip


def asked(name: str, **changed: Any) -> Asked:
    """A sound request to the vendor; a changed field of None is left out."""
    path, headers, fields = POSTS[name] if name in POSTS else GETS[name]
    merged = {key: value for key, value in {**fields, **changed}.items() if value is not None}
    if name in GETS:
        return Asked("GET", path, params=merged, headers=headers, now=NOW)
    return Asked("POST", path, headers=headers, body=json.dumps(merged).encode(), now=NOW)


def ask(name: str, **changed: Any) -> Answer:
    return VENDOR[name].answer(asked(name, **changed))


def read(answer: Answer) -> Any:
    return json.loads(answer.body)


EVERY = sorted(VENDOR)
KEYED = sorted(set(EVERY) - {"wikipedia", "searxng"})


def test_all_sixteen_are_here() -> None:
    assert sorted([*POSTS, *GETS]) == EVERY
    assert len(EVERY) == 16


# --- what holds for every vendor


@pytest.mark.parametrize("name", EVERY)
def test_a_sound_request_is_answered_from_the_corpus(name: str) -> None:
    answer = ask(name)
    assert answer.status == 200
    assert answer.query == QUESTION
    assert "Photosynthesis is how plants" in answer.body.decode().replace("<strong>", "").replace("</strong>", "")
    assert answer.micro_usd is not None


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("key", ["", "invalid-key", "exhausted-key"])
def test_a_bad_key_opens_nothing_and_costs_nothing(name: str, key: str) -> None:
    request = asked(name)
    headers = {
        header: (f"Bearer {key}" if value.startswith("Bearer") else key)
        for header, value in request.headers.items()
        if header not in ("accept", "anthropic-version")
    }
    answer = VENDOR[name].answer(replace(request, headers={**request.headers, **headers}))
    vendor = VENDOR[name]
    expected = vendor.quota.status if "exhausted" in key else vendor.auth.status
    assert answer.status in (expected, 403)
    assert 400 <= answer.status < 500
    assert answer.micro_usd is None


@pytest.mark.parametrize("name", EVERY)
def test_nothing_found_is_said_in_the_vendors_own_way(name: str) -> None:
    answer = VENDOR[name].answer(replace(asked(name), empty=True))
    body = read(answer)
    match name:
        case "serper" | "brightdata":
            assert "organic" not in body
        case "firecrawl":
            assert body["data"] == {}
            assert (body["creditsUsed"], answer.micro_usd) == (0, 0)
        case "exa" | "tavily" | "perplexity" | "searxng":
            assert body["results"] == []
        case "brave":
            assert "web" not in body
        case "google_pse":
            assert "items" not in body
            assert body["searchInformation"]["totalResults"] == "0"
        case "you":
            assert body["results"] == {}
        case "wikipedia":
            assert body == {"batchcomplete": True}
        case "linkup":
            assert (answer.status, body["error"]["code"]) == (400, "SEARCH_QUERY_NO_RESULT")
        case "jina":
            assert (answer.status, body["name"]) == (422, "AssertionFailureError")
        case "anthropic":
            assert body["content"][1]["content"] == []
        case "openai":
            assert body["output"][-1]["content"][0]["annotations"] == []
        case "gemini":
            assert "groundingChunks" not in body["candidates"][0]["groundingMetadata"]
    assert (answer.micro_usd is None) == (name in ("linkup", "jina"))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("status", [202, 400, 401, 402, 403, 404, 408, 422, 429, 432, 433, 500, 502, 503, 504, 529])
def test_every_status_comes_in_the_vendors_own_shape(name: str, status: int) -> None:
    answer = VENDOR[name].failure(status)
    assert answer.status == status
    assert answer.micro_usd is None
    assert answer.body
    if answer.content_type == "application/json":
        assert isinstance(read(answer), dict)


@pytest.mark.parametrize("name", EVERY)
def test_a_failure_can_hide_in_a_200(name: str) -> None:
    answer = VENDOR[name].masked(asked(name))
    assert answer.status == 200
    assert b"Photosynthesis" not in answer.body


@pytest.mark.parametrize("name", EVERY)
def test_another_path_or_method_is_not_found(name: str) -> None:
    request = replace(asked(name), path="/elsewhere/deep", method="DELETE")
    assert VENDOR[name].answer(request).status in (404, 405)


@given(
    name=st.sampled_from(EVERY),
    body=st.one_of(st.binary(max_size=40), st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
            st.sampled_from(["q", "query", "url", "num", "model", "messages", "input", "contents", "tools", "parts", "text"]),
            inner, max_size=5),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_whatever_is_sent_is_answered(name: str, body: bytes) -> None:
    answer = VENDOR[name].answer(replace(asked(name), body=body))
    assert 200 <= answer.status < 500
    assert answer.status == 200 or answer.micro_usd is None


@given(
    name=st.sampled_from(sorted(POSTS)),
    field=st.integers(0, 6),
    value=st.sampled_from([None, 5, -1, [], {}, "", "x", [None], True, 1e9]),
)
@settings(max_examples=150, deadline=None)
def test_a_sound_request_with_one_wrong_field_is_answered_or_refused(name: str, field: int, value: object) -> None:
    path, headers, fields = POSTS[name]
    wrong = sorted(fields)[field % len(fields)]
    body = json.dumps({**fields, wrong: value}).encode()
    answer = VENDOR[name].answer(Asked("POST", path, headers=headers, body=body, now=NOW))
    assert 200 <= answer.status < 500


# --- what each refuses


@pytest.mark.parametrize(
    ("name", "changed", "status", "said"),
    [
        ("serper", {"q": None}, 400, "Missing query parameter"),
        ("serper", {"q": "x" * 2049}, 400, "too long"),
        ("serper", {"num": "10"}, 400, "Invalid"),
        ("brightdata", {"zone": None}, 400, '"zone" is required'),
        ("brightdata", {"format": "xml"}, 400, "must be one of"),
        ("brightdata", {"url": "https://www.google.com/search?q="}, 400, "query is missing"),
        ("brightdata", {"url": "ftp://x"}, 400, "valid URL"),
        ("brightdata", {"url": "https://shop.example/?q=x"}, 400, "search engines"),
        ("brightdata", {"url": "https://yandex.com/search/?text=x&brd_json=1"}, 400, "JSON output is not supported"),
        ("firecrawl", {"query": "x" * 501}, 400, "at most 500"),
        ("firecrawl", {"query": None}, 400, "Required"),
        ("firecrawl", {"limit": "5"}, 400, "Expected number"),
        ("firecrawl", {"limit": 101}, 400, "between 1 and 100"),
        ("firecrawl", {"includeDomains": ["a.example"], "excludeDomains": ["b.example"]}, 400, "cannot both"),
        ("firecrawl", {"sources": ["films"]}, 400, "Invalid source"),
        ("firecrawl", {"made_up": 1}, 400, "Unrecognized key"),
        ("exa", {"type": "magic"}, 400, "INVALID_REQUEST_BODY"),
        ("exa", {"numResults": 0}, 400, "INVALID_NUM_RESULTS"),
        ("exa", {"numResults": 101}, 400, "NUM_RESULTS_EXCEEDED"),
        ("exa", {"startPublishedDate": "soon"}, 400, "Invalid date"),
        ("tavily", {"query": "x" * 401}, 400, "Max query length is 400 characters"),
        ("tavily", {"query": "가" * 401}, 400, "Max query length is 400 characters"),
        ("tavily", {"query": None}, 422, "Field required"),
        ("tavily", {"query": 5}, 422, "valid string"),
        ("tavily", {"query": " "}, 400, "missing"),
        ("tavily", {"max_results": 21}, 400, "max_results"),
        ("tavily", {"max_results": "5"}, 422, "valid integer"),
        ("tavily", {"country": "us"}, 400, "Invalid country"),
        ("tavily", {"search_depth": "deep"}, 400, "search depth"),
        ("tavily", {"topic": "sport"}, 400, "topic"),
        ("tavily", {"time_range": "decade"}, 400, "time range"),
        ("tavily", {"start_date": "1.2.2026"}, 400, "start_date"),
        ("tavily", {"include_domains": ["a.example"] * 301}, 400, "Max 300"),
        ("brave", {"q": "x" * 401}, 422, "VALIDATION"),
        ("brave", {"q": "word " * 51}, 422, "VALIDATION"),
        ("brave", {"count": "21"}, 422, "VALIDATION"),
        ("brave", {"offset": "10"}, 422, "VALIDATION"),
        ("brave", {"search_lang": "ja"}, 422, "VALIDATION"),
        ("brave", {"country": "XX"}, 422, "VALIDATION"),
        ("brave", {"freshness": "lately"}, 422, "VALIDATION"),
        ("searxng", {"q": ""}, 400, "No query"),
        ("searxng", {"format": "csv"}, 403, "permission"),
        ("searxng", {"pageno": "0"}, 400, "pageno"),
        ("searxng", {"time_range": "decade"}, 400, "time_range"),
        ("perplexity", {"query": ["a"] * 6}, 422, "1 to 5"),
        ("perplexity", {"max_results": 21}, 422, "max_results"),
        ("perplexity", {"search_type": "slow"}, 422, "search_type"),
        ("perplexity", {"search_domain_filter": ["a.example", "-b.example"]}, 422, "cannot be mixed"),
        ("perplexity", {"search_domain_filter": ["a.example"] * 21}, 422, "at most 20"),
        ("perplexity", {"search_recency_filter": "decade"}, 422, "search_recency_filter"),
        ("perplexity", {"search_after_date_filter": "2026-01-02"}, 422, "MM/DD/YYYY"),
        ("google_pse", {"num": "11"}, 400, "invalid argument"),
        ("google_pse", {"start": "92"}, 400, "invalid argument"),
        ("google_pse", {"cx": None}, 400, "invalid argument"),
        ("linkup", {"q": " "}, 400, "q should not be empty"),
        ("linkup", {"depth": "abyss"}, 400, "depth must be one of"),
        ("linkup", {"outputType": "poem"}, 400, "outputType"),
        ("linkup", {"outputType": "structured"}, 400, "JSON string"),
        ("linkup", {"maxResults": 0}, 400, "maxResults"),
        ("linkup", {"fromDate": "soon"}, 400, "fromDate"),
        ("you", {"query": None}, 422, "Field required"),
        ("you", {"count": 0}, 422, "between 1 and 100"),
        ("you", {"offset": "x"}, 422, "valid integer"),
        ("you", {"freshness": "lately"}, 422, "freshness"),
        ("jina", {"q": None}, 400, "q is required"),
        ("jina", {"num": 21}, 400, "between 0 and 20"),
        ("wikipedia", {"gsrsearch": ""}, 200, "missingparam"),
        ("wikipedia", {"gsrlimit": "x"}, 200, "badinteger"),
        ("wikipedia", {"action": "edit"}, 200, "badvalue"),
        ("anthropic", {"model": "claudius"}, 404, "not_found_error"),
        ("anthropic", {"model": None}, 400, "model: Field required"),
        ("anthropic", {"max_tokens": None}, 400, "max_tokens"),
        ("anthropic", {"messages": []}, 400, "messages"),
        ("anthropic", {"tools": [{"type": "web_search_20250305", "allowed_domains": ["a"], "blocked_domains": ["b"]}]},
         400, "only one of"),
        ("openai", {"model": "gtp-5"}, 404, "model_not_found"),
        ("openai", {"input": None}, 400, "Missing required parameter"),
        ("gemini", {"contents": []}, 400, "contents is not specified"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_refused_as_the_vendor_refuses_it(
    name: str, changed: dict[str, Any], status: int, said: str
) -> None:
    answer = ask(name, **changed)
    assert answer.status == status
    assert said in answer.body.decode()
    assert answer.micro_usd is None


def test_anthropic_wants_its_version_header() -> None:
    request = asked("anthropic")
    answer = VENDOR["anthropic"].answer(replace(request, headers={"x-api-key": "k"}))
    assert (answer.status, "anthropic-version" in answer.body.decode()) == (400, True)


def test_gemini_does_not_sell_every_model() -> None:
    path = "/v1beta/models/gemini-9-giga:generateContent"
    assert VENDOR["gemini"].answer(replace(asked("gemini"), path=path)).status == 404


def test_google_keys_may_come_in_the_address_and_a_missing_one_is_forbidden() -> None:
    request = asked("google_pse", key="in-address")
    assert VENDOR["google_pse"].answer(replace(request, headers={})).status == 200
    assert VENDOR["google_pse"].answer(replace(asked("google_pse"), headers={})).status == 403
    assert VENDOR["gemini"].answer(replace(asked("gemini"), headers={})).status == 403


def test_a_tavily_key_may_come_in_the_body() -> None:
    request = replace(asked("tavily", api_key="tvly-old"), headers={})
    assert VENDOR["tavily"].answer(request).status == 200
    assert VENDOR["tavily"].answer(replace(request, body=b"{")).status == 401


def test_tavily_keeps_to_dates_and_tells_the_usage() -> None:
    rows = read(ask("tavily", topic="news", start_date="2026-11-02", end_date="2026-11-02"))["results"]
    assert {row["published_date"] for row in rows} == {"Mon, 02 Nov 2026 06:12:00 GMT"}
    assert read(ask("tavily", include_favicon=True, time_range="year"))["results"][0]["favicon"]
    usage = Asked("GET", "/usage", headers=BEARER)
    assert read(VENDOR["tavily"].answer(usage))["key"]["limit"] is None


def test_wikipedia_wants_to_know_who_asks() -> None:
    assert VENDOR["wikipedia"].answer(replace(asked("wikipedia"), headers={})).status == 403


# --- what each bills


@pytest.mark.parametrize(
    ("name", "changed", "micro_usd"),
    [
        ("serper", {"num": 10}, 1_000),
        ("serper", {"num": 20}, 2_000),
        ("brightdata", {}, 1_500),
        ("firecrawl", {"limit": 10}, 2 * 3_500),
        ("firecrawl", {"limit": 11}, 4 * 3_500),
        ("firecrawl", {"limit": 3, "scrapeOptions": {"formats": ["markdown"]}}, 5 * 3_500),
        ("exa", {}, 7_000),
        ("exa", {"numResults": 25}, 7_000 + 15 * 1_000),
        ("exa", {"type": "deep"}, 12_000),
        ("exa", {"type": "instant"}, 4_000),
        ("exa", {"numResults": 3, "contents": {"summary": True}}, 7_000 + 3 * 1_000),
        ("tavily", {}, 8_000),
        ("tavily", {"search_depth": "advanced"}, 16_000),
        ("brave", {}, 5_000),
        ("perplexity", {}, 5_000),
        ("perplexity", {"search_type": "fast"}, 1_000),
        ("perplexity", {"query": ["a", "b", "c"]}, 5_000),
        ("google_pse", {}, 5_000),
        ("linkup", {}, 5_000),
        ("linkup", {"depth": "deep"}, 50_000),
        ("you", {}, 5_000),
        ("jina", {}, 500),
        ("jina", {"num": 20}, 1_000),
        ("wikipedia", {}, 0),
        ("searxng", {}, 0),
    ],
)
def test_a_call_costs_what_the_price_list_says(name: str, changed: dict[str, Any], micro_usd: int) -> None:
    assert ask(name, **changed).micro_usd == micro_usd


def test_an_answer_that_states_its_cost_states_what_is_billed() -> None:
    assert read(ask("serper", num=20))["credits"] == 2
    assert read(ask("firecrawl", limit=11))["creditsUsed"] == 4
    assert read(ask("exa", numResults=11))["costDollars"]["total"] == 0.008
    assert read(ask("tavily", include_usage=True))["usage"] == {"credits": 1}
    assert "usage" not in read(ask("tavily"))
    jina = ask("jina", num=20)
    assert read(jina)["meta"]["usage"]["tokens"] == int(jina.headers["X-Usage-Tokens"]) == 20_000


@pytest.mark.parametrize("name", ["anthropic", "openai", "gemini"])
def test_a_model_bills_its_searches_and_its_tokens_to_the_micro_dollar(name: str) -> None:
    body = read(ask(name))
    match name:
        case "anthropic":
            usage, fee = body["usage"], 10_000 * body["usage"]["server_tool_use"]["web_search_requests"]
            tokens = 3 * usage["input_tokens"] + 15 * usage["output_tokens"]
        case "openai":
            calls = [item for item in body["output"] if item["type"] == "web_search_call"]
            fee = 10_000 * sum(call["action"]["type"] == "search" for call in calls)
            tokens = (7 * body["usage"]["input_tokens"] + 56 * body["usage"]["output_tokens"]) // 4
        case _:
            usage = body["usageMetadata"]
            fee = 14_000 * len(body["candidates"][0]["groundingMetadata"]["webSearchQueries"])
            tokens = (usage["promptTokenCount"] + 6 * usage["candidatesTokenCount"]) // 2
    assert ask(name).micro_usd == fee + tokens
    assert fee > 0


@pytest.mark.parametrize("name", ["anthropic", "openai", "gemini"])
def test_a_model_without_the_tool_bills_tokens_only(name: str) -> None:
    answer = ask(name, tools=None)
    assert answer.micro_usd is not None
    assert 0 < answer.micro_usd < 10_000


def test_a_model_finds_the_question_below_the_instructions() -> None:
    prompt = "Search the web, then answer in a few sentences and cite your sources.\n\nkafka consumer groups"
    assert ask("openai", input=prompt).query == "kafka consumer groups"
    assert ask("anthropic", messages=[{"role": "user", "content": prompt}]).query == "kafka consumer groups"
    assert ask("gemini", contents=[{"role": "user", "parts": [{"text": prompt}]}]).query == "kafka consumer groups"


# --- the quirks


def test_serper_tracks_links_dates_snippets_and_leaves_some_out() -> None:
    rows = read(ask("serper", q="a question nobody wrote a page for"))["organic"]
    assert len(rows) == 10
    assert any("srsltid=" in row["link"] for row in rows)
    assert any("#:~:text=" in row["link"] for row in rows)
    assert any("snippet" not in row for row in rows)
    assert any("date" not in row for row in rows)
    assert any(" — " in row.get("snippet", "") for row in rows)
    assert [row["position"] for row in rows] == list(range(1, 11))


def test_serper_gives_ten_rows_however_many_are_asked_for() -> None:
    assert len(read(ask("serper", num=100))["organic"]) == 10
    assert len(read(ask("serper", num=3))["organic"]) == 3


def test_serper_writes_recent_dates_relative_to_now() -> None:
    rows = read(ask("serper", q="what happened", tbs="qdr:w"))["organic"]
    assert all(" ago" in row["date"] for row in rows if "date" in row)
    day = read(ask("serper", q="what happened", tbs="cdr:1,cd_min:03/04/2025,cd_max:03/04/2025"))["organic"][0]["date"]
    assert day == "Mar 4, 2025"
    assert len(read(ask("serper", tbs="cdr:1,cd_min:13/45/2025"))["organic"]) == 10


def test_serper_answers_a_batch_with_an_array() -> None:
    body = json.dumps([{"q": "one"}, {"q": "two", "num": 20}]).encode()
    answer = VENDOR["serper"].answer(replace(asked("serper"), body=body))
    assert [page["searchParameters"]["q"] for page in read(answer)] == ["one", "two"]
    assert answer.micro_usd == 3_000


def test_serper_puts_news_elsewhere_and_tells_the_balance() -> None:
    news = read(VENDOR["serper"].answer(replace(asked("serper"), path="/news")))
    assert "organic" not in news
    assert news["news"][0]["source"] == "Plants"
    account = VENDOR["serper"].answer(replace(asked("serper"), path="/account", method="GET"))
    assert (read(account)["balance"], account.micro_usd) == (2492, None)


def test_entities_are_escaped_where_the_vendor_escapes_them() -> None:
    question = 'is "salt & vinegar" <good>'
    assert "&amp;" in read(ask("serper", q=question))["organic"][0]["snippet"]
    assert "&lt;" in read(ask("brave", q=question))["web"]["results"][0]["title"]


def test_brightdata_glues_read_more_on_and_has_a_row_that_leads_nowhere() -> None:
    page = read(ask("brightdata"))
    assert page["organic"][0]["description"].endswith("Read more")
    assert [row["link"] for row in page["organic"]].count("") == 1
    assert page["general"]["results_cnt"] > 0


def test_brightdata_wraps_json_as_a_text_on_request() -> None:
    outer = read(ask("brightdata", format="json"))
    assert outer["status_code"] == 200
    assert isinstance(outer["body"], str)
    assert json.loads(outer["body"])["organic"]


def test_brightdata_answers_light_news_html_and_bing() -> None:
    assert set(read(ask("brightdata", data_format="parsed_light"))) == {"organic"}
    news = read(ask("brightdata", url=SERP + "&tbm=nws"))
    assert "organic" not in news
    assert news["news"][0]["date"]
    page = ask("brightdata", url=SERP.replace("&brd_json=1", ""))
    assert page.content_type.startswith("text/html")
    assert b"<h3>How photosynthesis works</h3>" in page.body
    bing = ask("brightdata", url=f"https://www.bing.com/search?q={quote(QUESTION)}", data_format="parsed_bing")
    assert read(bing)["general"]["search_engine"] == "bing"
    assert read(ask("brightdata", url=SERP + "&start=10"))["organic"][0]["rank"] == 11


def test_firecrawl_v1_has_a_list_and_a_warning_when_it_is_empty() -> None:
    request = replace(asked("firecrawl"), path="/v1/search")
    answer = VENDOR["firecrawl"].answer(request)
    assert len(read(answer)["data"]) == 5
    assert answer.micro_usd == 7_000
    nothing = read(VENDOR["firecrawl"].answer(replace(request, empty=True)))
    assert (nothing["data"], nothing["warning"]) == ([], "No search results found")


def test_firecrawl_bills_each_source_and_reads_dates_off_news() -> None:
    answer = ask("firecrawl", limit=10, sources=[{"type": "web"}, "news"], tbs="qdr:m")
    data = read(answer)["data"]
    assert (len(data["web"]), len(data["news"])) == (10, 10)
    assert data["news"][0]["date"].endswith("ago")
    assert answer.micro_usd == 4 * 3_500


def test_exa_leaves_texts_titles_and_dates_out() -> None:
    bare = read(ask("exa", contents=None))["results"][0]
    assert not {"text", "highlights", "summary", "score"} & set(bare)
    rows = read(ask("exa", query="a question nobody wrote a page for", numResults=12, type="neural"))["results"]
    assert any(row["title"] is None for row in rows)
    assert any("publishedDate" not in row for row in rows)
    assert all("score" in row for row in rows)
    assert len(read(ask("exa", contents={"text": {"maxCharacters": 20}}))["results"][0]["text"]) == 20


def test_exa_keeps_to_a_window_and_to_domains() -> None:
    rows = read(ask("exa", query="x", startPublishedDate="2026-11-01T00:00:00.000Z", includeDomains=["a.example"]))[
        "results"
    ]
    assert {row["url"].split("/")[2] for row in rows} == {"a.example"}
    assert all(row["publishedDate"] >= "2026-11-01" for row in rows if "publishedDate" in row)


def test_brave_tells_its_limits_and_quotas_in_pairs() -> None:
    assert ask("brave").headers["X-RateLimit-Policy"] == "50;w=1, 0;w=2592000"
    rate = read(VENDOR["brave"].error(VENDOR["brave"].rate))["error"]["meta"]
    quota = read(VENDOR["brave"].error(VENDOR["brave"].quota))["error"]["meta"]
    assert rate["quota_current"] < rate["quota_limit"]
    assert quota["quota_current"] == quota["quota_limit"]


def test_brave_marks_unless_told_not_to_and_has_news_at_the_root() -> None:
    assert "<strong>" in read(ask("brave"))["web"]["results"][0]["description"]
    plain = read(ask("brave", text_decorations="false", extra_snippets="true"))["web"]["results"][0]
    assert "<strong>" not in plain["description"]
    assert plain["extra_snippets"]
    news = VENDOR["brave"].answer(replace(asked("brave", freshness="pw"), path="/res/v1/news/search"))
    assert all("ago" in row["age"] for row in read(news)["results"])
    assert read(ask("brave", freshness="2026-01-01to2026-02-01"))["web"]["results"]


def test_searxng_answers_html_to_any_format_it_does_not_know() -> None:
    answer = ask("searxng", format="jsn")
    assert (answer.status, answer.content_type) == (200, "text/html; charset=utf-8")


def test_searxng_takes_a_form_and_mixes_a_picture_in() -> None:
    request = Asked("POST", "/search", body=f"q={quote(QUESTION)}&format=json&time_range=year".encode(), now=NOW)
    page = read(VENDOR["searxng"].answer(request))
    assert page["query"] == QUESTION
    assert [row["template"] for row in page["results"]].count("images.html") == 1
    assert read(ask("searxng", pageno="2"))["results"] != page["results"]


def test_searxng_names_engines_that_did_not_answer() -> None:
    page = read(VENDOR["searxng"].masked(asked("searxng")))
    assert page["results"] == []
    assert ["duckduckgo", "CAPTCHA"] in page["unresponsive_engines"]


def test_perplexity_may_leave_dates_null_and_cuts_where_told() -> None:
    rows = read(ask("perplexity", query="x", search_recency_filter="month", max_tokens_per_page=10))["results"]
    assert {row["date"] is None for row in rows} == {True, False}
    assert all(len(row["snippet"]) <= 40 for row in rows)
    window = {"search_after_date_filter": "11/01/2026", "search_before_date_filter": "11/10/2026"}
    dated = read(ask("perplexity", query="x", **window))["results"]
    assert all("2026-11-01" <= row["date"] <= "2026-11-10" for row in dated if row["date"])
    hosts = read(ask("perplexity", query="x", search_domain_filter=["-atlas.example"]))["results"]
    assert all("//atlas.example" not in row["url"] for row in hosts)


def test_google_pse_leaves_snippets_out_and_keeps_to_dates_and_sites() -> None:
    items = read(ask("google_pse", q="a question nobody wrote a page for"))["items"]
    assert any("snippet" not in item for item in items)
    assert any("pagemap" not in item for item in items)
    site = read(ask("google_pse", q="x", siteSearch="one.example", dateRestrict="m2", siteSearchFilter="i"))["items"]
    assert {item["displayLink"] for item in site} == {"one.example"}
    without = read(ask("google_pse", q="x", siteSearch="atlas.example", siteSearchFilter="e"))["items"]
    assert "atlas.example" not in {item["displayLink"] for item in without}


def test_linkup_answers_in_prose_too() -> None:
    sourced = read(ask("linkup", outputType="sourcedAnswer", fromDate="2020-01-01", toDate="2026-11-30"))
    assert sourced["sources"][0]["name"] == "How photosynthesis works"
    assert read(ask("linkup", outputType="structured", structuredOutputSchema="{}"))["answer"]


def test_you_takes_both_methods_and_lists_in_both_forms() -> None:
    request = Asked(
        "GET",
        "/v1/search",
        {"query": "x", "include_domains": "a.example,b.example", "livecrawl": "web"},
        {"x-api-key": "k"},
    )
    web = read(VENDOR["you"].answer(request))["results"]["web"]
    assert {row["url"].split("/")[2] for row in web} == {"a.example", "b.example"}
    assert web[0]["contents"]["markdown"]
    assert read(ask("you", include_domains=["a.example"], freshness="week"))["results"]["web"]
    assert read(ask("you", freshness="2026-01-01to2026-02-01"))["results"]["web"]


def test_jina_reads_pages_or_not_and_speaks_plain_text() -> None:
    headers = {**BEARER, "accept": "application/json", "x-respond-with": "no-content"}
    assert all(
        "content" not in row for row in read(VENDOR["jina"].answer(replace(asked("jina"), headers=headers)))["data"]
    )
    rows = read(ask("jina", q="a question nobody wrote a page for"))["data"]
    assert any(row.get("warning") for row in rows)
    text = VENDOR["jina"].answer(
        Asked("GET", "/kafka%20consumer%20groups", headers=BEARER | {"x-site": "https://one.example"})
    )
    assert text.query == "kafka consumer groups"
    assert text.content_type.startswith("text/plain")
    assert text.body.decode().startswith("[1] Title: ")


def test_wikipedia_lists_generates_and_rests() -> None:
    listed = read(ask("wikipedia", generator=None, list="search", srsearch=QUESTION, gsrsearch=None))
    assert '<span class="searchmatch">' in listed["query"]["search"][0]["snippet"]
    pages = read(ask("wikipedia"))["query"]["pages"]
    assert [page["pageid"] for page in pages] == sorted(page["pageid"] for page in pages)
    first = next(page for page in pages if page["index"] == 1)
    assert first["title"] == "How photosynthesis works"
    by_id = read(ask("wikipedia", formatversion=None, gsrlimit="max", explaintext=None))["query"]["pages"]
    assert isinstance(by_id, dict)
    assert sum("extract" in page for page in by_id.values()) == 20
    rest = Asked("GET", "/w/rest.php/v1/search/page", {"q": QUESTION, "limit": "3"}, {"user-agent": "tests"})
    assert read(VENDOR["wikipedia"].answer(rest))["pages"][0]["title"] == "How photosynthesis works"
    assert VENDOR["wikipedia"].answer(replace(rest, params={"q": ""})).status == 400
    assert VENDOR["wikipedia"].answer(replace(rest, params={"q": "x", "limit": "101"})).status == 400
    assert read(ask("wikipedia", generator=None, gsrsearch=None)) == {"batchcomplete": True}
    assert ask("wikipedia", format=None).content_type.startswith("text/html")


def test_openai_names_a_source_without_an_address_for_weather() -> None:
    answer = read(ask("openai", input="weather in seoul", include=["web_search_call.action.sources"]))
    assert answer["output"][1]["action"]["sources"][-1] == {"type": "api", "name": "oai-weather"}
    assert "sources" not in read(ask("openai"))["output"][1]["action"]


def test_gemini_redirects_lead_to_the_page() -> None:
    chunk = read(ask("gemini"))["candidates"][0]["groundingMetadata"]["groundingChunks"][0]["web"]
    path = chunk["uri"].partition("/gemini")[2]
    answer = VENDOR["gemini"].answer(Asked("GET", path))
    assert (answer.status, answer.headers["Location"]) == (302, "https://plants.example/photosynthesis")
    assert not answer.is_call
    assert VENDOR["gemini"].answer(Asked("GET", "/grounding-api-redirect/broken")).status == 404
