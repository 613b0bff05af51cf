"""OpenAI Responses with web_search: what is billed is counted from the search calls in the output, and the tokens."""

from typing import Any, ClassVar

from groundwire.adapters.sandbox import native
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import OPENAI_SEARCH, is_sold, token_price
from groundwire.adapters.sandbox.vendor import Vendor, body_object
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

TOOL = ("web_search",)
ERROR_TYPES = {429: "requests", 500: "server_error", 503: "server_error"}
SOURCES = "web_search_call.action.sources"
WEATHER = ("weather", "날씨")


class OpenAI(Vendor):
    """POST /v1/responses."""

    name: ClassVar[str] = "openai"
    auth = Refusal(
        401, "Incorrect API key provided. You can find your API key in your account settings.", "invalid_api_key"
    )
    quota = Refusal(
        429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"
    )
    rate = Refusal(
        429, "Rate limit reached for requests. Limit: 3 / min. Please try again in 20s.", "rate_limit_exceeded"
    )
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("Invalid request.", None),
        500: ("The server had an error while processing your request. Sorry about that!", None),
        503: ("The engine is currently overloaded, please try again later", None),
    }

    def query(self, asked: Asked) -> str | None:
        given = asked.json()["input"]
        if not isinstance(given, str):
            given = native.plain_text([turn for turn in given if turn.get("role") == "user"][-1]["content"])
        return native.question(given)

    def key(self, asked: Asked) -> str | None:
        return asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        kind = "insufficient_quota" if refusal.code == "insufficient_quota" else ERROR_TYPES.get(refusal.status)
        error = {
            "message": refusal.message,
            "type": kind or "invalid_request_error",
            "param": None,
            "code": refusal.code,
        }
        headers = {"x-request-id": "req_sandbox"}
        if refusal.status == 429:
            headers |= {"retry-after": "20", "retry-after-ms": "20000", "x-ratelimit-remaining-requests": "0"}
        return Answer(refusal.status, as_json({"error": error}), headers=headers)

    def masked(self, asked: Asked) -> Answer:  # noqa: ARG002 - always the same
        """A response that failed, in a 200."""
        error = {"code": "server_error", "message": "The model failed to generate a response."}
        return Answer(200, as_json(_response("gpt", [], None, status="failed", error=error)))

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/v1/responses" or asked.method != "POST":
            raise RefusedError(404, f"Invalid URL ({asked.method} {asked.path})")
        self.admit(asked)
        body = body_object(asked, Refusal(400, "We could not parse the JSON body of your request."))
        model = native.text_field(body, "model", "Missing required parameter: 'model'.", "missing_required_parameter")
        if not is_sold(model, "gpt"):
            raise RefusedError(
                404, f"The model `{model}` does not exist or you do not have access to it.", "model_not_found"
            )
        query = self.query_or_none(asked)
        if not query:
            raise RefusedError(400, "Missing required parameter: 'input'.", "missing_required_parameter")
        tool = native.tool_named(body.get("tools"), TOOL)
        with_sources = SOURCES in (body.get("include") or [])
        output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_sandbox", "summary": []}]
        found: tuple[Document, ...] = ()
        searches = native.searches(query) if tool else []
        for number, wanted in enumerate(searches):
            domains = (tool or {}).get("filters") or {}
            seen = self.find(
                asked, wanted, native.SHOWN_SOURCES, include_domains=tuple(domains.get("allowed_domains") or ())
            )
            found = found or seen
            output.append(_search_call(number, wanted, seen, with_sources))
        if found:
            # The model opens a page it found: a call of the same type that is not billed.
            action = {"type": "open_page", "url": found[0].url}
            output.append({"type": "web_search_call", "id": "ws_open", "status": "completed", "action": action})
        output.append(_message(query, found))
        read, wrote = 3_000 * len(searches) + native.tokens(query), native.tokens(output[-1]["content"][0]["text"])
        usage = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": wrote,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + wrote,
        }
        micro_usd = len(searches) * OPENAI_SEARCH + token_price(model, read, wrote)
        answer = _response(model, output, usage, status="completed", error=None)
        return Answer(200, as_json(answer), headers={"x-request-id": "req_sandbox"}, micro_usd=micro_usd)


def _response(model: str, output: list[dict[str, Any]], usage: Any, *, status: str, error: Any) -> dict[str, Any]:
    return {
        "id": "resp_sandbox",
        "object": "response",
        "created_at": 1_796_108_400,
        "status": status,
        "error": error,
        "incomplete_details": None,
        "instructions": None,
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "metadata": {},
        "usage": usage,
    }


def _search_call(number: int, query: str, found: tuple[Document, ...], with_sources: bool) -> dict[str, Any]:
    action: dict[str, Any] = {"type": "search", "query": query, "queries": [query]}
    if with_sources:
        action["sources"] = [{"type": "url", "url": _tracked(document)} for document in found]
        if any(word in query.casefold() for word in WEATHER):
            action["sources"].append({"type": "api", "name": "oai-weather"})
    return {"type": "web_search_call", "id": f"ws_{number}", "status": "completed", "action": action}


def _message(query: str, found: tuple[Document, ...]) -> dict[str, Any]:
    text, annotations = "", []
    for sentence in native.written(found):
        text += sentence.text + " "
        link = f"([{sentence.source.domain}]({_tracked(sentence.source)}))"
        annotations.append(
            {
                "type": "url_citation",
                "start_index": len(text),
                "end_index": len(text) + len(link),
                "url": _tracked(sentence.source),
                "title": sentence.source.title,
            }
        )
        text += link + "\n"
    content = {"type": "output_text", "text": text or f"From what I know: {query}", "annotations": annotations}
    return {"type": "message", "id": "msg_sandbox", "role": "assistant", "status": "completed", "content": [content]}


def _tracked(document: Document) -> str:
    return f"{document.url}?utm_source=openai"
