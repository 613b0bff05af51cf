"""What the pretended web holds for a question: documents of the corpus first, generated ones up to the count asked for."""

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from groundwire.adapters.sandbox.corpus import Document, load_corpus
from groundwire.adapters.sandbox.generated import generate
from groundwire.adapters.sandbox.ranking import Ranking

NOTHING_FOR = ("no-such-thing-xyzzy", "nothing-here-plugh", "없는-것-xyzzy")
"""A query that contains one of these finds nothing, at every vendor."""

MIN_COVERAGE = 0.58
SHOWN_COVERAGE = 0.45
SHOWN_SHARE = 0.35
OLDEST_DAYS = 720

_OPERATOR = re.compile(r"(?:\bOR\b\s*)?(-?)\bsite:(\S+)|\bOR\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Search:
    """What a vendor is asked, in one form for all of them. `offset` counts documents."""

    query: str
    count: int
    today: date
    offset: int = 0
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None


class Library:
    """Finds documents; pure and deterministic, so answers are kept."""

    def __init__(self, documents: tuple[Document, ...] | None = None, kept: int = 256) -> None:
        self.documents = load_corpus() if documents is None else documents
        self._ranking = Ranking(self.documents)
        self.find = lru_cache(maxsize=kept)(self._find)

    def _find(self, search: Search) -> tuple[Document, ...]:
        if any(marker in search.query for marker in NOTHING_FOR):
            return ()
        search = with_operators(search)
        found = [document for document in self.of_corpus(search.query) if _admits(search, document)]
        wanted = search.offset + search.count
        newest = min(search.today, search.before) if search.before else search.today
        if search.after and search.after > newest:
            return ()
        window = (newest - search.after).days + 1 if search.after else OLDEST_DAYS
        hosts = [_bare(domain) for domain in search.include_domains]
        for rank in range(len(found) + 1, wanted + 1):
            host = hosts[(rank - 1) % len(hosts)] if hosts else None
            found.append(generate(search.query, rank, host=host, today=newest, max_age_days=window))
        return tuple(document for document in found[search.offset : wanted] if _allowed(search, document))

    def of_corpus(self, query: str) -> list[Document]:
        """The corpus's own answer to a query, best first; nothing when the best of it covers too little."""
        ranked = self._ranking.rank(query, SHOWN_COVERAGE)
        if not ranked or ranked[0].coverage < MIN_COVERAGE:
            return []
        worth = SHOWN_SHARE * ranked[0].score
        return [found.document for found in ranked if found.coverage >= SHOWN_COVERAGE and found.score >= worth]


def with_operators(search: Search) -> Search:
    """`site:` and `-site:` taken out of the query and put where they belong."""
    if "site:" not in search.query.casefold():
        return search
    include: list[str] = []
    exclude: list[str] = []
    for minus, domain in _OPERATOR.findall(search.query):
        if domain:
            (exclude if minus else include).append(domain.strip("()").casefold())
    query = " ".join(_OPERATOR.sub(" ", search.query).replace("( )", " ").split())
    return replace(
        search,
        query=query.strip("() "),
        include_domains=search.include_domains + tuple(include),
        exclude_domains=search.exclude_domains + tuple(exclude),
    )


def _admits(search: Search, document: Document) -> bool:
    if search.include_domains and not any(_on(document.domain, domain) for domain in search.include_domains):
        return False
    if not _allowed(search, document):
        return False
    if search.after and document.published < search.after:
        return False
    return not (search.before and document.published > search.before)


def _allowed(search: Search, document: Document) -> bool:
    return not any(_on(document.domain, domain) for domain in search.exclude_domains)


def _on(host: str, domain: str) -> bool:
    domain = _bare(domain)
    return host == domain or host.endswith(f".{domain}")


def _bare(domain: str) -> str:
    """`*.one.example/path` as `one.example`: what vendors make of a domain filter."""
    return domain.removeprefix("*.").removeprefix("www.").split("/", 1)[0]
