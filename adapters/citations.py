"""What native search has in common: an answer with citations becomes rows, one a page, with what the answer takes from it."""

from collections.abc import Iterable
from typing import Any

from groundwire.adapters.errors import BadAnswer
from groundwire.adapters.mapping import Row

_MOST = 1000
_LONGEST = 2000


class Sources:
    """Pages in the order they are first met, with the texts they stand behind.

    Cited pages come first: they carry text. A page that was found and not cited has an empty body. When nothing was cited at
    all, the answer itself becomes the first page's body, so that what was paid for is not lost.
    """

    def __init__(self) -> None:
        self._pages: dict[str, dict[str, Any]] = {}
        self._without_address = 0

    def found(self, url: Any, title: Any = None, published: Any = None) -> None:
        """A page that the search brought."""
        self._page(url, title, published)

    def cited(self, url: Any, text: Any, title: Any = None) -> None:
        """A passage that the answer takes from a page."""
        page = self._page(url, title, None)
        if page is not None and isinstance(text, str) and text.strip() and text.strip() not in page["texts"]:
            page["texts"].append(text.strip())

    def rows(self, answer: Iterable[Any] = ()) -> list[Row]:
        """`answer` are the parts of the answer's text. Raises BadAnswer when there were pages and none of them had an address."""
        if self._without_address and not self._pages:
            raise BadAnswer(f"{self._without_address} sources, none with an address")
        pages = sorted(self._pages.items(), key=lambda item: not item[1]["texts"])
        if pages and not pages[0][1]["texts"]:
            whole = "".join(part for part in answer if isinstance(part, str)).strip()
            if whole:
                pages[0][1]["texts"].append(whole)
        return [Row(url, page["title"], " … ".join(page["texts"]), page["published"]) for url, page in pages]

    def _page(self, url: Any, title: Any, published: Any) -> dict[str, Any] | None:
        if not isinstance(url, str) or not url.strip():
            self._without_address += 1
            return None
        page = self._pages.setdefault(url.strip(), {"title": None, "published": None, "texts": []})
        page["title"] = page["title"] or (title if isinstance(title, str) and title.strip() else None)
        page["published"] = page["published"] or published
        return page


def check_kinds(name: str, blocks: Any, known: Iterable[str]) -> None:
    """Raises BadAnswer when there are blocks and not one is of a known type: then it is no answer that we can read."""
    if isinstance(blocks, list) and blocks and not any(block.get("type") in tuple(known) for block in objects(blocks)):
        raise BadAnswer(f"`{name}` holds nothing of a known type")


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list, the first thousand; nothing when it is no list."""
    return [item for item in value[:_MOST] if isinstance(item, dict)] if isinstance(value, list) else []


def sentence_before(text: str, end: int) -> str:
    """The sentence that a citation at `end` stands behind: back to the line's or the sentence's beginning."""
    head = text[max(0, end - _LONGEST) : max(0, end)].rstrip()
    start = 0
    for stop in (". ", "! ", "? ", "。", "\n"):
        at = head.rfind(stop, 0, max(0, len(head) - 1))
        start = max(start, at + len(stop) if at >= 0 else 0)
    return head[start:].strip(" -*•\t(")
