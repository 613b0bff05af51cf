"""Brave Search (api.search.brave.com): markup in texts, sections that are left out when empty, limits told in headers."""

import html
import re
from datetime import date, timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import BRAVE_REQUEST
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_CHARACTERS = 400
MAX_WORDS = 50
MAX_COUNT = {"/res/v1/web/search": 20, "/res/v1/news/search": 50}
FRESH_DAYS = {"pd": 1, "pw": 7, "pm": 31, "py": 366}
RATE_HEADERS = {
    "X-RateLimit-Limit": "50, 0",
    "X-RateLimit-Policy": "50;w=1, 0;w=2592000",
    "X-RateLimit-Remaining": "49, 0",
    "X-RateLimit-Reset": "1, 1180734",
}
_COUNTRIES = """
    AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US ALL
"""
_LANGUAGES = """
    ar eu bn bg ca el zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml mr nb pl
    pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi
"""
COUNTRIES = frozenset(_COUNTRIES.split())
LANGUAGES = frozenset(_LANGUAGES.split())


class Brave(Vendor):
    """GET /res/v1/web/search and /res/v1/news/search."""

    name: ClassVar[str] = "brave"
    auth = Refusal(422, "The provided subscription token is invalid.", "SUBSCRIPTION_TOKEN_INVALID")
    quota = Refusal(429, "Request quota limit exceeded for plan", "QUOTA_LIMITED")
    rate = Refusal(429, "Request rate limit exceeded for plan", "RATE_LIMITED")
    varies: ClassVar[tuple[str, ...]] = ("x-subscription-token",)
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("The option is not available in your plan", "OPTION_NOT_IN_PLAN"),
        402: ("The monthly credit of your plan is used up", "USAGE_LIMIT_EXCEEDED"),
        403: ("The resource is not allowed for your plan", "RESOURCE_NOT_ALLOWED"),
        404: ("The resource could not be found", "RESOURCE_NOT_FOUND"),
        422: ("Unable to validate request parameter(s)", "VALIDATION"),
        500: ("Internal server error", "INTERNAL"),
    }

    def query(self, asked: Asked) -> str | None:
        return asked.params.get("q")

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-subscription-token")

    def error(self, refusal: Refusal) -> Answer:
        headers = dict(RATE_HEADERS)
        meta: dict[str, Any] = {}
        if refusal.status == 429:
            used_up = refusal.code == "QUOTA_LIMITED"
            headers["X-RateLimit-Remaining"] = "1, 0" if used_up else "0, 1985"
            headers["X-RateLimit-Limit"] = "1, 2000"
            meta = {
                "plan": "Free",
                "rate_limit": 1,
                "rate_current": 0 if used_up else 1,
                "quota_limit": 2000,
                "quota_current": 2000 if used_up else 15,
                "component": "rate_limiter",
            }
        error = {
            "id": str(UUID(int=0x5A0DB0)),
            "status": refusal.status,
            "code": refusal.code or "UNKNOWN",
            "detail": refusal.message,
            "meta": meta,
        }
        return Answer(
            refusal.status,
            as_json({"type": "ErrorResponse", "error": error, "time": 1_796_108_400}),
            headers=headers,
        )

    def serve(self, asked: Asked) -> Answer:
        most = MAX_COUNT.get(asked.path)
        if most is None or asked.method != "GET":
            raise RefusedError(404, *self.wording[404])
        self.admit(asked)
        query, count, offset = asked.params.get("q", ""), *_checked(asked, most)
        found = self.find(asked, query, count, offset=offset * count, **_window(asked))
        marked = asked.params.get("text_decorations", "true") not in ("false", "0")
        if asked.path.startswith("/res/v1/news"):
            rows = [_news(asked, document) for document in found]
            answer: dict[str, Any] = {"type": "news", "query": {"original": query}, "results": rows}
            return Answer(200, as_json(answer), headers=RATE_HEADERS, micro_usd=BRAVE_REQUEST)
        answer = {
            "type": "search",
            "query": {"original": query, "more_results_available": bool(found), "show_strict_warning": False},
        }
        if found:
            order = [{"type": "web", "index": at, "all": False} for at in range(len(found))]
            answer["mixed"] = {"type": "mixed", "main": order, "top": [], "side": []}
            rows = [_web(asked, document, query, at, marked) for at, document in enumerate(found, 1)]
            answer["web"] = {"type": "search", "results": rows, "family_friendly": True}
        return Answer(200, as_json(answer), headers=RATE_HEADERS, micro_usd=BRAVE_REQUEST)


def _checked(asked: Asked, most: int) -> tuple[int, int]:
    params = asked.params
    query, count, offset = (
        params.get("q", "").strip(),
        params.get("count", str(min(most, 20))),
        params.get("offset", "0"),
    )
    sound = (
        0 < len(query) <= MAX_CHARACTERS
        and len(query.split()) <= MAX_WORDS
        and count.isdecimal()
        and 1 <= int(count) <= most
        and offset.isdecimal()
        and int(offset) <= 9
        and params.get("country", "US").upper() in COUNTRIES
        and params.get("search_lang", "en").lower() in LANGUAGES
        and params.get("safesearch", "moderate") in ("off", "moderate", "strict")
    )
    if not sound:
        raise RefusedError(422, *Brave.wording[422])
    return int(count), int(offset)


def _window(asked: Asked) -> dict[str, date]:
    freshness = asked.params.get("freshness")
    if not freshness:
        return {}
    if freshness in FRESH_DAYS:
        return {"after": asked.now.date() - timedelta(days=FRESH_DAYS[freshness])}
    first, _, last = freshness.partition("to")
    try:
        return {"after": date.fromisoformat(first), "before": date.fromisoformat(last)}
    except ValueError:
        raise RefusedError(422, *Brave.wording[422]) from None


def _web(asked: Asked, document: Document, query: str, position: int, marked: bool) -> dict[str, Any]:
    text = html.escape(document.snippet(260))
    if marked:
        words = [re.escape(word) for word in re.findall(r"\w{3,}", query)]
        text = re.sub(rf"(?i)\b({'|'.join(words)})\b", r"<strong>\1</strong>", text) if words else text
    parts = urlsplit(document.url)
    row: dict[str, Any] = {
        "title": html.escape(document.title),
        "url": document.url,
        "is_source_local": False,
        "is_source_both": False,
        "description": text,
        "profile": {"name": document.domain, "url": document.url, "long_name": document.domain, "img": f"{_ICON}"},
        "language": document.language,
        "family_friendly": True,
        "type": "search_result",
        "subtype": "generic",
        "is_live": False,
        "meta_url": {
            "scheme": parts.scheme,
            "netloc": parts.netloc,
            "hostname": parts.hostname,
            "favicon": _ICON,
            "path": "› " + parts.path.strip("/"),
        },
    }
    if position % 3:
        row["page_age"] = f"{document.published.isoformat()}T08:00:00"
        row["age"] = dates.relative(document.published, asked.now.date()) or dates.long(document.published)
    if asked.params.get("extra_snippets") in ("true", "1"):
        row["extra_snippets"] = [html.escape(document.body)]
    return row


_ICON = "https://icons.example/favicon.ico"


def _news(asked: Asked, document: Document) -> dict[str, Any]:
    return {
        "type": "news_result",
        "title": html.escape(document.title),
        "url": document.url,
        "description": html.escape(document.snippet(200)),
        "age": dates.shown(document.published, asked.now.date()),
        "page_age": f"{document.published.isoformat()}T08:00:00",
        "breaking": False,
        "is_live": False,
    }
