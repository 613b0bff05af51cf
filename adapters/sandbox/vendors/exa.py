"""Exa (api.exa.ai): text only when it is asked for; the bill stands in the answer."""

from datetime import date
from hashlib import blake2b
from typing import Any, ClassVar

from groundwire.adapters.sandbox import dates, prices
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

PRICE_BY_TYPE = {
    "auto": prices.EXA_SEARCH,
    "neural": prices.EXA_SEARCH,
    "fast": prices.EXA_SEARCH,
    "keyword": prices.EXA_SEARCH,
    "instant": prices.EXA_INSTANT,
    "lite": prices.EXA_INSTANT,
    "deep": prices.EXA_DEEP,
    "deep-lite": prices.EXA_DEEP,
    "deep-reasoning": prices.EXA_DEEP_REASONING,
}
INCLUDED_RESULTS = 10
MAX_RESULTS = 100
DATE_FIELDS = ("startPublishedDate", "endPublishedDate", "startCrawlDate", "endCrawlDate")


class Exa(Vendor):
    """POST /search."""

    name: ClassVar[str] = "exa"
    auth = Refusal(401, "Invalid API key", "INVALID_API_KEY")
    quota = Refusal(402, "You've exceeded your credits limit. Please top up.", "NO_MORE_CREDITS")
    rate = Refusal(429, "You've exceeded your Exa rate limit of 10 requests per second.", None)
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("Invalid request body", "INVALID_REQUEST_BODY"),
        403: ("Access denied", "ACCESS_DENIED"),
        422: ("One of the URLs could not be processed", "INVALID_URLS"),
        500: ("An error occurred", "DEFAULT_ERROR"),
    }

    def query(self, asked: Asked) -> str | None:
        query: str | None = asked.json()["query"]
        return query

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-api-key") or asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        body = {"requestId": "5a0db0x0000000000000000000000000", "error": refusal.message}
        if refusal.code:
            body["tag"] = refusal.code
        return Answer(refusal.status, as_json(body))

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/search" or asked.method != "POST":
            raise RefusedError(404, f"Cannot {asked.method} {asked.path}")
        self.admit(asked)
        body = body_object(asked, Refusal(400, "Invalid JSON in request body", "INVALID_REQUEST_BODY"))
        query, count, kind = body.get("query"), body.get("numResults", 10), body.get("type", "auto")
        if not isinstance(query, str) or not query.strip():
            raise RefusedError(400, "query: Required", "INVALID_REQUEST_BODY")
        if kind not in PRICE_BY_TYPE:
            raise RefusedError(400, f"type: Invalid enum value, received '{kind}'", "INVALID_REQUEST_BODY")
        if not is_int(count) or count < 1:
            raise RefusedError(400, "numResults must be a positive integer", "INVALID_NUM_RESULTS")
        if count > MAX_RESULTS:
            raise RefusedError(400, f"numResults must be at most {MAX_RESULTS}", "NUM_RESULTS_EXCEEDED")
        found = self.find(
            asked,
            query,
            count,
            include_domains=tuple(body.get("includeDomains") or ()),
            exclude_domains=tuple(body.get("excludeDomains") or ()),
            **_dates(body),
        )
        contents = body.get("contents") or {
            name: body[name] for name in ("text", "highlights", "summary") if name in body
        }
        results = [_result(document, at, contents, kind) for at, document in enumerate(found)]
        cost = PRICE_BY_TYPE[kind] + max(0, len(results) - INCLUDED_RESULTS) * prices.EXA_RESULT_ABOVE_10
        if contents.get("summary"):
            cost += len(results) * prices.EXA_SUMMARY
        dollars = cost / 1_000_000
        answer = {
            "requestId": blake2b(asked.body, digest_size=16).hexdigest(),
            "resolvedSearchType": "neural",
            "searchType": kind,
            "results": results,
            "searchTime": 412.4,
            "costDollars": {"total": dollars, "search": {"neural": dollars}},
        }
        return Answer(200, as_json(answer), micro_usd=cost)


def _dates(body: dict[str, Any]) -> dict[str, date]:
    parsed: dict[str, date] = {}
    for name in DATE_FIELDS:
        if body.get(name) is None:
            continue
        try:
            parsed[name] = dates.parse_iso(body[name])
        except (ValueError, TypeError, AttributeError):
            raise RefusedError(400, f"{name}: Invalid date", "INVALID_REQUEST_BODY") from None
    bounds = {"after": parsed.get("startPublishedDate"), "before": parsed.get("endPublishedDate")}
    return {side: day for side, day in bounds.items() if day is not None}


def _result(document: Document, at: int, contents: dict[str, Any], kind: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "id": document.url,
        "url": document.url,
        "title": document.title if not document.generated or at % 6 != 5 else None,
        "author": None if at % 2 else "",
    }
    if at % 4 != 3:
        result["publishedDate"] = f"{document.published.isoformat()}T01:36:32.547Z"
    if kind == "neural":
        result["score"] = round(0.46 - at * 0.011, 4)
    if contents.get("text"):
        wanted = contents["text"]
        limit = wanted.get("maxCharacters") if isinstance(wanted, dict) else None
        result["text"] = document.body[:limit] if is_int(limit) else document.body
    if contents.get("highlights"):
        result |= {"highlights": [document.snippet(160)], "highlightScores": [0.32]}
    if contents.get("summary"):
        result["summary"] = document.snippet(120)
    return result
