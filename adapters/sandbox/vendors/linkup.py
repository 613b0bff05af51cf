"""Linkup (api.linkup.so): titles are called `name`, pictures stand among the texts, and no result is a 400."""

from datetime import date
from typing import Any, ClassVar

from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.prices import LINKUP_DEEP, LINKUP_STANDARD
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

PRICE_BY_DEPTH = {"fast": LINKUP_STANDARD, "standard": LINKUP_STANDARD, "deep": LINKUP_DEEP}
OUTPUTS = ("searchResults", "sourcedAnswer", "structured")
DEFAULT_RESULTS = 10


class Linkup(Vendor):
    """POST /v1/search. The answer that nothing was found is free, as every 400 is."""

    name: ClassVar[str] = "linkup"
    auth = Refusal(401, "Unauthorized", "UNAUTHORIZED")
    quota = Refusal(429, "You do not have enough credits to perform this request.", "INSUFFICIENT_FUNDS_CREDITS")
    rate = Refusal(429, "Too many requests", "TOO_MANY_REQUESTS")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {
        400: ("Validation failed", "VALIDATION_ERROR"),
        402: ("Payment required", "PAYMENT_REQUIRED"),
        403: ("Your IP address is not whitelisted", "IP_NOT_WHITELISTED"),
        500: ("Internal server error", "INTERNAL_SERVER_ERROR"),
    }

    def query(self, asked: Asked) -> str | None:
        query: str | None = asked.json()["q"]
        return query

    def key(self, asked: Asked) -> str | None:
        return asked.bearer()

    def error(self, refusal: Refusal) -> Answer:
        code, _, field = (refusal.code or "UNKNOWN").partition(":")
        details = [{"field": field, "message": refusal.message}] if field else []
        message = "Validation failed" if field else refusal.message
        error = {"code": code, "message": message, "details": details}
        return Answer(refusal.status, as_json({"statusCode": refusal.status, "error": error}))

    def serve(self, asked: Asked) -> Answer:
        if asked.path != "/v1/search" or asked.method != "POST":
            raise RefusedError(404, f"Cannot {asked.method} {asked.path}", "NOT_FOUND")
        self.admit(asked)
        body = body_object(asked, Refusal(400, "The body must be a JSON object", "VALIDATION_ERROR:body"))
        _check(body)
        count = body.get("maxResults") or DEFAULT_RESULTS
        found = self.find(
            asked,
            body["q"],
            count,
            include_domains=tuple(body.get("includeDomains") or ()),
            exclude_domains=tuple(body.get("excludeDomains") or ()),
            **_window(body),
        )
        if not found:
            raise RefusedError(400, "No results were found for this query.", "SEARCH_QUERY_NO_RESULT")
        if body["outputType"] == "searchResults":
            answer: dict[str, Any] = {"results": [_result(document) for document in found]}
            if body.get("includeImages"):
                answer["results"].insert(1, _image(found[0]))
        elif body["outputType"] == "sourcedAnswer":
            answer = {"answer": found[0].body, "sources": [_source(document) for document in found]}
        else:
            answer = {"answer": found[0].body}
        return Answer(200, as_json(answer), micro_usd=PRICE_BY_DEPTH[body["depth"]])


def _check(body: dict[str, Any]) -> None:
    if not isinstance(body.get("q"), str) or not body["q"].strip():
        raise RefusedError(400, "q should not be empty", "VALIDATION_ERROR:q")
    if body.get("depth") not in PRICE_BY_DEPTH:
        raise RefusedError(400, f"depth must be one of: {', '.join(PRICE_BY_DEPTH)}", "VALIDATION_ERROR:depth")
    if body.get("outputType") not in OUTPUTS:
        raise RefusedError(400, f"outputType must be one of: {', '.join(OUTPUTS)}", "VALIDATION_ERROR:outputType")
    if body["outputType"] == "structured" and not isinstance(body.get("structuredOutputSchema"), str):
        raise RefusedError(400, "must be a JSON string", "VALIDATION_ERROR:structuredOutputSchema")
    count = body.get("maxResults")
    if count is not None and (not is_int(count) or count < 1):
        raise RefusedError(400, "maxResults must be a positive integer", "VALIDATION_ERROR:maxResults")


def _window(body: dict[str, Any]) -> dict[str, date]:
    bounds: dict[str, date] = {}
    for field, side in (("fromDate", "after"), ("toDate", "before")):
        if body.get(field) is None:
            continue
        try:
            bounds[side] = date.fromisoformat(body[field])
        except (ValueError, TypeError):
            raise RefusedError(400, f"{field} must be a valid ISO 8601 date", f"VALIDATION_ERROR:{field}") from None
    return bounds


def _result(document: Document) -> dict[str, Any]:
    text = f"{document.title}\n\n{document.body}"
    return {"type": "text", "name": document.title, "url": document.url, "content": text, "favicon": ""}


def _image(document: Document) -> dict[str, Any]:
    return {"type": "image", "name": document.title, "url": f"https://{document.domain}/one.png"}


def _source(document: Document) -> dict[str, Any]:
    return {"name": document.title, "url": document.url, "snippet": document.snippet(160), "favicon": ""}
