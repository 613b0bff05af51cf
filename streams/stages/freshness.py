"""How soon the answer to a question goes stale, and which day, week, month or year the question means.

Who decides, in this order: the caller; sites, topics, an operator's words and the words of `live` and `daily`, of which the
freshest class wins (serving a fact too briefly costs a little, serving a stale one is wrong); a year that is over, which is
static; for other questions in English the weights (freshness_weights.py), which tell `slow` from `static`; the words of `slow`
and `static`; the default.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from groundwire.schemas.request import Filters, FreshnessClass, FreshnessWish
from groundwire.schemas.settings import FreshnessSettings
from groundwire.streams.stages import freshness_rules as rules
from groundwire.streams.stages.freshness_rules import Words
from groundwire.streams.stages.freshness_signs import NO_QUESTION, asks_in_english, signs_of
from groundwire.streams.stages.freshness_weights import FreshnessWeights, load_weights
from groundwire.streams.stages.query import normalize_query

Decider = Literal["caller", "site", "topic", "words", "year that is over", "weights", "default"]

FRESHEST_FIRST: tuple[FreshnessClass, ...] = ("live", "daily", "slow", "static")

_HANGUL = re.compile(r"[가-힣]")
# Korea has had no other since 1988.
_SEOUL = timezone(timedelta(hours=9))
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
    alternatives = []
    if english:
        alternatives.append(rf"(?<![\w-])(?:{_either(english)})s?(?![\w-])")
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
class Explanation:
    """Why a question got its class. `words` are the rules' words found in it, by class; `probability` (of changing with time)
    and `weighed` are there when its signs were weighed, whoever decided in the end."""

    freshness: Freshness
    decided_by: Decider
    words: list[tuple[FreshnessClass, str]]
    probability: float | None
    threshold: float | None
    weighed: list[tuple[str, float]]

    def __str__(self) -> str:
        text = f"{self.freshness.kind}, decided by: {self.decided_by}"
        if self.decided_by == "words":
            text += " (" + ", ".join(f"{word}: {kind}" for kind, word in self.words) + ")"
        if self.probability is not None:
            text += f"; changes with time with probability {self.probability:.2f} (static below {self.threshold:.2f})"
        return text


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the words of a question say, whenever it is asked."""

    sites: frozenset[FreshnessClass]
    worded: FreshnessClass | None
    operators: FreshnessClass | None
    """By the operator's own words alone: no weight overrules them."""
    changes: float | None
    """The probability that its answer changes with time; None when the weights were not fitted for such a text."""
    question: bool
    span: str | None
    last_year: int | None


