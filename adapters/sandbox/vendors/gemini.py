"""Gemini with google_search: sources behind redirects, offsets in bytes, and a fee for each query or for each prompt."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from itertools import count
from typing import Any, ClassVar

from groundwire.adapters.sandbox import native
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.library import Library
from groundwire.adapters.sandbox.prices import GEMINI_PROMPT, GEMINI_QUERY, is_sold, token_price
from groundwire.adapters.sandbox.vendor import PLAIN, Vendor, body_object
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

REDIRECT = "/grounding-api-redirect/"
STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
BILLED_BY_PROMPT = "gemini-2"
RETRY_S = 23
_METHOD = re.compile(r"/v1(?:beta|alpha)?/models/([^/:]+):generateContent")


class Gemini(Vendor):
    """POST /v1beta/models/{model}:generateContent (and v1). Every call brings other redirects for the same pages."""

    name: ClassVar[str] = "gemini"
    auth = Refusal(400, "API key not valid. Please pass a valid API key.", "API_KEY_INVALID")
    quota = Refusal(429, "You exceeded your current quota, please check your plan and billing details.", "QUOTA")
    rate = Refusal(429, "Resource has been exhausted (e.g. check quota).", "RATE")
    repeatable: ClassVar[bool] = False
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("Request contains an invalid argument.", None),
        403: ("Method doesn't allow unregistered callers (callers without established identity).", None),
        500: ("An internal error has occurred. Please retry.", None),
        503: ("The model is overloaded. Please try again later.", None),
    }

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._calls = count(1)

    def query(self, asked: Asked) -> str | None:
        turns = [turn for turn in asked.json()["contents"] if turn.get("role", "user") == "user"]
        return native.question(native.plain_text(turns[-1]["parts"]))

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-goog-api-key") or asked.params.get("key")

    def error(self, refusal: Refusal) -> Answer:
        details: list[dict[str, Any]] = []
        if refusal.code == "API_KEY_INVALID":
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            details.append({"@type": kind, "reason": refusal.code, "domain": "googleapis.com"})
        if refusal.status == 429:
            if refusal.code == "QUOTA":
                quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "1500"}
                details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]})
            details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{RETRY_S}s"})
        error: dict[str, Any] = {
            "code": refusal.status,
            "message": refusal.message,
            "status": STATUS_NAMES.get(refusal.status, PLAIN.get(refusal.status, "UNKNOWN").upper().replace(" ", "_")),
        }
        if details:
            error["details"] = details
        return Answer(refusal.status, as_json({"error": error}))

    def masked(self, asked: Asked) -> Answer:  # noqa: ARG002 - always the same
        """No candidate, and a reason why."""
        feedback = {"blockReason": "OTHER"}
        return Answer(200, as_json({"promptFeedback": feedback, "modelVersion": "gemini-3-flash"}))

    def serve(self, asked: Asked) -> Answer:
        if asked.path.startswith(REDIRECT):
            return _redirected(asked.path.removeprefix(REDIRECT))
        called = _METHOD.fullmatch(asked.path)
        if called is None or asked.method != "POST":
            raise RefusedError(404, "Requested entity was not found.")
        model = called[1]
        if self.key(asked) is None:
            raise RefusedError(403, *self.wording[403])
        self.admit(asked)
        body = body_object(asked, Refusal(400, "Invalid JSON payload received."))
        if not is_sold(model, "gemini"):
            raise RefusedError(404, f"models/{model} is not found for API version v1beta.")
        query = self.query_or_none(asked)
        if not query:
            raise RefusedError(400, "* GenerateContentRequest.contents: contents is not specified")
        tools = body.get("tools")
        grounded = any(
            isinstance(tool, dict) and ("google_search" in tool or "googleSearch" in tool)
            for tool in (tools if isinstance(tools, list) else ())
        )
        queries = native.searches(query) if grounded else []
        found = self.find(asked, query, native.SHOWN_SOURCES) if queries else ()
        return self._answer(asked, model, query, queries, found)

    def _answer(self, asked: Asked, model: str, query: str, queries: list[str], found: tuple[Document, ...]) -> Answer:
        sentences = native.written(found)
        text = " ".join(sentence.text for sentence in sentences) or f"From what I know: {query}"
        candidate: dict[str, Any] = {
            "content": {"role": "model", "parts": [{"text": text}]},
            "finishReason": "STOP",
            "index": 0,
        }
        if queries:
            candidate["groundingMetadata"] = self._grounding(asked, queries, found, sentences)
        read, wrote = native.tokens(query), native.tokens(text)
        answer = {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": read, "candidatesTokenCount": wrote, "totalTokenCount": read + wrote},
            "modelVersion": model,
            "responseId": f"sandbox-{next(self._calls)}",
        }
        by_prompt = model.startswith(BILLED_BY_PROMPT)
        fee = GEMINI_PROMPT * bool(queries) if by_prompt else GEMINI_QUERY * len(queries)
        return Answer(200, as_json(answer), micro_usd=fee + token_price(model, read, wrote))

    def _grounding(
        self, asked: Asked, queries: list[str], found: tuple[Document, ...], sentences: list[native.Sentence]
    ) -> dict[str, Any]:
        call = next(self._calls)
        chips = "".join(f'<a class="chip">{query}</a>' for query in queries)
        grounding: dict[str, Any] = {
            "webSearchQueries": queries,
            "searchEntryPoint": {"renderedContent": f'<style>.chip{{}}</style><div class="container">{chips}</div>'},
        }
        if found:
            grounding["groundingChunks"] = [
                {"web": {"uri": _redirect(asked.origin, document, call), "title": document.domain}}
                for document in found
            ]
            grounding["groundingSupports"] = _supports(sentences)
        return grounding


def _supports(sentences: list[native.Sentence]) -> list[dict[str, Any]]:
    """Segments count UTF-8 bytes; a start of 0 is left out."""
    supports: list[dict[str, Any]] = []
    start = 0
    for number, sentence in enumerate(sentences):
        end = start + len(sentence.text.encode())
        segment: dict[str, Any] = {"endIndex": end, "text": sentence.text}
        if start:
            segment["startIndex"] = start
        supports.append({"segment": segment, "groundingChunkIndices": [number]})
        start = end + 1
    return supports


def _redirect(origin: str, document: Document, call: int) -> str:
    token = urlsafe_b64encode(f"{call} {document.url}".encode()).decode().rstrip("=")
    return f"{origin}/gemini{REDIRECT}{token}"


def _redirected(token: str) -> Answer:
    try:
        url = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().partition(" ")[2]
    except ValueError:
        url = ""
    if not url:
        raise RefusedError(404, "Not Found")
    return Answer(302, b"", "text/html; charset=utf-8", {"Location": url}, is_call=False)
