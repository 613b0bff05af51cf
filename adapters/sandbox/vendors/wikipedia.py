"""MediaWiki: the action API (a search, or a search with extracts) and the REST search. No key, no bill."""

import html
import re
from typing import Any, ClassVar
from urllib.parse import quote

from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_LIMIT = 500
MAX_EXTRACTS = 20


class Wikipedia(Vendor):
    """GET /w/api.php and /w/rest.php/v1/search/page."""

    name: ClassVar[str] = "wikipedia"
    auth = Refusal(403, "Please set a user-agent and respect our robot policy.")
    quota = Refusal(429, "You are making too many requests to the API. Please try again later.", "ratelimited")
    rate = quota
    varies: ClassVar[tuple[str, ...]] = ("user-agent",)

    def query(self, asked: Asked) -> str | None:
        return asked.params.get("srsearch") or asked.params.get("gsrsearch") or asked.params.get("q")

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("user-agent")

    def error(self, refusal: Refusal) -> Answer:
        if refusal.code == "rest":
            body = {
                "errorKey": "rest-error",
                "messageTranslations": {"en": refusal.message},
                "httpCode": refusal.status,
            }
            return Answer(refusal.status, as_json(body | {"httpReason": "Bad Request"}))
        if refusal.status == 200:
            return _api_error(refusal.code or "internal_api_error", refusal.message)
        return Answer(refusal.status, f"{refusal.message}\n".encode(), "text/plain; charset=utf-8")

    def masked(self, asked: Asked) -> Answer:  # noqa: ARG002 - always the same
        return _api_error("internal_api_error_DBQueryError", "[sandbox] Caught exception of type DBQueryError")

    def serve(self, asked: Asked) -> Answer:
        if not asked.headers.get("user-agent"):
            raise RefusedError(*self.auth)
        if asked.path == "/w/api.php":
            return self._action(asked)
        if asked.path == "/w/rest.php/v1/search/page":
            return self._rest(asked)
        raise RefusedError(404, "Not Found")

    def _action(self, asked: Asked) -> Answer:
        params = asked.params
        if params.get("action") != "query":
            raise RefusedError(200, f'Unrecognized value for parameter "action": {params.get("action")}.', "badvalue")
        if params.get("format") != "json":
            return Answer(200, b"<!DOCTYPE html><html><body><pre>{}</pre></body></html>", "text/html; charset=utf-8")
        if params.get("list") == "search":
            return self._list(asked)
        if params.get("generator") == "search":
            return self._generator(asked)
        return Answer(200, as_json({"batchcomplete": True}), micro_usd=0)

    def _pages(self, asked: Asked, prefix: str) -> tuple[tuple[Document, ...], int]:
        query, given = asked.params.get(f"{prefix}search", ""), asked.params.get(f"{prefix}limit", "10")
        if not query.strip():
            raise RefusedError(200, f'The "{prefix}search" parameter must be set.', f"missingparam-{prefix}search")
        limit = MAX_LIMIT if given == "max" else int(given) if given.isdecimal() else 0
        if limit < 1:
            raise RefusedError(200, f'Invalid value "{given}" for integer parameter "{prefix}limit".', "badinteger")
        offset = asked.params.get(f"{prefix}offset", "0")
        skipped = int(offset) if offset.isdecimal() else 0
        return self.find(asked, query, min(limit, MAX_LIMIT), offset=skipped), skipped

    def _list(self, asked: Asked) -> Answer:
        found, offset = self._pages(asked, "sr")
        rows = [
            {
                "ns": 0,
                "title": document.title,
                "pageid": _page_id(document),
                "size": 40 * len(document.body),
                "wordcount": 6 * len(document.body.split()),
                "snippet": _marked(document, asked.params["srsearch"]),
                "timestamp": f"{document.published.isoformat()}T08:00:00Z",
            }
            for document in found
        ]
        answer: dict[str, Any] = {
            "batchcomplete": True,
            "query": {"searchinfo": {"totalhits": len(rows)}, "search": rows},
        }
        if rows:
            answer["continue"] = {"sroffset": offset + len(rows), "continue": "-||"}
        return Answer(200, as_json(answer), micro_usd=0)

    def _generator(self, asked: Asked) -> Answer:
        found, offset = self._pages(asked, "gsr")
        if not found:
            return Answer(200, as_json({"batchcomplete": True}), micro_usd=0)
        props = asked.params.get("prop", "").split("|")
        with_urls = "info" in props and "url" in asked.params.get("inprop", "").split("|")
        pages: list[dict[str, Any]] = []
        for index, document in enumerate(found, offset + 1):
            page: dict[str, Any] = {"pageid": _page_id(document), "ns": 0, "title": document.title, "index": index}
            if "extracts" in props and index - offset <= MAX_EXTRACTS:
                page["extract"] = _extract(document, plain="explaintext" in asked.params)
            if with_urls:
                page |= {
                    "fullurl": _address(document),
                    "canonicalurl": _address(document),
                    "pagelanguage": document.language,
                }
                page["touched"] = f"{document.published.isoformat()}T08:00:00Z"
            pages.append(page)
        # Pages come in the order of their ids, not of their rank: `index` is the rank.
        pages.sort(key=lambda page: page["pageid"])
        listed: Any = pages
        if asked.params.get("formatversion") != "2":
            listed = {str(page["pageid"]): page for page in pages}
        answer = {
            "batchcomplete": True,
            "continue": {"gsroffset": offset + len(found), "continue": "gsroffset||"},
            "query": {"pages": listed},
        }
        return Answer(200, as_json(answer), micro_usd=0)

    def _rest(self, asked: Asked) -> Answer:
        query, given = asked.params.get("q", ""), asked.params.get("limit", "50")
        if not query.strip():
            raise RefusedError(400, 'The "q" parameter must be set.', "rest")
        if not given.isdecimal() or not 1 <= int(given) <= 100:
            raise RefusedError(400, "The limit parameter must be between 1 and 100.", "rest")
        pages = [
            {
                "id": _page_id(document),
                "key": document.title.replace(" ", "_"),
                "title": document.title,
                "excerpt": _marked(document, query),
                "matched_title": None,
                "description": document.snippet(60),
                "thumbnail": None,
            }
            for document in self.find(asked, query, int(given))
        ]
        return Answer(200, as_json({"pages": pages}), micro_usd=0)


def _api_error(code: str, message: str) -> Answer:
    """MediaWiki answers mistakes and failures with 200."""
    body = {"error": {"code": code, "info": message}, "servedby": "sandbox"}
    return Answer(200, as_json(body), headers={"MediaWiki-API-Error": code})


def _page_id(document: Document) -> int:
    return int.from_bytes(document.id.encode()[-4:], "big") % 9_000_000 + 1_000


def _address(document: Document) -> str:
    return f"https://{document.language}.wikipedia.example/wiki/{quote(document.title.replace(' ', '_'))}"


def _extract(document: Document, *, plain: bool) -> str:
    return document.body if plain else f"<p>{html.escape(document.body, quote=False)}</p>"


def _marked(document: Document, query: str) -> str:
    """A snippet with the words that were found in markup, as MediaWiki sends it."""
    snippet = html.escape(document.snippet(160), quote=True)
    words = [re.escape(word) for word in re.findall(r"\w{3,}", query)]
    if not words:
        return snippet
    return re.sub(rf"(?i)\b({'|'.join(words)})\b", r'<span class="searchmatch">\1</span>', snippet)
