"""The small corpus: documents written for the sandbox, so that a demo's answers read as answers."""

import json
from datetime import date
from importlib.resources import files
from typing import Any, NamedTuple


class Document(NamedTuple):
    """One page of the pretended web. `keywords` are phrases that people use for it; only ranking reads them."""

    id: str
    title: str
    url: str
    body: str
    published: date
    language: str
    keywords: tuple[str, ...] = ()
    generated: bool = False

    def snippet(self, limit: int) -> str:
        """The body, cut between words at `limit` characters."""
        if len(self.body) <= limit:
            return self.body
        return self.body[:limit].rsplit(" ", 1)[0].rstrip(" ,.;") + " …"

    @property
    def domain(self) -> str:
        return self.url.split("/", 3)[2]


def load_corpus() -> tuple[Document, ...]:
    """Every document of corpus.jsonl."""
    text = files(__package__).joinpath("corpus.jsonl").read_text(encoding="utf-8")
    return tuple(_document(json.loads(line)) for line in text.splitlines() if line.strip())


def _document(row: dict[str, Any]) -> Document:
    return Document(
        id=row["id"],
        title=row["title"],
        url=row["url"],
        body=row["body"],
        published=date.fromisoformat(row["published"]),
        language=row["language"],
        keywords=tuple(row["keywords"]),
    )
