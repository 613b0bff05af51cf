"""Google Programmable Search (customsearch/v1): ten a page at most, numbers as strings, no `items` when there are none."""

import html
import re
from datetime import timedelta
from typing import Any, ClassVar

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import GOOGLE_PSE_REQUEST
from groundwire.adapters.sandbox.vendor import PLAIN, Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_NUM = 10
MAX_START = 91
INVALID = Refusal(400, "Request contains an invalid argument.", "badRequest")
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
_RESTRICT = re.compile(r"([dwmy])(\d*)")
_UNIT_DAYS = {"d": 1, "w": 7, "m": 31, "y": 366}


class GooglePSE(Vendor):
    """GET /customsearch/v1. The key comes in the address or in `X-Goog-Api-Key`."""

    name: ClassVar[str] = "google_pse"
    auth = Refusal(400, "API key not valid. Please pass a valid API key.", "badRequest:API_KEY_INVALID")
    quota = Refusal(
        429,
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service 'customsearch.googleapis.com' "
        "for consumer 'project_number:123'.",
        "rateLimitExceeded:RATE_LIMIT_EXCEEDED",
    )
    rate = Refusal(
        429,
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service "
        "'customsearch.googleapis.com' for consumer 'project_number:123'.",
        "rateLimitExceeded:RATE_LIMIT_EXCEEDED",
    )
    varies: ClassVar[tuple[str, ...]] = ("x-goog-api-key",)
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: (INVALID.message, INVALID.code),
        403: ("Custom Search API has not been used in project 123 before or it is disabled.", "accessNotConfigured"),
        404: ("Requested entity was not found.", "notFound"),
    }

    def query(self, asked: Asked) -> str | None:
        return asked.params.get("q")

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-goog-api-key") or asked.params.get("key")

    def error(self, refusal: Refusal) -> Answer:
        reason, _, detail = (refusal.code or "backendError").partition(":")
        error: dict[str, Any] = {
            "code": refusal.status,
            "message": refusal.message,
            "errors": [{"message": refusal.message, "domain": "global", "reason": reason}],
            "status": STATUS_NAMES.get(refusal.status, PLAIN.get(refusal.status, "UNKNOWN").upper().replace(" ", "_")),
        }
        if detail:
            info = "type.googleapis.com/google.rpc.ErrorInfo"
            error["details"] = [{"@type": info, "reason": detail, "domain": "googleapis.com"}]
        return Answer(refusal.status, as_json({"error": error}))

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/customsearch/v1" or asked.method != "GET":
            raise RefusedError(404, *self.wording[404])
        if self.key(asked) is None:
            raise RefusedError(403, "The request is missing a valid API key.", "forbidden")
        self.admit(asked)
        params = asked.params
        query, num, start = params.get("q", ""), params.get("num", "10"), params.get("start", "1")
        if not query or not params.get("cx") or not num.isdecimal() or not start.isdecimal():
            raise RefusedError(*INVALID)
        count, first = int(num), int(start)
        if not 1 <= count <= MAX_NUM or not 1 <= first <= MAX_START:
            raise RefusedError(*INVALID)
        found = self.find(asked, query, count, offset=first - 1, **_narrowed(asked))
        total = str(1230 * len(found))
        answer: dict[str, Any] = {
            "kind": "customsearch#search",
            "url": {"type": "application/json", "template": "https://customsearch.example/v1?q={searchTerms}"},
            "queries": {
                "request": [{"title": "Custom Search", "totalResults": total, "count": count, "startIndex": first}]
            },
            "context": {"title": "Sandbox"},
            "searchInformation": {
                "searchTime": 0.31,
                "formattedSearchTime": "0.31",
                "totalResults": total,
                "formattedTotalResults": f"{int(total):,}",
            },
        }
        if found:
            answer["queries"]["nextPage"] = [{"startIndex": first + len(found)}]
            answer["items"] = [_item(document, at) for at, document in enumerate(found, first)]
        return Answer(200, as_json(answer), micro_usd=GOOGLE_PSE_REQUEST)


def _narrowed(asked: Asked) -> dict[str, Any]:
    narrowed: dict[str, Any] = {}
    restrict = _RESTRICT.fullmatch(asked.params.get("dateRestrict", ""))
    if restrict:
        narrowed["after"] = asked.now.date() - timedelta(days=_UNIT_DAYS[restrict[1]] * int(restrict[2] or 1))
    site = asked.params.get("siteSearch")
    if site:
        side = "exclude_domains" if asked.params.get("siteSearchFilter") == "e" else "include_domains"
        narrowed[side] = (site,)
    return narrowed


def _item(document: Document, position: int) -> dict[str, Any]:
    shown = dates.short(document.published)
    text = document.snippet(180)
    item: dict[str, Any] = {
        "kind": "customsearch#result",
        "title": document.title,
        "htmlTitle": f"<b>{html.escape(document.title)}</b>",
        "link": document.url,
        "displayLink": document.domain,
        "formattedUrl": document.url,
    }
    if not document.generated or position % 7:
        item["snippet"] = f"{shown} ... {text[:90]}\u00a0{text[90:]}\n" if position % 2 == 0 else text
        item["htmlSnippet"] = f"{shown} <b>...</b> {html.escape(text)}&nbsp;<br>\n"
    if position % 3 != 0:
        tags = {"article:published_time": f"{document.published.isoformat()}T10:00:00Z", "og:title": document.title}
        item["pagemap"] = {"metatags": [tags]}
    return item
