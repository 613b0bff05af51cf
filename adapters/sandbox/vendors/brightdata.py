"""Bright Data SERP (api.brightdata.com/request): a search engine's page through a proxy, parsed on request."""

import html
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.operators import window
from groundwire.adapters.sandbox.prices import BRIGHTDATA_REQUEST
from groundwire.adapters.sandbox.vendor import Vendor, body_object
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json, html_page

PAGE = 10
ENGINES = {"google": "q", "bing": "q", "duckduckgo": "q", "yandex": "text"}
NOWHERE = {"link": "", "title": "Images", "description": "", "rank": 0}
"""A row that leads nowhere, as parsed pages have them."""


class BrightData(Vendor):
    """POST /request. Errors are plain text with the reason in `x-brd-*` headers."""

    name: ClassVar[str] = "brightdata"
    auth = Refusal(401, "Invalid token")
    quota = Refusal(403, "Monthly usage limit reached", "client_10100")
    rate = Refusal(429, "Too many requests for this zone", "client_10030")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        403: ("Access denied by policy", "policy_20240"),
        407: ("Invalid credentials", "client_10000"),
        502: ("Target site could not be reached", "target_40001"),
        202: ("Request is not ready yet", None),
    }

    def query(self, asked: Asked) -> str | None:
        return _target(asked.json()["url"])[1]

    def key(self, asked: Asked) -> str | None:
        return asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        headers = {"x-brd-debug": "req_id=sandbox; billed=false"}
        if refusal.code:
            headers |= {
                "x-brd-err-code": refusal.code,
                "x-brd-err-msg": refusal.message.encode("ascii", "replace").decode(),
            }
        return Answer(refusal.status, refusal.message.encode(), "text/plain; charset=utf-8", headers)

    def masked(self, asked: Asked) -> Answer:
        """The envelope's 200 around the target's failure; in raw format a page of HTML."""
        headers = {"x-brd-err-code": "target_40001", "x-brd-err-msg": "Target site could not be reached"}
        if b'"json"' in asked.body:
            return Answer(200, as_json({"status_code": 502, "headers": headers, "body": ""}))
        return Answer(200, html_page("Before you continue to the search", "consent"), "text/html; charset=utf-8")

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/request" or asked.method != "POST":
            raise RefusedError(404, "Cannot find this endpoint")
        self.admit(asked)
        body = body_object(asked, Refusal(400, "Request body must be a JSON object"))
        for name in ("zone", "url"):
            if not isinstance(body.get(name), str) or not body[name]:
                raise RefusedError(400, f'"{name}" is required')
        if body.get("format") not in ("raw", "json"):
            raise RefusedError(400, '"format" must be one of [raw, json]')
        try:
            engine, query, params = _target(body["url"])
        except ValueError as error:
            raise RefusedError(400, str(error)) from None
        parsed = body.get("data_format")
        wants_json = params.get("brd_json") == "1" or parsed in ("parsed", "parsed_light", "parsed_bing")
        if engine == "yandex" and wants_json:
            raise RefusedError(400, "JSON output is not supported for this search engine")
        page, kind = self._page(asked, engine, query, params, light=parsed == "parsed_light"), "application/json"
        payload = as_json(page)
        if not wants_json:
            rows = page.get("organic") or page.get("news") or []
            payload, kind = _as_html(query, rows), "text/html; charset=utf-8"
        if body["format"] == "json":
            inner = {"status_code": 200, "headers": {"content-type": kind}, "body": payload.decode()}
            payload, kind = as_json(inner), "application/json"
        debug = {"x-brd-debug": "req_id=sandbox; billed=true"}
        return Answer(200, payload, kind, debug, micro_usd=BRIGHTDATA_REQUEST)

    def _page(self, asked: Asked, engine: str, query: str, params: dict[str, str], *, light: bool) -> dict[str, Any]:
        start = int(params["start"]) if params.get("start", "0").isdecimal() and "start" in params else 0
        spans = window(params.get("tbs", ""), asked.now.date())
        found = self.find(asked, query, PAGE, offset=start, **spans)
        rows = [_row(asked, document, rank, light) for rank, document in enumerate(found, start + 1)]
        if light:
            return {"organic": [rows[0], NOWHERE, *rows[1:]] if rows else []}
        page: dict[str, Any] = {
            "general": {
                "search_engine": engine,
                "query": query,
                "results_cnt": 1240 * len(found),
                "search_time": 0.41,
                "language": params.get("hl", "en"),
                "mobile": False,
                "search_type": "text",
                "page_title": f"{query} - Search",
                "timestamp": asked.now.strftime("%Y-%m-%dT00:00:00.000Z"),
            },
            "input": {"original_url": f"https://{engine}.example/", "request_id": "hl_sandbox"},
            "related": [{"text": f"{query} guide", "link": "https://search.example/", "rank": 1}],
            "pagination": {"current_page": start // PAGE + 1, "next_page_start": start + PAGE},
        }
        if rows and params.get("tbm") == "nws":
            page["news"] = [
                row | {"date": dates.shown(d.published, asked.now.date())} for row, d in zip(rows, found, strict=True)
            ]
        elif rows:
            page["organic"] = [rows[0], NOWHERE, *rows[1:]]
        return page


def _target(url: str) -> tuple[str, str, dict[str, str]]:
    """Engine, query and parameters of the address to be fetched. Raises ValueError with the vendor's words."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError('"url" must be a valid URL')
    params = dict(parse_qsl(parts.query))
    for engine, field in ENGINES.items():
        if engine in parts.hostname.split("."):
            query = params.get(field, "")
            if not query:
                raise ValueError("Search query is missing in the URL")
            return engine, query, params
    raise ValueError("This zone only supports search engines")


def _row(asked: Asked, document: Document, rank: int, light: bool) -> dict[str, Any]:
    """Quirks of the real thing: a date glued before the text, "Read more" stuck on after it, white space around titles."""
    text = document.snippet(280)
    if rank % 3 == 1:
        text += "Read more"
    if rank % 4 == 0:
        text = f"{dates.short(document.published)} — {text}"
    row: dict[str, Any] = {
        "link": document.url,
        "title": f" {document.title} " if rank % 5 == 0 else document.title,
        "description": text,
        "rank": rank,
        "global_rank": rank + 1,
    }
    if not light:
        row |= {"source": document.domain, "display_link": f"https://{document.domain} › …"}
        if rank == 2:
            row["extensions"] = [{"type": "text", "text": dates.shown(document.published, asked.now.date())}]
    return row


def _as_html(query: str, rows: list[dict[str, Any]]) -> bytes:
    items = "".join(
        f'<div class="g"><a href="{row["link"]}"><h3>{html.escape(row["title"])}</h3></a></div>' for row in rows
    )
    return f"<!doctype html><html><head><title>{html.escape(query)}</title></head><body>{items}</body></html>".encode()
