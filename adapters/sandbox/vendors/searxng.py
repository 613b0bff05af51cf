"""SearXNG: an own metasearch server. JSON only when it is asked for by its right name; no count, no key, no bill."""

import html
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json, html_page

PAGE = 12
RANGE_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
ENGINES = ("duckduckgo", "brave", "startpage", "mojeek")


class SearXNG(Vendor):
    """GET or POST /search?format=json. `format=csv` and `rss` are not enabled here: 403, as in a default installation."""

    name: ClassVar[str] = "searxng"
    auth = Refusal(403, "You don't have the permission to access the requested resource.")
    quota = Refusal(429, "Too Many Requests")
    rate = quota
    varies: ClassVar[tuple[str, ...]] = ()

    def query(self, asked: Asked) -> str | None:
        return _form(asked).get("q")

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("authorization")

    def error(self, refusal: Refusal) -> Answer:
        if refusal.status == 429:
            return Answer(429, refusal.message.encode(), "text/plain; charset=utf-8")
        return Answer(refusal.status, html_page(str(refusal.status), refusal.message), "text/html; charset=utf-8")

    def masked(self, asked: Asked) -> Answer:
        engines = [["brave", "Suspended: too many requests"], ["duckduckgo", "CAPTCHA"], ["google", "timeout"]]
        return Answer(200, as_json(_page(self.query_or_none(asked) or "", [], engines)))

    def serve(self, asked: Asked) -> Answer:
        if asked.path not in ("/search", "/") or asked.method not in ("GET", "POST"):
            raise RefusedError(404, "Not Found")
        form = _form(asked)
        wanted = form.get("format", "html")
        if wanted in ("csv", "rss"):
            raise RefusedError(*self.auth)
        query, page = form.get("q", ""), form.get("pageno", "1")
        if wanted != "json":
            text = f"results for {html.escape(query)}"
            return Answer(200, html_page("searxng", text), "text/html; charset=utf-8", micro_usd=0)
        if not query.strip():
            raise RefusedError(400, "No query")
        if not page.isdecimal() or int(page) < 1:
            raise RefusedError(400, 'Invalid value "pageno"')
        days = RANGE_DAYS.get(form.get("time_range", ""))
        if form.get("time_range") and days is None:
            raise RefusedError(400, 'Invalid value "time_range"')
        spans = {"after": asked.now.date() - timedelta(days=days)} if days else {}
        found = self.find(asked, query, PAGE, offset=(int(page) - 1) * PAGE, **spans)
        rows = [_row(document, at) for at, document in enumerate(found, 1)]
        if len(rows) > 2:
            rows.insert(2, _image(found[0]))
        return Answer(200, as_json(_page(query, rows, [["startpage", "timeout"]] if found else [])), micro_usd=0)


def _form(asked: Asked) -> Mapping[str, str]:
    if asked.method == "POST":
        return dict(parse_qsl(asked.body.decode()))
    return asked.params


def _page(query: str, rows: list[dict[str, Any]], unresponsive: list[list[str]]) -> dict[str, Any]:
    return {
        "query": query,
        "results": rows,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [f"{query} explained"] if rows else [],
        "unresponsive_engines": unresponsive,
    }


def _row(document: Document, position: int) -> dict[str, Any]:
    engine = ENGINES[position % len(ENGINES)]
    parts = urlsplit(document.url)
    row: dict[str, Any] = {
        "url": document.url,
        "title": document.title,
        "content": "" if document.generated and position % 8 == 0 else document.snippet(300),
        "publishedDate": f"{document.published.isoformat()}T00:00:00" if position % 2 else None,
        "engine": engine,
        "engines": [engine],
        "positions": [position],
        "score": round(3.0 / position, 4),
        "category": "general",
        "template": "default.html",
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", "", ""],
        "thumbnail": "",
        "img_src": "",
        "priority": "",
    }
    return row


def _image(document: Document) -> dict[str, Any]:
    """A row that is no web page: it has a picture, and no text."""
    return {
        "url": f"https://{document.domain}/gallery",
        "title": f"{document.title} – pictures",
        "img_src": f"https://{document.domain}/one.jpg",
        "engine": "pictures",
        "engines": ["pictures"],
        "positions": [1],
        "score": 0.2,
        "category": "images",
        "template": "images.html",
    }
