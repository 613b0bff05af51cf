"""Documents for every question the corpus doesn't cover: clearly marked, plausible, and the same each time.

Everything in them follows from a hash of the query, so that two calls get one answer, two queries get two, and a test can
tell whose answer it holds. Ages are counted from today, so that a freshness filter has something to keep.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from hashlib import blake2b

from groundwire.adapters.sandbox.corpus import Document

HOSTS = (
    "atlas", "fieldnotes", "openledger", "northgate", "papertrail", "commons", "harbour", "signal", "almanac", "quarry",
    "meridian", "lantern", "foundry", "compass", "archive", "workshop", "observatory", "terrace", "junction", "orchard",
)  # fmt: skip
ANGLES = (
    "an overview",
    "a field report",
    "a short history",
    "a comparison",
    "a checklist",
    "an interview",
    "a data sheet",
)
ANGLES_KO = ("개요", "현장 기록", "짧은 역사", "비교", "점검표", "대담", "자료 모음")
_SLUG = re.compile(r"[^a-z0-9가-힣]+")
_HANGUL = re.compile(r"[가-힣]")
_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class _Subject:
    """What all documents for one query share."""

    shown: str
    slug: str
    korean: bool
    seed: int


@lru_cache(maxsize=1024)
def _subject(query: str) -> _Subject:
    return _Subject(
        shown=query if len(query) <= 80 else query[:79] + "…",
        slug=_SLUG.sub("-", query.casefold()).strip("-")[:48] or "page",
        korean=bool(_HANGUL.search(query)),
        seed=int.from_bytes(blake2b(query.encode(errors="surrogatepass"), digest_size=8).digest()),
    )


def _mixed(seed: int, rank: int) -> int:
    """64 bits that look like chance and follow from the query and the rank (the finaliser of SplitMix64)."""
    number = (seed + rank * 0x9E3779B97F4A7C15) & _MASK
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    return number ^ (number >> 31)


def generate(query: str, rank: int, *, host: str | None = None, today: date, max_age_days: int = 720) -> Document:
    """The document at `rank` (from 1) for a query; on `host` when the question asks for one site."""
    subject = _subject(query)
    number = _mixed(subject.seed, rank)
    domain = host or f"{HOSTS[(subject.seed + rank) % len(HOSTS)]}.example"
    reference = number % 90_000 + 10_000
    if subject.korean:
        title = f"샌드박스 문서 {rank}: “{subject.shown}”"
        body = (
            f"시험용으로 만들어진 문서입니다. “{subject.shown}”에 대한 {ANGLES_KO[number % len(ANGLES_KO)]}이며 "
            f"참조 번호는 {reference}입니다. 같은 질문에는 언제나 같은 문서가 나옵니다."
        )
    else:
        title = f"Sandbox document {rank} for “{subject.shown}”"
        body = (
            f"Generated for testing: {ANGLES[number % len(ANGLES)]} on “{subject.shown}”, filed under reference {reference}. "
            f"The same question always brings this document, and no other question does."
        )
    identity = f"{number:016x}"
    return Document(
        f"generated-{identity}",
        title,
        f"https://{domain}/{subject.slug}-{identity[:8]}",
        body,
        today - timedelta(days=number % max(1, max_age_days)),
        "ko" if subject.korean else "en",
        (),
        True,
    )
