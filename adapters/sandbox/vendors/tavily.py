"""Tavily (api.tavily.com): extracts with a score; basic search is one credit, advanced two."""

from datetime import date, timedelta
from hashlib import blake2b
from typing import Any, ClassVar
from uuid import UUID

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import TAVILY_CREDIT
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_QUERY = 400
MAX_RESULTS = 20
DEPTH_CREDITS = {"basic": 1, "fast": 1, "ultra-fast": 1, "advanced": 2}
TOPICS = ("general", "news", "finance")
RANGE_DAYS = {"day": 1, "d": 1, "week": 7, "w": 7, "month": 31, "m": 31, "year": 366, "y": 366}
_ONE_WORD_COUNTRIES = """
    argentina australia austria bangladesh belgium bolivia brazil bulgaria cambodia canada chile china colombia croatia cuba
    cyprus denmark ecuador egypt estonia ethiopia finland france georgia germany ghana greece hungary iceland india indonesia
    iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kuwait latvia lebanon lithuania luxembourg malaysia
    malta mexico mongolia morocco myanmar nepal netherlands nigeria norway oman pakistan panama paraguay peru philippines
    poland portugal qatar romania russia senegal serbia singapore slovakia slovenia spain sweden switzerland taiwan tanzania
    thailand tunisia turkey uganda ukraine uruguay uzbekistan venezuela vietnam
"""
COUNTRIES = frozenset(_ONE_WORD_COUNTRIES.split()) | {
    "czech republic",
    "new zealand",
    "saudi arabia",
    "south africa",
    "south korea",
    "sri lanka",
    "united arab emirates",
    "united kingdom",
    "united states",
}


class Tavily(Vendor):
    """POST /search; GET /usage."""

    name: ClassVar[str] = "tavily"
    auth = Refusal(401, "Unauthorized: missing or invalid API key.")
    quota = Refusal(
        432, "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support."
    )
    rate = Refusal(429, "Your request has been blocked due to excessive requests. Please reduce rate of requests.")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        403: ("This URL is not supported", None),
        433: ("This request exceeds your pay-as-you-go limit. Please increase your limit.", None),
        500: ("Internal Server Error", None),
    }

    def query(self, asked: Asked) -> str | None:
        query: str | None = asked.json()["query"]
        return query

    def key(self, asked: Asked) -> str | None:
        if asked.bearer():
            return asked.bearer()
        try:
            key = asked.json()["api_key"]
        except (ValueError, LookupError, TypeError):
            return None
        return key if isinstance(key, str) else None

    def error(self, refusal: Refusal) -> Answer:
        headers = {"retry-after": "60"} if refusal.status == 429 else {}
        if refusal.code is not None:  # a field is named: the framework's own list of what is wrong
            wrong = {"type": "value_error", "loc": ["body", refusal.code], "msg": refusal.message, "input": None}
            return Answer(refusal.status, as_json({"detail": [wrong]}), headers=headers)
        return Answer(refusal.status, as_json({"detail": {"error": refusal.message}}), headers=headers)

    def serve(self, asked: Asked) -> Answer:
        if asked.path == "/usage" and asked.method == "GET":
            self.admit(asked)
            usage = {"key": {"usage": 12, "limit": None}, "account": {"plan_usage": 12, "plan_limit": 1000}}
            return Answer(200, as_json(usage))
        if asked.path != "/search" or asked.method != "POST":
            raise RefusedError(404, "Not Found")
        self.admit(asked)
        body = body_object(asked, Refusal(422, "JSON decode error", "body"))
        _check(body)
        count, topic, depth = (
            body.get("max_results", 5),
            body.get("topic", "general"),
            body.get("search_depth", "basic"),
        )
        found = self.find(
            asked,
            body["query"],
            count,
            include_domains=tuple(body.get("include_domains") or ()),
            exclude_domains=tuple(body.get("exclude_domains") or ()),
            **_span(body, asked.now.date()),
        )
        credits = DEPTH_CREDITS[depth]
        answer: dict[str, Any] = {
            "query": body["query"],
            "follow_up_questions": None,
            "answer": found[0].body if found and body.get("include_answer") else None,
            "images": [],
            "results": [_result(document, at, body, topic) for at, document in enumerate(found)],
            "response_time": 0.87,
            "request_id": str(UUID(bytes=blake2b(asked.body, digest_size=16).digest())),
        }
        if body.get("include_usage"):
            answer["usage"] = {"credits": credits}
        return Answer(200, as_json(answer), micro_usd=credits * TAVILY_CREDIT)


def _check(body: dict[str, Any]) -> None:
    query = body.get("query")
    if query is None:
        raise RefusedError(422, "Field required", "query")
    if not isinstance(query, str):
        raise RefusedError(422, "Input should be a valid string", "query")
    if not query.strip():
        raise RefusedError(400, "Query is missing.")
    if len(query) > MAX_QUERY:
        raise RefusedError(400, f"Query is too long. Max query length is {MAX_QUERY} characters.")
    if not is_int(body.get("max_results", 5)):
        raise RefusedError(422, "Input should be a valid integer", "max_results")
    if not 0 <= body.get("max_results", 5) <= MAX_RESULTS:
        raise RefusedError(400, f"Invalid max_results. Must be between 0 and {MAX_RESULTS}.")
    if body.get("search_depth", "basic") not in DEPTH_CREDITS:
        raise RefusedError(400, f"Invalid search depth. Must be one of {', '.join(DEPTH_CREDITS)}.")
    if body.get("topic", "general") not in TOPICS:
        raise RefusedError(400, "Invalid topic. Must be 'general', 'news' or 'finance'.")
    country = body.get("country")
    if country is not None and (country not in COUNTRIES or body.get("topic", "general") != "general"):
        raise RefusedError(
            400, "Invalid country. Must be a supported country name in lower case, with topic 'general'."
        )
    for name, most in (("include_domains", 300), ("exclude_domains", 150)):
        if len(body.get(name) or ()) > most:
            raise RefusedError(400, f"Max {most} domains are allowed in {name}.")


def _span(body: dict[str, Any], today: date) -> dict[str, date]:
    named = body.get("time_range")
    if named is not None:
        if named not in RANGE_DAYS:
            raise RefusedError(400, "Invalid time range. Must be one of day, week, month, year, d, w, m, y.")
        return {"after": today - timedelta(days=RANGE_DAYS[named])}
    span: dict[str, date] = {}
    for field, side in (("start_date", "after"), ("end_date", "before")):
        if body.get(field) is None:
            continue
        try:
            span[side] = date.fromisoformat(body[field])
        except (ValueError, TypeError):
            raise RefusedError(400, f"Invalid {field}. Must be YYYY-MM-DD.") from None
    return span


def _result(document: Document, at: int, body: dict[str, Any], topic: str) -> dict[str, Any]:
    first, _, rest = document.body.partition(". ")
    result: dict[str, Any] = {
        "url": document.url,
        "title": document.title,
        "content": f"{first}. [...] {rest}" if rest and at % 3 == 2 else document.body,
        "score": round(0.93 - 0.083 * at, 6) if at < 10 else 0.05,
        "raw_content": f"# {document.title}\n\n{document.body}" if body.get("include_raw_content") else None,
    }
    if topic == "news":
        result["published_date"] = dates.mail(document.published)
    if body.get("include_favicon"):
        result["favicon"] = f"https://{document.domain}/favicon.ico"
    return result
