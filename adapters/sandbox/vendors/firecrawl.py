"""Firecrawl search (api.firecrawl.dev): v2 groups results by source, v1 has one list; two credits a started block of ten."""

from typing import Any, ClassVar

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.operators import window
from groundwire.adapters.sandbox.prices import FIRECRAWL_CREDIT
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_QUERY = 500
MAX_LIMIT = 100
SOURCES = ("web", "news", "images")
COMMON_FIELDS = frozenset(
    {"query", "limit", "tbs", "location", "country", "timeout", "ignoreInvalidURLs", "scrapeOptions"}
)
COMMON_FIELDS |= {"origin", "integration"}
FIELDS = {
    "v2": COMMON_FIELDS
    | {"sources", "categories", "includeDomains", "excludeDomains", "safe", "highlights", "enterprise"},
    "v1": COMMON_FIELDS | {"lang", "filter", "maxAge"},
}


class Firecrawl(Vendor):
    """POST /v2/search and /v1/search."""

    name: ClassVar[str] = "firecrawl"
    auth = Refusal(401, "Unauthorized: Invalid token")
    quota = Refusal(
        402,
        "Payment Required: Insufficient credits to perform this request. For more credits, you can upgrade your plan at "
        "https://firecrawl.example/pricing",
    )
    rate = Refusal(
        429,
        "Rate limit exceeded. Consumed (req/min): 11, Remaining (req/min): 0. Upgrade your plan at "
        "https://firecrawl.example/pricing for increased rate limits or please retry after 23s, resets at "
        "Mon Nov 30 2026 10:00:00 GMT+0000 (Coordinated Universal Time)",
    )
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        408: ("Request timed out", None),
        500: ("An unexpected error occurred. Please contact help for support.", "UNKNOWN_ERROR"),
    }

    def query(self, asked: Asked) -> str | None:
        query: str | None = asked.json()["query"]
        return query

    def key(self, asked: Asked) -> str | None:
        return asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        body: dict[str, Any] = {"success": False, "error": refusal.message}
        if refusal.code == "details":
            body |= {"error": "Invalid request body", "details": [{"code": "custom", "message": refusal.message}]}
        elif refusal.code:
            body["code"] = refusal.code
        headers = {"Retry-After": "23"} if refusal.status == 429 else {}
        return Answer(refusal.status, as_json(body), headers=headers)

    def serve(self, asked: Asked) -> Answer:
        version = asked.path[1:3]
        if asked.path not in ("/v2/search", "/v1/search") or asked.method != "POST":
            raise RefusedError(404, f"Cannot {asked.method} {asked.path}")
        self.admit(asked)
        body = body_object(asked, Refusal(400, "Bad Request: the body is not a JSON object"))
        limit = _checked(body, version)
        spans = window(body["tbs"], asked.now.date()) if isinstance(body.get("tbs"), str) else {}
        include, exclude = body.get("includeDomains") or [], body.get("excludeDomains") or []
        found = self.find(
            asked, body["query"], limit, include_domains=tuple(include), exclude_domains=tuple(exclude), **spans
        )
        scraped = bool((body.get("scrapeOptions") or {}).get("formats"))
        if version == "v1":
            return self._v1(found, scraped)
        return self._v2(asked, found, body, scraped)

    def _v1(self, found: tuple[Document, ...], scraped: bool) -> Answer:
        rows = [_web_row(document, 0, scraped) for document in found]
        credits = 2 * -(-len(rows) // 10) + (len(rows) if scraped else 0)
        warning = None if rows else "No search results found"
        answer = {"success": True, "data": rows, "warning": warning, "id": "019a-sandbox"}
        return Answer(200, as_json(answer), micro_usd=credits * FIRECRAWL_CREDIT)

    def _v2(self, asked: Asked, found: tuple[Document, ...], body: dict[str, Any], scraped: bool) -> Answer:
        sources = [one["type"] if isinstance(one, dict) else one for one in body.get("sources") or ["web"]]
        data: dict[str, Any] = {}
        if found and "web" in sources:
            data["web"] = [_web_row(document, at, scraped) for at, document in enumerate(found, 1)]
        if found and "news" in sources:
            data["news"] = [_news_row(asked, document, at) for at, document in enumerate(found, 1)]
        rows = sum(len(group) for group in data.values())
        credits = 2 * -(-rows // 10) + (len(data.get("web", ())) if scraped else 0)
        answer = {"success": True, "data": data, "warning": None, "id": "019a-sandbox", "creditsUsed": credits}
        return Answer(200, as_json(answer), micro_usd=credits * FIRECRAWL_CREDIT)


def _checked(body: dict[str, Any], version: str) -> int:
    """The number of results asked for. Raises RefusedError the way the vendor's own schema does."""
    unknown = sorted(set(body) - FIELDS[version])
    if unknown:
        raise RefusedError(
            400, f"Unrecognized key in body -- please review the documentation: {', '.join(unknown)}", "details"
        )
    query, limit = body.get("query"), body.get("limit", 10 if version == "v2" else 5)
    if not isinstance(query, str) or not query:
        raise RefusedError(400, "query: Required", "details")
    if len(query) > MAX_QUERY and version == "v2":
        raise RefusedError(400, f"query: String must contain at most {MAX_QUERY} character(s)", "details")
    if not is_int(limit):
        raise RefusedError(400, "limit: Expected number, received " + type(limit).__name__, "details")
    if not 1 <= limit <= MAX_LIMIT:
        raise RefusedError(400, f"limit: Number must be between 1 and {MAX_LIMIT}", "details")
    if body.get("includeDomains") and body.get("excludeDomains"):
        raise RefusedError(400, "includeDomains and excludeDomains cannot both be specified", "details")
    for one in body.get("sources") or []:
        if (one.get("type") if isinstance(one, dict) else one) not in SOURCES:
            raise RefusedError(400, "sources: Invalid source", "details")
    count: int = limit
    return count


def _web_row(document: Document, position: int, scraped: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"url": document.url, "title": document.title, "description": document.snippet(300)}
    if position:
        row["position"] = position
    if scraped:
        row["markdown"] = f"# {document.title}\n\n{document.body}\n"
        row["metadata"] = {
            "title": [document.title, f"{document.title} – {document.domain}"],
            "description": document.snippet(120),
            "sourceURL": f"{document.url}?utm_source=search",
            "url": document.url,
            "statusCode": 200,
            "error": None,
        }
    return row


def _news_row(asked: Asked, document: Document, position: int) -> dict[str, Any]:
    return {
        "title": document.title,
        "snippet": document.snippet(200),
        "url": document.url,
        "date": dates.shown(document.published, asked.now.date()),
        "imageUrl": f"https://{document.domain}/lead.jpg",
        "position": position,
    }
