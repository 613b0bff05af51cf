"""The vendors' own Python SDKs against the sandbox: what they get there is what they get from their vendors, errors included.

The SDKs come with the extra `sdks` (`pip install -c constraints.txt -e '.[sdks]'`, which `make test` does).
"""

import asyncio
import importlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from groundwire.adapters.sandbox import Fault, Sandbox

QUESTION = "how does photosynthesis work"
TITLE = "How photosynthesis works"
URL = "https://plants.example/photosynthesis"


def sdk(name: str) -> Any:
    """The SDK's module; the test is skipped, with the reason, where it is not installed."""
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install -e '.[sdks]'")


@pytest.fixture(scope="module")
def served() -> Iterator[Sandbox]:
    """A sandbox in its own thread, because most SDKs block. Firecrawl's drops the path of its base address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="sandbox", daemon=True)
    thread.start()
    sandbox = Sandbox(median_ms=0, root="firecrawl")
    asyncio.run_coroutine_threadsafe(sandbox.start(), loop).result(10)
    yield sandbox
    asyncio.run_coroutine_threadsafe(sandbox.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture
def sandbox(served: Sandbox) -> Sandbox:
    served.reset()
    return served


# --- tavily-python


def tavily_client(sandbox: Sandbox, key: str = "sandbox-tavily") -> Any:
    return sdk("tavily").TavilyClient(key, api_base_url=sandbox.base_url("tavily"))


def test_tavily_finds_scores_and_states_its_credits(sandbox: Sandbox) -> None:
    answer = tavily_client(sandbox).search(QUESTION, max_results=3, search_depth="advanced", include_usage=True)
    assert answer["results"][0]["title"] == TITLE
    assert len(answer["results"]) == 3
    assert answer["results"] == sorted(answer["results"], key=lambda row: -row["score"])
    assert answer["usage"] == {"credits": 2}
    assert sandbox.invoice.total_micro_usd == 16_000


def test_tavily_dates_news_and_nothing_else(sandbox: Sandbox) -> None:
    client = tavily_client(sandbox)
    assert all(row["published_date"].endswith("GMT") for row in client.search(QUESTION, topic="news")["results"])
    assert all("published_date" not in row for row in client.search(QUESTION)["results"])


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(vendor="tavily", kind="rate_limit"), "UsageLimitExceededError"),
        (Fault(vendor="tavily", kind="quota"), "ForbiddenError"),
        (Fault(vendor="tavily", kind="status", status=433), "ForbiddenError"),
        (Fault(vendor="tavily", kind="auth"), "InvalidAPIKeyError"),
        (Fault(vendor="tavily", kind="status", status=400), "BadRequestError"),
    ],
)
def test_tavily_raises_its_own_error(sandbox: Sandbox, fault: Fault, error: str) -> None:
    client = tavily_client(sandbox)
    sandbox.faults.add(fault)
    with pytest.raises(Exception) as raised:
        client.search(QUESTION)
    assert type(raised.value).__name__ == error
    assert sandbox.invoice.total_micro_usd == 0


def test_tavily_refuses_401_characters_in_its_own_words(sandbox: Sandbox) -> None:
    with pytest.raises(sdk("tavily.errors").BadRequestError, match="Query is too long"):
        tavily_client(sandbox).search("x" * 401)


# --- exa-py


def exa_client(sandbox: Sandbox, key: str = "sandbox-exa") -> Any:
    return sdk("exa_py").Exa(key, base_url=sandbox.base_url("exa"))


def test_exa_gives_text_where_it_is_asked_for_and_says_what_it_cost(sandbox: Sandbox) -> None:
    answer = exa_client(sandbox).search(QUESTION, num_results=12, contents={"text": True})
    assert len(answer.results) == 12
    assert (answer.results[0].title, answer.results[0].url) == (TITLE, URL)
    assert answer.results[0].text.startswith("Photosynthesis is how plants")
    assert answer.cost_dollars.total == 0.009
    assert sandbox.invoice.total_micro_usd == 9_000


def test_exa_gives_no_text_unasked(sandbox: Sandbox) -> None:
    answer = exa_client(sandbox).search(QUESTION, contents=False)
    assert not hasattr(answer.results[0], "text") or not answer.results[0].text


@pytest.mark.parametrize(
    ("kind", "said"),
    [("quota", "402.*NO_MORE_CREDITS"), ("auth", "401.*INVALID_API_KEY"), ("rate_limit", "429.*rate limit of 10")],
)
def test_exa_raises_with_status_and_tag(sandbox: Sandbox, kind: Any, said: str) -> None:
    client = exa_client(sandbox)
    sandbox.faults.add(Fault(vendor="exa", kind=kind))
    with pytest.raises(Exception, match=said):
        client.search(QUESTION)


def test_exa_refuses_more_than_a_hundred_results(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="NUM_RESULTS_EXCEEDED"):
        exa_client(sandbox).search(QUESTION, num_results=101)


# --- firecrawl-py


def firecrawl_client(sandbox: Sandbox) -> Any:
    return sdk("firecrawl").Firecrawl("sandbox-firecrawl", api_url=sandbox.address)


def test_firecrawl_groups_rows_by_source_and_bills_blocks_of_ten(sandbox: Sandbox) -> None:
    data = firecrawl_client(sandbox).search(QUESTION, limit=6, sources=["web", "news"])
    assert (data.web[0].title, data.web[0].url) == (TITLE, URL)
    assert len(data.web) == len(data.news) == 6
    assert sandbox.invoice.line("firecrawl").micro_usd == 4 * 3_500


def test_firecrawl_reads_pages_when_asked(sandbox: Sandbox) -> None:
    scrape = sdk("firecrawl.v2.types").ScrapeOptions(formats=["markdown"])
    data = firecrawl_client(sandbox).search(QUESTION, limit=2, scrape_options=scrape)
    assert data.web[0].markdown.startswith(f"# {TITLE}")
    assert sandbox.invoice.line("firecrawl").micro_usd == (2 + 2) * 3_500


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(vendor="firecrawl", kind="quota"), "PaymentRequiredError"),
        (Fault(vendor="firecrawl", kind="rate_limit"), "RateLimitError"),
        (Fault(vendor="firecrawl", kind="auth"), "UnauthorizedError"),
        (Fault(vendor="firecrawl", kind="status", status=408), "RequestTimeoutError"),
        (Fault(vendor="firecrawl", kind="status", status=500), "InternalServerError"),
        (Fault(vendor="firecrawl", kind="masked"), "FirecrawlError"),
    ],
)
def test_firecrawl_raises_its_own_error(sandbox: Sandbox, fault: Fault, error: str) -> None:
    client = firecrawl_client(sandbox)
    sandbox.faults.add(fault)
    with pytest.raises(Exception) as raised:
        client.search(QUESTION)
    assert type(raised.value).__name__ == error


def test_firecrawl_refuses_501_characters(sandbox: Sandbox) -> None:
    client = firecrawl_client(sandbox)
    with pytest.raises(sdk("firecrawl.v2.utils.error_handler").BadRequestError, match="Invalid request body"):
        client.search("x" * 501)


# --- openai


def openai_client(sandbox: Sandbox, key: str = "sandbox-openai") -> Any:
    return sdk("openai").OpenAI(api_key=key, base_url=sandbox.base_url("openai") + "/v1", max_retries=0)


def test_openai_answers_with_citations_that_point_into_the_text(sandbox: Sandbox) -> None:
    response = openai_client(sandbox).responses.create(
        model="gpt-5.2",
        input=QUESTION,
        tools=[{"type": "web_search"}],
        include=["web_search_call.action.sources"],
    )
    calls = [item for item in response.output if item.type == "web_search_call"]
    assert [call.action.type for call in calls] == ["search", "open_page"]
    assert calls[0].action.sources[0].url == f"{URL}?utm_source=openai"
    citation = response.output[-1].content[0].annotations[0]
    cited = response.output_text[citation.start_index : citation.end_index]
    assert cited == f"([plants.example]({citation.url}))"
    # One search, and the tokens at the model's price; the opened page is free.
    tokens = response.usage.input_tokens * 1_750_000 + response.usage.output_tokens * 14_000_000
    assert sandbox.invoice.total_micro_usd == 10_000 + tokens // 1_000_000


def test_openai_may_answer_without_a_search(sandbox: Sandbox) -> None:
    response = openai_client(sandbox).responses.create(
        model="gpt-5.2", input="from-memory-xyzzy what is two and two", tools=[{"type": "web_search"}]
    )
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert response.output_text
    assert 0 < sandbox.invoice.total_micro_usd < 10_000


@pytest.mark.parametrize(
    ("fault", "error", "code"),
    [
        (Fault(vendor="openai", kind="auth"), "AuthenticationError", "invalid_api_key"),
        (Fault(vendor="openai", kind="quota"), "RateLimitError", "insufficient_quota"),
        (Fault(vendor="openai", kind="rate_limit"), "RateLimitError", "rate_limit_exceeded"),
        (Fault(vendor="openai", kind="status", status=500), "InternalServerError", None),
        (Fault(vendor="openai", kind="close"), "APIConnectionError", None),
    ],
)
def test_openai_raises_its_own_error(sandbox: Sandbox, fault: Fault, error: str, code: str | None) -> None:
    client = openai_client(sandbox)
    sandbox.faults.add(fault)
    with pytest.raises(Exception) as raised:
        client.responses.create(model="gpt-5.2", input=QUESTION)
    assert type(raised.value).__name__ == error
    assert getattr(raised.value, "code", None) == code


def test_openai_fails_inside_a_200(sandbox: Sandbox) -> None:
    sandbox.faults.add(Fault(vendor="openai", kind="masked"))
    response = openai_client(sandbox).responses.create(model="gpt-5.2", input=QUESTION)
    assert (response.status, response.error.code) == ("failed", "server_error")


# --- anthropic


def anthropic_client(sandbox: Sandbox) -> Any:
    return sdk("anthropic").Anthropic(api_key="sandbox", base_url=sandbox.base_url("anthropic"), max_retries=0)


def ask_claude(sandbox: Sandbox, question: str, **tool: Any) -> Any:
    return anthropic_client(sandbox).messages.create(
        model="claude-sonnet-5",
        max_tokens=500,
        messages=[{"role": "user", "content": f"Search the web.\n\n{question}"}],
        tools=[{"type": "web_search_20250305", "name": "web_search", **tool}],
    )


def test_anthropic_searches_cites_and_counts(sandbox: Sandbox) -> None:
    message = ask_claude(sandbox, QUESTION)
    assert [block.type for block in message.content] == ["server_tool_use", "web_search_tool_result", "text"]
    assert message.content[1].content[0].url == URL
    assert message.content[2].citations[0].cited_text.startswith("Photosynthesis is how plants")
    assert message.usage.server_tool_use.web_search_requests == 1
    tokens = message.usage.input_tokens * 3 + message.usage.output_tokens * 15
    assert sandbox.invoice.total_micro_usd == 10_000 + tokens


def test_anthropic_reports_a_search_too_many_inside_a_200_and_bills_the_good_one(sandbox: Sandbox) -> None:
    message = ask_claude(sandbox, "compare Kafka consumer groups and Kafka partitions", max_uses=1)
    results = [block.content for block in message.content if block.type == "web_search_tool_result"]
    assert len(results[0]) == 10
    assert results[1].error_code == "max_uses_exceeded"
    assert message.usage.server_tool_use.web_search_requests == 1


def test_anthropic_pauses_a_turn_and_goes_on_with_it(sandbox: Sandbox) -> None:
    client, tools = anthropic_client(sandbox), [{"type": "web_search_20250305", "name": "web_search"}]
    asked = {"role": "user", "content": "pause-turn-xyzzy how does photosynthesis work"}
    first = client.messages.create(model="claude-sonnet-5", max_tokens=500, messages=[asked], tools=tools)
    assert first.stop_reason == "pause_turn"
    messages = [asked, {"role": "assistant", "content": first.content}]
    second = client.messages.create(model="claude-sonnet-5", max_tokens=500, messages=messages, tools=tools)
    assert second.stop_reason == "end_turn"
    assert second.usage.server_tool_use.web_search_requests == 1


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (Fault(vendor="anthropic", kind="auth"), "AuthenticationError", "invalid x-api-key"),
        (Fault(vendor="anthropic", kind="quota"), "BadRequestError", "credit balance is too low"),
        (Fault(vendor="anthropic", kind="rate_limit"), "RateLimitError", "rate limit"),
        (Fault(vendor="anthropic", kind="status", status=529), "OverloadedError", "Overloaded"),
    ],
)
def test_anthropic_raises_its_own_error(sandbox: Sandbox, fault: Fault, error: str, said: str) -> None:
    sandbox.faults.add(fault)
    with pytest.raises(Exception, match=said) as raised:
        ask_claude(sandbox, QUESTION)
    assert type(raised.value).__name__ == error


# --- google-genai


def ask_gemini(sandbox: Sandbox, question: str, model: str = "gemini-3-flash-preview", key: str = "sandbox") -> Any:
    genai, types = sdk("google.genai"), importlib.import_module("google.genai.types")
    client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=sandbox.base_url("gemini")))
    search = types.Tool(google_search=types.GoogleSearch())
    return client.models.generate_content(
        model=model, contents=question, config=types.GenerateContentConfig(tools=[search])
    )


def test_gemini_grounds_its_answer_and_counts_bytes(sandbox: Sandbox) -> None:
    response = ask_gemini(sandbox, "서울에서 부산 가는 기차")
    grounding = response.candidates[0].grounding_metadata
    assert grounding.web_search_queries == ["서울에서 부산 가는 기차"]
    assert grounding.grounding_chunks[0].web.title == "railmap.example"
    segment = grounding.grounding_supports[0].segment
    assert response.text.encode()[: segment.end_index].decode() == segment.text
    assert segment.start_index is None


def test_gemini_gives_other_redirects_each_time(sandbox: Sandbox) -> None:
    first, second = (
        ask_gemini(sandbox, QUESTION).candidates[0].grounding_metadata.grounding_chunks[0].web.uri for _ in range(2)
    )
    assert first != second
    assert first.startswith(f"{sandbox.address}/gemini/grounding-api-redirect/")


@pytest.mark.parametrize(("model", "fees"), [("gemini-3-flash-preview", 2 * 14_000), ("gemini-2.5-flash", 35_000)])
def test_gemini_bills_queries_from_version_3_and_prompts_before(sandbox: Sandbox, model: str, fees: int) -> None:
    response = ask_gemini(sandbox, "compare Kafka consumer groups and Kafka partitions", model)
    assert len(response.candidates[0].grounding_metadata.web_search_queries) == 2
    assert fees < sandbox.invoice.total_micro_usd < fees + 2_000


@pytest.mark.parametrize(
    ("kind", "code", "said"),
    [("auth", 400, "API_KEY_INVALID"), ("quota", 429, "PerDay"), ("rate_limit", 429, "RESOURCE_EXHAUSTED")],
)
def test_gemini_raises_its_own_error(sandbox: Sandbox, kind: Any, code: int, said: str) -> None:
    sandbox.faults.add(Fault(vendor="gemini", kind=kind))
    with pytest.raises(sdk("google.genai.errors").ClientError, match=said) as raised:
        ask_gemini(sandbox, QUESTION)
    assert raised.value.code == code


# --- linkup-sdk


def linkup_client(sandbox: Sandbox) -> Any:
    return sdk("linkup").LinkupClient("sandbox-linkup", base_url=sandbox.base_url("linkup") + "/v1")


def test_linkup_names_its_results_and_mixes_pictures_in(sandbox: Sandbox) -> None:
    answer = linkup_client(sandbox).search(
        QUESTION, depth="standard", output_type="searchResults", max_results=3, include_images=True
    )
    assert [result.type for result in answer.results] == ["text", "image", "text", "text"]
    assert answer.results[0].name == TITLE
    assert sandbox.invoice.total_micro_usd == 5_000


def test_linkup_deep_costs_ten_times_as_much(sandbox: Sandbox) -> None:
    answer = linkup_client(sandbox).search(QUESTION, depth="deep", output_type="sourcedAnswer")
    assert answer.sources[0].url == URL
    assert sandbox.invoice.total_micro_usd == 50_000


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(vendor="linkup", kind="empty_results"), "LinkupNoResultError"),
        (Fault(vendor="linkup", kind="quota"), "LinkupInsufficientCreditError"),
        (Fault(vendor="linkup", kind="rate_limit"), "LinkupTooManyRequestsError"),
        (Fault(vendor="linkup", kind="auth"), "LinkupAuthenticationError"),
        (Fault(vendor="linkup", kind="status", status=403), "LinkupIpNotWhitelistedError"),
        (Fault(vendor="linkup", kind="status", status=402), "LinkupPaymentRequiredError"),
        (Fault(vendor="linkup", kind="html", status=502), "JSONDecodeError"),
    ],
)
def test_linkup_raises_its_own_error(sandbox: Sandbox, fault: Fault, error: str) -> None:
    client = linkup_client(sandbox)
    sandbox.faults.add(fault)
    with pytest.raises(Exception) as raised:
        client.search(QUESTION, depth="standard", output_type="searchResults")
    assert type(raised.value).__name__ == error
    assert sandbox.invoice.total_micro_usd == 0


# --- perplexityai


def perplexity_client(sandbox: Sandbox) -> Any:
    return sdk("perplexity").Perplexity(api_key="sandbox", base_url=sandbox.base_url("perplexity"), max_retries=0)


def test_perplexity_takes_several_queries_as_one_unit(sandbox: Sandbox) -> None:
    answer = perplexity_client(sandbox).search.create(query=[QUESTION, "kafka consumer groups"], max_results=3)
    assert len(answer.results) == 6
    assert (answer.results[0].title, answer.results[0].date) == (TITLE, "2025-04-12")
    assert sandbox.invoice.total_micro_usd == 5_000


@pytest.mark.parametrize(
    ("kind", "error"),
    [("auth", "AuthenticationError"), ("quota", "AuthenticationError"), ("rate_limit", "RateLimitError")],
)
def test_perplexity_raises_its_own_error(sandbox: Sandbox, kind: Any, error: str) -> None:
    client = perplexity_client(sandbox)
    sandbox.faults.add(Fault(vendor="perplexity", kind=kind))
    with pytest.raises(Exception) as raised:
        client.search.create(query=QUESTION)
    assert type(raised.value).__name__ == error


# --- youdotcom


def you_client(sandbox: Sandbox) -> Any:
    return sdk("youdotcom").You("sandbox-you", server_url=sandbox.base_url("you"), retry_config=None)


def test_you_has_a_news_section_only_where_there_is_news(sandbox: Sandbox) -> None:
    client, server = you_client(sandbox), sandbox.base_url("you")
    plain = client.search(query=QUESTION, count=4, server_url=server)
    assert (plain.results.web[0].title, len(plain.results.web), plain.results.news) == (TITLE, 4, None)
    assert len(client.search(query="kimchi news", count=4, server_url=server).results.news) == 3


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (Fault(vendor="you", kind="auth"), "UnauthorizedResponseError", "Invalid or expired API key"),
        (Fault(vendor="you", kind="quota"), "YouDefaultError", "Status 402.*used up your credits"),
        (Fault(vendor="you", kind="status", status=403), "ForbiddenResponseError", "Forbidden"),
    ],
)
def test_you_raises_its_own_error(sandbox: Sandbox, fault: Fault, error: str, said: str) -> None:
    client = you_client(sandbox)
    sandbox.faults.add(fault)
    with pytest.raises(Exception) as raised:
        client.search(query=QUESTION, server_url=sandbox.base_url("you"))
    assert type(raised.value).__name__ == error
    assert re.search(said, f"{raised.value} {getattr(raised.value, 'data', '')}")


# --- brave-search-python-client


def brave_client(sandbox: Sandbox) -> Any:
    client = sdk("brave_search_python_client").BraveSearch(api_key="sandbox-brave")
    client._base_url = sandbox.base_url("brave") + "/res/v1/"  # it has no public way to set it
    return client


async def test_brave_marks_words_and_leaves_empty_sections_out(sandbox: Sandbox) -> None:
    request = sdk("brave_search_python_client").WebSearchRequest
    answer = await brave_client(sandbox).web(request(q=QUESTION, count=5))
    assert (answer.web.results[0].title, len(answer.web.results)) == (TITLE, 5)
    assert "<strong>Photosynthesis</strong>" in answer.web.results[0].description
    empty = await brave_client(sandbox).web(request(q="no-such-thing-xyzzy"))
    assert empty.web is None
    assert sandbox.invoice.total_micro_usd == 10_000


async def test_brave_raises_its_own_error(sandbox: Sandbox) -> None:
    sandbox.faults.add(Fault(vendor="brave", kind="rate_limit"))
    module = sdk("brave_search_python_client")
    with pytest.raises(module.BraveSearchAPIError, match="429"):
        await brave_client(sandbox).web(module.WebSearchRequest(q=QUESTION))


# --- brightdata-sdk


async def search_brightdata(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Any:
    client = sdk("brightdata").BrightDataClient
    engine = importlib.import_module("brightdata.core.engine").AsyncEngine
    monkeypatch.setattr(engine, "BASE_URL", sandbox.base_url("brightdata"))
    async with client(token="sandbox-brightdata-token", serp_zone="sandbox_serp", auto_create_zones=False) as bright:
        return await bright.search.google(query=QUESTION, zone="sandbox_serp")


async def test_brightdata_unwraps_the_envelope(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await search_brightdata(sandbox, monkeypatch)
    assert found.success
    assert found.total_found == 12_400
    assert found.data[0]["url"] == URL
    assert found.data[0]["description"].endswith("Read more")
    assert sandbox.invoice.total_micro_usd == 1_500


async def test_brightdata_sees_the_failure_inside_the_envelope(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.faults.add(Fault(vendor="brightdata", kind="masked"))
    found = await search_brightdata(sandbox, monkeypatch)
    assert not found.success
    assert "target_40001" in found.error
    assert sandbox.invoice.total_micro_usd == 0