class FreshnessRules:
    """The shipped rules and weights, with the operator's words and domains added."""

    def __init__(self, settings: FreshnessSettings) -> None:
        """Raises ValueError when `freshness.weights` names a file that can't be used."""
        lists: Mapping[FreshnessClass, Words] = {
            "live": rules.LIVE,
            "daily": rules.DAILY,
            "slow": rules.SLOW,
            "static": rules.STATIC,
        }
        self._words = {kind: _pattern(lists[kind], settings.words.get(kind, ())) for kind in FRESHEST_FIRST}
        self._operators = {
            kind: _pattern(Words(""), settings.words[kind]) for kind in FRESHEST_FIRST if settings.words.get(kind)
        }
        self._weights: FreshnessWeights | None = load_weights(settings.weights) if settings.weighing else None
        self._zone: tzinfo = UTC if settings.time_zone == "UTC" else ZoneInfo(settings.time_zone)
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
        return self._decide(normalized_query, wish, filters, asked_at_ms)[0]

    def explain(self, normalized_query: str, wish: FreshnessWish, filters: Filters, asked_at_ms: int) -> Explanation:
        """The same, with what decided."""
        freshness, decided_by = self._decide(normalized_query, wish, filters, asked_at_ms)
        text = _MUTED.sub(" ", normalized_query.lower())
        words = [(kind, found.group()) for kind in FRESHEST_FIRST for found in self._words[kind].finditer(text)]
        changes, weights = self._reading(normalized_query).changes, self._weights
        return Explanation(
            freshness=freshness,
            decided_by=decided_by,
            words=words,
            probability=changes,
            threshold=None if weights is None or changes is None else weights.threshold,
            weighed=[] if weights is None or changes is None else weights.weighed(signs_of(text)),
        )

    def _decide(
        self, normalized_query: str, wish: FreshnessWish, filters: Filters, asked_at_ms: int
    ) -> tuple[Freshness, Decider]:
        # Whoever asks in Korean means the day in Korea; at 08:00 there it is still yesterday in UTC.
        zone = _SEOUL if _HANGUL.search(normalized_query) else self._zone
        day = datetime.fromtimestamp(asked_at_ms / 1000, zone)
        reading = self._reading(normalized_query)
        span = None if reading.span is None else _name_of_span(reading.span, day)
        if wish != "auto":
            return Freshness(wish, span), "caller"
        kind, decided_by = self._kind(reading, filters, day)
        return Freshness(kind, span), decided_by

    def _read(self, normalized_query: str) -> _Reading:
        text = _MUTED.sub(" ", normalized_query.lower())
        worded = "live" if _PAIR.search(text) else _freshest_of(self._words, text)
        changes, question = None, False
        if self._weights is not None and asks_in_english(text):
            signs = signs_of(text)
            changes, question = self._weights.probability(signs), NO_QUESTION not in signs
        return _Reading(
            sites=frozenset(kind for site in _SITE.findall(text) if (kind := self._kind_of_site(site)) is not None),
            worded=worded,
            operators=_freshest_of(self._operators, text),
            changes=changes,
            question=question,
            span=next((span for pattern, span in _SPANS if pattern.search(text)), None),
            last_year=max((int(year) for year in _YEAR.findall(text)), default=None),
        )

    def _kind(self, reading: _Reading, filters: Filters, day: datetime) -> tuple[FreshnessClass, Decider]:
        said: list[tuple[FreshnessClass, Decider]] = [(kind, "site") for kind in reading.sites]
        said += [(kind, "site") for site in filters.include_domains if (kind := self._kind_of_site(site)) is not None]
        if filters.topic == "news":
            said.append(("daily", "topic"))
        if reading.worded is not None:
            said.append((reading.worded, "words"))
        said.sort(key=lambda one: FRESHEST_FIRST.index(one[0]))
        if said and said[0][0] in ("live", "daily"):
            return said[0]
        if reading.last_year is not None and reading.last_year < day.year and reading.span is None:
            # A question about a year that is over: what it asks about has happened.
            return "static", "year that is over"
        if said and (said[0][1] != "words" or reading.operators is not None):
            return said[0]
        # What is asked about this year, this season or a year to come is not settled, whatever its other signs.
        unsettled = reading.span is not None or reading.last_year is not None
        if reading.changes is not None and self._weights is not None and not unsettled:
            threshold = self._weights.threshold
            if reading.changes >= threshold:
                return "slow", "weights"
            # Key words without a question show few signs: that none speaks for a change says little against one.
            if reading.question or (reading.changes < threshold / 2 and reading.worded != "slow"):
                return "static", "weights"
        if said and not (unsettled and said[0][0] == "static"):
            return said[0]
        return self._default, "default"

    def _kind_of_site(self, site: str) -> FreshnessClass | None:
        # The operator's patterns stand first.
        return next((kind for pattern, kind in self._domains if _matches(site, pattern)), None)


def explain_freshness(query: str, settings: FreshnessSettings | None = None, *, asked_at_ms: int) -> Explanation:
    """Why a question, written as a caller writes it, gets its class."""
    asked = FreshnessRules(settings or FreshnessSettings())
    return asked.explain(normalize_query(query), "auto", Filters(), asked_at_ms)


def _freshest_of(patterns: Mapping[FreshnessClass, re.Pattern[str]], text: str) -> FreshnessClass | None:
    return next((kind for kind in FRESHEST_FIRST if kind in patterns and patterns[kind].search(text)), None)


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
