"""Perplexity Search (api.perplexity.ai/search): long Markdown extracts; up to five queries are one unit of the bill."""

from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import PERPLEXITY_FAST_REQUEST, PERPLEXITY_REQUEST
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_QUERIES = 5
MAX_RESULTS = 20
MAX_DOMAINS = 20
RECENCY_DAYS = {"hour": 1, "day": 1, "week": 7, "month": 31, "year": 366}
TYPES = {"web": PERPLEXITY_REQUEST, "people": PERPLEXITY_REQUEST, "fast": PERPLEXITY_FAST_REQUEST}
ERROR_TYPES = {400: "bad_request", 401: "invalid_api_key", 422: "validation_error", 429: "rate_limit_exceeded"}


class Perplexity(Vendor):
    """POST /search."""

    name: ClassVar[str] = "perplexity"
    auth = Refusal(401, "Invalid API key provided. You can find your API key in your account settings.")
    quota = Refusal(
        401, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"
    )
    rate = Refusal(429, "Request rate limit exceeded, please try again later.")

    def query(self, asked: Asked) -> str | None:
        query = asked.json()["query"]
        return " | ".join(query) if isinstance(query, list) else query

    def key(self, asked: Asked) -> str | None:
        return asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        kind = refusal.code or ERROR_TYPES.get(refusal.status, "internal_server_error")
        error = {"message": refusal.message, "type": kind, "code": refusal.status}
        return Answer(refusal.status, as_json({"error": error}))

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/search" or asked.method != "POST":
            raise RefusedError(404, "Not Found")
        self.admit(asked)
        body = body_object(asked, Refusal(400, "The request body is not a JSON object"))
        queries = body.get("query")
        queries = [queries] if isinstance(queries, str) else queries
        if (
            not isinstance(queries, list)
            or not 1 <= len(queries) <= MAX_QUERIES
            or not all(_is_text(q) for q in queries)
        ):
            raise RefusedError(422, f"query: must be a string or a list of 1 to {MAX_QUERIES} strings")
        count, kind = body.get("max_results", 10), body.get("search_type") or "web"
        if kind not in TYPES:
            raise RefusedError(422, f"search_type: must be one of {', '.join(TYPES)}")
        if not is_int(count) or not 1 <= count <= MAX_RESULTS:
            raise RefusedError(422, f"max_results: must be between 1 and {MAX_RESULTS}")
        narrowed = _domains(body) | _window(body, asked.now.date())
        found = [document for query in queries for document in self.find(asked, query, count, **narrowed)]
        pages = body.get("max_tokens_per_page")
        limit = 4 * pages if isinstance(pages, int) else None  # a token is about four characters
        answer = {
            "id": "e38104d5-6bd7-4b0e-9f5c-5a0db0000000",
            "results": [_result(document, at, limit) for at, document in enumerate(found, 1)],
            "server_time": None,
        }
        return Answer(200, as_json(answer), micro_usd=TYPES[kind])


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _domains(body: dict[str, Any]) -> dict[str, Any]:
    listed = body.get("search_domain_filter") or []
    if len(listed) > MAX_DOMAINS:
        raise RefusedError(422, f"search_domain_filter: at most {MAX_DOMAINS} domains")
    denied = tuple(domain[1:] for domain in listed if domain.startswith("-"))
    if denied and len(denied) != len(listed):
        raise RefusedError(422, "search_domain_filter: allow list and deny list cannot be mixed")
    return {"exclude_domains": denied} if denied else {"include_domains": tuple(listed)}


def _window(body: dict[str, Any], today: date) -> dict[str, Any]:
    recency = body.get("search_recency_filter")
    if recency is not None:
        if recency not in RECENCY_DAYS:
            raise RefusedError(422, f"search_recency_filter: must be one of {', '.join(RECENCY_DAYS)}")
        return {"after": today - timedelta(days=RECENCY_DAYS[recency])}
    bounds: dict[str, Any] = {}
    for field, side in (("search_after_date_filter", "after"), ("search_before_date_filter", "before")):
        if body.get(field) is None:
            continue
        try:
            bounds[side] = datetime.strptime(body[field], "%m/%d/%Y").date()  # noqa: DTZ007 - a day, no moment
        except (ValueError, TypeError):
            raise RefusedError(422, f"{field}: must be MM/DD/YYYY") from None
    return bounds


def _result(document: Document, position: int, limit: int | None) -> dict[str, Any]:
    dated = position % 4 != 0
    return {
        "title": document.title,
        "url": document.url,
        "snippet": f"## {document.title}\n\n{document.body}\n\n*{dates.long(document.published)}*"[:limit],
        "date": document.published.isoformat() if dated else None,
        "last_updated": document.published.isoformat() if dated else None,
    }
