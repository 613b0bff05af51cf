"""Anthropic Messages with the web_search tool: searches are counted in `usage`, failed ones are free, tokens never are."""

from base64 import b64encode
from typing import Any, ClassVar

from groundwire.adapters.sandbox import dates, native
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import ANTHROPIC_SEARCH, is_sold, token_price
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

TOOL = ("web_search_",)
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
RESULTS_PER_SEARCH = 10


class Anthropic(Vendor):
    """POST /v1/messages."""

    name: ClassVar[str] = "anthropic"
    auth = Refusal(401, "invalid x-api-key")
    quota = Refusal(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase "
        "credits.",
    )
    rate = Refusal(429, "This request would exceed your organization's rate limit of 50 requests per minute.")
    varies: ClassVar[tuple[str, ...]] = ("x-api-key", "anthropic-version", "authorization")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("The request body is not valid", None),
        500: ("Internal server error", None),
        529: ("Overloaded", None),
    }

    def query(self, asked: Asked) -> str | None:
        users = [message for message in asked.json()["messages"] if message.get("role") == "user"]
        return native.question(native.plain_text(users[-1]["content"]))

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-api-key") or asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        kind = refusal.code or ERROR_TYPES.get(refusal.status, "api_error")
        body = {"type": "error", "error": {"type": kind, "message": refusal.message}, "request_id": "req_sandbox"}
        headers = {"request-id": "req_sandbox"}
        if refusal.status == 429:
            headers |= {"retry-after": "12", "anthropic-ratelimit-requests-remaining": "0"}
        return Answer(refusal.status, as_json(body), headers=headers)

    def masked(self, asked: Asked) -> Answer:
        """The search failed, the message didn't: an error object where the results would stand."""
        query = self.query_or_none(asked) or ""
        turn = _Turn()
        turn.search(query)
        turn.failed("unavailable")
        turn.text("I could not search the web just now.")
        return _message(_model(asked), query, turn)

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/v1/messages" or asked.method != "POST":
            raise RefusedError(404, "Not found")
        self.admit(asked)
        if not asked.headers.get("anthropic-version"):
            raise RefusedError(400, "anthropic-version: header is required")
        body = body_object(asked, Refusal(400, "The request body is not valid JSON"))
        model = native.text_field(body, "model", "model: Field required")
        if not is_sold(model, "claude"):
            raise RefusedError(404, f"model: {model}")
        if not is_int(body.get("max_tokens")) or body["max_tokens"] < 1:
            raise RefusedError(400, "max_tokens: Field required")
        query = self.query_or_none(asked)
        if not isinstance(body.get("messages"), list) or not query:
            raise RefusedError(400, "messages: at least one message is required")
        tool = native.tool_named(body.get("tools"), TOOL)
        if tool and tool.get("allowed_domains") and tool.get("blocked_domains"):
            raise RefusedError(400, "tools.0: only one of allowed_domains and blocked_domains may be given")
        turn = _Turn()
        if tool is None:
            turn.text(f"From what I know: {query}")
        elif native.PAUSED in query and body["messages"][-1].get("role") == "user":
            turn.search(query)
            turn.stop_reason = "pause_turn"
        else:
            self._research(asked, query, tool, turn)
        return _message(model, query, turn)

    def _research(self, asked: Asked, query: str, tool: dict[str, Any], turn: "_Turn") -> None:
        uses = tool.get("max_uses") if is_int(tool.get("max_uses")) else None
        found: tuple[Document, ...] = ()
        for number, wanted in enumerate(native.searches(query), 1):
            turn.search(wanted)
            if uses is not None and number > uses:
                turn.failed("max_uses_exceeded")
                continue
            seen = self.find(
                asked,
                wanted,
                RESULTS_PER_SEARCH,
                include_domains=tuple(tool.get("allowed_domains") or ()),
                exclude_domains=tuple(tool.get("blocked_domains") or ()),
            )
            found = found or seen
            turn.results(seen)
        for sentence in native.written(found):
            turn.text(sentence.text, sentence.source)
        if not found:
            turn.text("I found nothing about that.")


class _Turn:
    """One assistant message while it is being written."""

    def __init__(self) -> None:
        self.content: list[dict[str, Any]] = []
        self.searches = 0
        self.stop_reason = "end_turn"
        self._tool_use = ""

    def search(self, query: str) -> None:
        self._tool_use = f"srvtoolu_{len(self.content)}"
        use = {"type": "server_tool_use", "id": self._tool_use, "name": "web_search", "input": {"query": query}}
        self.content.append(use | {"caller": {"type": "direct"}})

    def results(self, found: tuple[Document, ...]) -> None:
        self.searches += 1
        self._result([_result(document, at) for at, document in enumerate(found)])

    def failed(self, code: str) -> None:
        self._result({"type": "web_search_tool_result_error", "error_code": code})

    def _result(self, content: Any) -> None:
        self.content.append({"type": "web_search_tool_result", "tool_use_id": self._tool_use, "content": content})

    def text(self, text: str, source: Document | None = None) -> None:
        block: dict[str, Any] = {"type": "text", "text": text}
        if source is not None:
            citation = {
                "type": "web_search_result_location",
                "url": source.url,
                "title": source.title,
                "encrypted_index": _sealed(source.id),
                "cited_text": source.snippet(150),
            }
            block["citations"] = [citation]
        self.content.append(block)


def _message(model: str, query: str, turn: _Turn) -> Answer:
    read = 2_000 * turn.searches + native.tokens(query)
    wrote = native.tokens("".join(block.get("text", "") for block in turn.content))
    answer = {
        "id": "msg_sandbox",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": turn.content,
        "stop_reason": turn.stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": read,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": wrote,
            "server_tool_use": {"web_search_requests": turn.searches, "web_fetch_requests": 0}
            if turn.searches
            else None,
        },
    }
    micro_usd = turn.searches * ANTHROPIC_SEARCH + token_price(model, read, wrote)
    return Answer(200, as_json(answer), headers={"request-id": "req_sandbox"}, micro_usd=micro_usd)


def _model(asked: Asked) -> str:
    try:
        model = str(asked.json()["model"])
    except (ValueError, LookupError, TypeError):
        return "claude"
    return model if is_sold(model, "claude") else "claude"


def _result(document: Document, at: int) -> dict[str, Any]:
    return {
        "type": "web_search_result",
        "url": document.url,
        "title": document.title,
        "encrypted_content": _sealed(document.body[:40]),
        "page_age": None if at % 4 == 3 else dates.long(document.published),
    }


def _sealed(text: str) -> str:
    return "EqgfCi" + b64encode(text.encode()).decode()
