"""Jina Search (s.jina.ai): reads every page, bills by tokens, and answers in plain text unless JSON is asked for."""

from typing import Any, ClassVar
from urllib.parse import unquote

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import JINA_MILLION_TOKENS
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

MAX_NUM = 20
LEAST_TOKENS = 10_000
"""For each started ten rows, however little they hold."""


class Jina(Vendor):
    """GET /?q= or POST /."""

    name: ClassVar[str] = "jina"
    auth = Refusal(401, "Authentication is required to use this endpoint.", "AuthenticationRequiredError:40103")
    quota = Refusal(
        402, "Account balance not enough to run this query, please recharge.", "InsufficientBalanceError:40203"
    )
    rate = Refusal(429, "Per-key rate limit exceeded (100 requests per minute)", "RateLimitTriggeredError:42903")
    varies: ClassVar[tuple[str, ...]] = ("authorization", "accept", "x-respond-with", "x-site")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("Invalid parameters", "ParamValidationError:40001"),
        422: ("No search results available for query", "AssertionFailureError:42206"),
        500: ("Internal server error", "InternalServerError:50000"),
        503: ("Service is overloaded", "ServiceNodeResourceDrainError:50305"),
    }

    def query(self, asked: Asked) -> str | None:
        query: str | None = _fields(asked).get("q")
        return query

    def key(self, asked: Asked) -> str | None:
        return asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        name, _, status = (refusal.code or f"ApplicationError:{refusal.status}00").partition(":")
        body: dict[str, Any] = {
            "data": None,
            "code": refusal.status,
            "name": name,
            "status": int(status),
            "message": refusal.message,
            "readableMessage": f"{name}: {refusal.message}",
        }
        if refusal.status == 429:
            body |= {"retryAfter": 7, "retryAfterDate": "2026-12-01T00:00:07.000Z"}
        return Answer(refusal.status, as_json(body))

    def serve(self, asked: Asked) -> Answer:
        if asked.method not in ("GET", "POST"):
            raise RefusedError(404, "Not found", "ResourceNotFoundError:40400")
        self.admit(asked)
        try:
            fields = _fields(asked)
        except ValueError:
            raise RefusedError(400, *self.wording[400]) from None
        query, given = fields.get("q"), fields.get("num", fields.get("count", 10))
        if not isinstance(query, str) or not query.strip():
            raise RefusedError(400, "TypeError: q is required", "ParamValidationError:40001")
        if not str(given).isdecimal() or int(given) > MAX_NUM:
            raise RefusedError(400, f"num must be between 0 and {MAX_NUM}", "ParamValidationError:40001")
        site = asked.headers.get("x-site")
        narrowed = {"include_domains": (site.split("//")[-1],)} if site else {}
        page = fields.get("page", 1)
        skipped = (int(page) - 1) * int(given) if str(page).isdecimal() and int(page) > 0 else 0
        found = self.find(asked, query, int(given), offset=skipped, **narrowed)
        if not found:
            raise RefusedError(422, f"No search results available for query {query}", "AssertionFailureError:42206")
        read = asked.headers.get("x-respond-with") != "no-content"
        rows = [_row(document, at, read) for at, document in enumerate(found, 1)]
        content = sum(row.get("usage", {}).get("tokens", 0) for row in rows)
        tokens = max(content, LEAST_TOKENS * -(-len(rows) // 10))
        headers = {"X-Usage-Tokens": str(tokens)}
        micro_usd = tokens * JINA_MILLION_TOKENS // 1_000_000
        if "application/json" not in asked.headers.get("accept", ""):
            return Answer(200, _as_text(rows), "text/plain; charset=utf-8", headers, micro_usd=micro_usd)
        answer = {"code": 200, "status": 20000, "data": rows, "meta": {"usage": {"tokens": tokens}}}
        return Answer(200, as_json(answer), headers=headers, micro_usd=micro_usd)


def _fields(asked: Asked) -> dict[str, Any]:
    """Raises ValueError when the body is no JSON object."""
    if asked.method == "GET":
        in_path = unquote(asked.path.strip("/"))
        return {"q": in_path or None, **asked.params}
    body = asked.json()
    if not isinstance(body, dict):
        raise ValueError("not an object")
    return {**asked.params, **body}


def _row(document: Document, position: int, read: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"title": document.title, "url": document.url, "description": document.snippet(150)}
    if position % 3 != 0:
        row["date"] = dates.short(document.published)
    if not read:
        return row
    if document.generated and position % 7 == 0:  # a page that could not be read
        return row | {"content": "", "warning": "Target URL returned error 403: Forbidden", "usage": {"tokens": 0}}
    content = f"# {document.title}\n\n{document.body}\n"
    return row | {"content": content, "usage": {"tokens": 100 * -(-len(content) // 400)}}


def _as_text(rows: list[dict[str, Any]]) -> bytes:
    blocks = [
        f"[{at}] Title: {row['title']}\n[{at}] URL Source: {row['url']}\n[{at}] Description: {row['description']}\n"
        + (f"[{at}] Markdown Content:\n{row['content']}\n" if row.get("content") else "")
        for at, row in enumerate(rows, 1)
    ]
    return "\n".join(blocks).encode()
