"""How soon the answer to a question goes stale, and which day, week, month or year the question means.

The freshest class that any rule gives wins: serving a fact too briefly costs a little, serving a stale one is wrong.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from groundwire.schemas.request import Filters, FreshnessClass, FreshnessWish
from groundwire.schemas.settings import FreshnessSettings
from groundwire.streams.stages import freshness_rules as rules
from groundwire.streams.stages.freshness_rules import Words

FRESHEST_FIRST: tuple[FreshnessClass, ...] = ("live", "daily", "slow", "static")

_SITE = re.compile(r"(?<!\S)site:([^\s/]+)")
_YEAR = re.compile(r"(?<![\w.,-])(1[0-9]{3}|20[0-9]{2})(?:년|s)?(?![\w-])")
_PAIR = re.compile(
    r"(?<!\w)(?:usd|eur|gbp|jpy|krw|cny|btc|eth)\s?(?:/|to|in|→)\s?(?:usd|eur|gbp|jpy|krw|cny|btc|eth)(?!\w)"
)


def _phrases(text: str) -> list[str]:
    return [phrase.strip() for line in text.splitlines() for phrase in line.split(",") if phrase.strip()]


def _pattern(words: Words, more: Iterable[str] = ()) -> re.Pattern[str]:
    """One expression for a list. An operator's own words are matched by the kind of their letters."""
    english = _phrases(words.english)
    korean = _phrases(words.korean)
    for word in more:
        (english if word.isascii() else korean).append(word.lower())
    alternatives = [rf"(?<![\w-])(?:{_either(english)})s?(?![\w-])"]
    if korean:
        alternatives.append(f"(?<![가-힣])(?:{_either(korean)})")
    if words.korean_parts:
        alternatives.append(f"(?:{_either(_phrases(words.korean_parts))})")
    return re.compile("|".join(alternatives))


def _either(phrases: Iterable[str]) -> str:
    # Longest first, so that a phrase is not hidden by its own beginning.
    return "|".join(re.escape(phrase) for phrase in sorted(set(phrases), key=len, reverse=True))


_MUTED = re.compile(rf"(?<!\w)(?:{_either(_phrases(rules.MUTED))})(?!\w)")
_SPANS: tuple[tuple[re.Pattern[str], str], ...] = (
    (_pattern(rules.BY_DAY), "day"),
    (_pattern(rules.BY_WEEK), "week"),
    (_pattern(rules.BY_MONTH), "month"),
    (_pattern(rules.BY_YEAR), "year"),
)


@dataclass(frozen=True, slots=True)
class Freshness:
    """`span` is the date the question's own relative words mean, e.g. `2026-12-01` or `2026-W49`; None when it has none."""

    kind: FreshnessClass
    span: str | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the words of a question say, whenever it is asked."""

    kinds: frozenset[FreshnessClass]
    span: str | None
    last_year: int | None


class FreshnessRules:
    """The shipped rules with the operator's words and domains added."""

    def __init__(self, settings: FreshnessSettings) -> None:
        lists: Mapping[FreshnessClass, Words] = {
            "live": rules.LIVE,
            "daily": rules.DAILY,
            "slow": rules.SLOW,
            "static": rules.STATIC,
        }
        self._words = {kind: _pattern(lists[kind], settings.words.get(kind, ())) for kind in FRESHEST_FIRST}
        self._default: FreshnessClass = settings.default
        self._domains: list[tuple[str, FreshnessClass]] = list(settings.domains.items())
        for kind, text in (
            ("live", rules.DOMAINS_LIVE),
            ("daily", rules.DOMAINS_DAILY),
            ("slow", rules.DOMAINS_SLOW),
            ("static", rules.DOMAINS_STATIC),
        ):
            self._domains += [(pattern, kind) for pattern in _phrases(text)]  # type: ignore[misc]  # literals of the class
        # Questions come again, hot ones often: their words are read once.
        self._reading = lru_cache(maxsize=4096)(self._read)

    def classify(self, normalized_query: str, wish: FreshnessWish, filters: Filters, asked_at_ms: int) -> Freshness:
        """The class the caller wished, or the rules'; and the date that the question's relative words mean on that day."""
        day = datetime.fromtimestamp(asked_at_ms / 1000, UTC)
        reading = self._reading(normalized_query)
        span = None if reading.span is None else _name_of_span(reading.span, day)
        return Freshness(self._kind(reading, filters, day) if wish == "auto" else wish, span)

    def _read(self, normalized_query: str) -> _Reading:
        text = _MUTED.sub(" ", normalized_query.lower())
        kinds = {kind for site in _SITE.findall(text) if (kind := self._kind_of_site(site)) is not None}
        if _PAIR.search(text):
            kinds.add("live")
        worded = next((kind for kind in FRESHEST_FIRST if self._words[kind].search(text)), None)
        if worded is not None:
            kinds.add(worded)
        return _Reading(
            kinds=frozenset(kinds),
            span=next((span for pattern, span in _SPANS if pattern.search(text)), None),
            last_year=max((int(year) for year in _YEAR.findall(text)), default=None),
        )

    def _kind(self, reading: _Reading, filters: Filters, day: datetime) -> FreshnessClass:
        found = set(reading.kinds)
        if filters.topic == "news":
            found.add("daily")
        found.update(kind for site in filters.include_domains if (kind := self._kind_of_site(site)) is not None)
        over = reading.last_year is not None and reading.last_year < day.year
        if over and reading.span is None and not found & {"live", "daily"}:
            # A question about a year that is over: what it asks about has happened.
            return "static"
        return next((kind for kind in FRESHEST_FIRST if kind in found), self._default)

    def _kind_of_site(self, site: str) -> FreshnessClass | None:
        # The operator's patterns stand first.
        return next((kind for pattern, kind in self._domains if _matches(site, pattern)), None)


def _name_of_span(span: str, day: datetime) -> str:
    if span == "day":
        return f"{day:%Y-%m-%d}"
    if span == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02}"
    return f"{day:%Y-%m}" if span == "month" else f"{day:%Y}"


def _matches(site: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return site == pattern[2:] or site.endswith(pattern[1:])
    return site == pattern
