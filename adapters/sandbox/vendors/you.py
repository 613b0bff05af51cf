"""You.com (ydc-index.io/v1/search): web and news sections, each optional, `count` for each of them."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, ClassVar

from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import YOU_REQUEST
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_COUNT = 100
MAX_OFFSET = 9
FRESH_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
NEWS_WORDS = ("news", "latest", "today", "뉴스", "속보", "오늘")
NEWS_ROWS = 3


class You(Vendor):
    """GET or POST /v1/search."""

    name: ClassVar[str] = "you"
    auth = Refusal(401, "Invalid or expired API key")
    quota = Refusal(402, "You have used up your credits. Please add credits to go on.", "payment_required")
    rate = Refusal(429, "Rate limit exceeded")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        403: ("Forbidden", None),
        500: ("Internal authorization error", None),
    }

    def query(self, asked: Asked) -> str | None:
        query: str | None = _fields(asked).get("query")
        return query

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-api-key")

    def error(self, refusal: Refusal) -> Answer:
        if refusal.status == 402:
            upgrade = "https://you.example/billing"
            body: dict[str, Any] = {"error": refusal.code, "message": refusal.message, "upgrade_url": upgrade}
        elif refusal.status == 422:
            body = {
                "detail": [
                    {"type": "value_error", "loc": ["query", refusal.code], "msg": refusal.message, "input": None}
                ]
            }
        else:
            body = {"detail": refusal.message}
        return Answer(refusal.status, as_json(body))

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/v1/search" or asked.method not in ("GET", "POST"):
            raise RefusedError(404, "Not Found")
        self.admit(asked)
        try:
            fields = _fields(asked)
        except ValueError:
            raise RefusedError(422, "JSON decode error", "body") from None
        query = fields.get("query")
        if not isinstance(query, str) or not query.strip():
            raise RefusedError(422, "Field required", "query")
        count, offset = _whole(fields, "count", 10, 1, MAX_COUNT), _whole(fields, "offset", 0, 0, MAX_OFFSET)
        narrowed = _domains(fields) | _window(fields, asked.now.date())
        found = self.find(asked, query, count, offset=offset * count, **narrowed)
        results: dict[str, Any] = {}
        if found:
            crawled = bool(fields.get("livecrawl"))
            results["web"] = [_web(document, at, crawled) for at, document in enumerate(found, 1)]
            if any(word in query.casefold() for word in NEWS_WORDS):
                results["news"] = [_news(document) for document in found[: min(count, NEWS_ROWS)]]
        answer = {
            "results": results,
            "metadata": {"search_uuid": "942ccbdd-7705-4d9c-9d37-5a0db0000000", "query": query, "latency": 0.284},
        }
        return Answer(200, as_json(answer), micro_usd=YOU_REQUEST)


def _fields(asked: Asked) -> Mapping[str, Any]:
    """Raises ValueError when the body is no JSON object."""
    if asked.method == "GET":
        return asked.params
    body = asked.json()
    if not isinstance(body, dict):
        raise ValueError("not an object")
    return body


def _whole(fields: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    given = fields.get(name, default)
    try:
        number = int(given)
    except (ValueError, TypeError):
        raise RefusedError(422, "Input should be a valid integer", name) from None
    if not least <= number <= most:
        raise RefusedError(422, f"Input should be between {least} and {most}", name)
    return number


def _domains(fields: Mapping[str, Any]) -> dict[str, Any]:
    sides: dict[str, Any] = {}
    for name in ("include_domains", "exclude_domains"):
        given = fields.get(name) or ()
        sides[name] = tuple(given.split(",")) if isinstance(given, str) else tuple(given)
    return sides


def _window(fields: Mapping[str, Any], today: date) -> dict[str, Any]:
    freshness = fields.get("freshness")
    if not freshness:
        return {}
    if freshness in FRESH_DAYS:
        return {"after": today - timedelta(days=FRESH_DAYS[freshness])}
    first, _, last = str(freshness).partition("to")
    try:
        return {"after": date.fromisoformat(first), "before": date.fromisoformat(last)}
    except ValueError:
        raise RefusedError(
            422, "freshness must be day, week, month, year or YYYY-MM-DDtoYYYY-MM-DD", "freshness"
        ) from None


def _web(document: Document, position: int, crawled: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "url": document.url,
        "title": document.title,
        "description": document.snippet(140),
        "snippets": [document.body],
        "favicon_url": f"https://{document.domain}/favicon.ico",
        "authors": [],
    }
    if position % 4:
        row["page_age"] = f"{document.published.isoformat()}T00:00:00"
    if crawled:
        row["contents"] = {"markdown": f"# {document.title}\n\n{document.body}"}
    return row


def _news(document: Document) -> dict[str, Any]:
    return {
        "title": document.title,
        "description": document.snippet(140),
        "page_age": f"{document.published.isoformat()}T00:00:00",
        "url": document.url,
    }
