"""Serper (google.serper.dev): Google results as JSON, one credit for up to ten."""

import html
from typing import Any, ClassVar

from groundwire.adapters.sandbox import dates
from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.operators import window
from groundwire.adapters.sandbox.prices import SERPER_CREDIT
from groundwire.adapters.sandbox.vendor import Vendor, body_object, is_int
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError, as_json

PAGE = 10
NO_BODY = Refusal(400, "Invalid JSON body")


class Serper(Vendor):
    """POST /search, /news; GET /account."""

    name: ClassVar[str] = "serper"
    auth = Refusal(403, "Unauthorized.")
    quota = Refusal(400, "Not enough credits")
    rate = Refusal(429, "Rate limit exceeded")
    wording: ClassVar[dict[int, tuple[str, str | None]]] = {400: ("Invalid request parameters", None)}

    def query(self, asked: Asked) -> str | None:
        query: str | None = asked.json()["q"]
        return query

    def key(self, asked: Asked) -> str | None:
        return asked.headers.get("x-api-key")

    def error(self, refusal: Refusal) -> Answer:
        return Answer(refusal.status, as_json({"message": refusal.message, "statusCode": refusal.status}))

    def serve(self, asked: Asked) -> Answer:
        self.admit(asked)
        if asked.path == "/account":
            return Answer(200, as_json({"balance": 2492, "rateLimit": 50}))
        if asked.path not in ("/search", "/news") or asked.method != "POST":
            raise RefusedError(404, "Not Found")
        if asked.body.lstrip().startswith(b"["):
            return self._batch(asked)
        answer, credits = self._search(asked, body_object(asked, NO_BODY))
        return Answer(200, as_json(answer), micro_usd=credits * SERPER_CREDIT)

    def _batch(self, asked: Asked) -> Answer:
        try:
            bodies = asked.json()
        except ValueError:
            raise RefusedError(*NO_BODY) from None
        answers = [self._search(asked, body if isinstance(body, dict) else {}) for body in bodies]
        return Answer(200, as_json([a for a, _ in answers]), micro_usd=sum(n for _, n in answers) * SERPER_CREDIT)

    def _search(self, asked: Asked, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
        query, num, page = body.get("q"), body.get("num", 10), body.get("page", 1)
        if not isinstance(query, str) or not query.strip():
            raise RefusedError(400, "Missing query parameter")
        if not is_int(num) or not is_int(page) or num < 1 or page < 1:
            raise RefusedError(400, "Invalid request parameters")
        if len(query) > 2048:
            raise RefusedError(400, "Query too long")
        spans = window(str(body.get("tbs", "")), asked.now.date())
        # Google gives ten a page whatever is asked; Serper bills what is asked.
        found = self.find(asked, query, min(num, PAGE), offset=(page - 1) * PAGE, **spans)
        credits = 1 if num <= PAGE else 2
        news = asked.path == "/news"
        echo = {"q": query, "type": "news" if news else "search", "num": num, "engine": "google"}
        echo |= {name: body[name] for name in ("gl", "hl", "tbs", "page", "location") if name in body}
        answer: dict[str, Any] = {"searchParameters": echo}
        if news:
            answer["news"] = [_news_row(asked, document, at) for at, document in enumerate(found, 1)]
        elif found:
            answer |= self._blocks(query, found)
            answer["organic"] = [_row(asked, document, at) for at, document in enumerate(found, 1)]
            answer["relatedSearches"] = [{"query": f"{query} explained"}, {"query": f"{query} guide"}]
        answer["credits"] = credits
        return answer, credits

    def _blocks(self, query: str, found: tuple[Document, ...]) -> dict[str, Any]:
        best = found[0]
        if best.generated:
            return {}
        return {
            "answerBox": {
                "title": best.title,
                "snippet": html.escape(best.snippet(200)),
                "snippetHighlighted": [best.title],
                "link": best.url,
                "date": dates.short(best.published),
            },
            "peopleAlsoAsk": [
                {"question": f"{query}?", "snippet": best.snippet(120), "title": best.title, "link": best.url}
            ],
        }


def _row(asked: Asked, document: Document, position: int) -> dict[str, Any]:
    """Quirks of the real thing: tracking in links, text fragments, entities, relative dates that also lead the snippet."""
    link = document.url
    if position % 4 == 2:
        link += "?srsltid=AfmBOo" + document.id[-6:]
    elif position % 5 == 0:
        link += "#:~:text=" + document.title.split(" ", 1)[0]
    row: dict[str, Any] = {"title": html.escape(document.title, quote=False), "link": link}
    shown = dates.shown(document.published, asked.now.date(), document.language == "ko")
    snippet = html.escape(document.snippet(320))
    if document.generated and position % 9 == 0:
        snippet = ""  # a row without a snippet: the key is left out
    elif position % 3 == 0:
        snippet = f"{shown} — {snippet}"
    if snippet:
        row["snippet"] = snippet
    if position % 2 == 1 or not document.generated:
        row["date"] = shown
    row["position"] = position
    if position == 1 and not document.generated:
        row["sitelinks"] = [{"title": "More", "link": f"https://{document.domain}/more"}]
    return row


def _news_row(asked: Asked, document: Document, position: int) -> dict[str, Any]:
    return {
        "title": html.escape(document.title, quote=False),
        "link": document.url,
        "snippet": html.escape(document.snippet(200)),
        "date": dates.shown(document.published, asked.now.date()),
        "source": document.domain.split(".", 1)[0].title(),
        "imageUrl": f"https://{document.domain}/lead.jpg",
        "position": position,
    }
