"""What the checks on a pair of questions add up to."""

from dataclasses import dataclass, field

from groundwire.lake.cache.verifier import alignment, frames, korean_order, order, soft, tokens
from groundwire.lake.cache.verifier.english import read as read_english
from groundwire.lake.cache.verifier.english_inflection import is_past, spelling
from groundwire.lake.cache.verifier.english_synonyms import COUNTRIES_BY_OTHER_NAMES, SAME_WORD
from groundwire.lake.cache.verifier.english_words import BOTH_VOICES, MANNER, TIMELESS_VERBS, UNDERLINING
from groundwire.lake.cache.verifier.korean import read as read_korean
from groundwire.lake.cache.verifier.korean_words import TIME_UNITS
from groundwire.lake.cache.verifier.reading import Item, Reading
from groundwire.lake.cache.verifier.script import language_of
from groundwire.lake.cache.verifier.strict import read as read_strict


@dataclass(frozen=True, slots=True)
class Check:
    """One structural check: its name, whether the pair passed, and what it saw."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """All checks on a pair. `reason` is for a human eye; `features` feed the calibration."""

    passed: bool
    checks: tuple[Check, ...]
    reason: str
    features: dict[str, float] = field(default_factory=dict)
    language: str = "other"


_SHORT_NAME = 2
_READERS = {"en": read_english, "ko": read_korean, "other": read_strict}
_KINDS = (("numbers", "number"), ("negation", "negation"), ("quantity", "quantity"), ("words", "word"))

_MAKE_NO_TITLE = frozenset({"a", "an", "please"})


def verify(asked: str, stored: str, language: str | None = None) -> Verdict:
    """Check whether the answer stored for `stored` may serve `asked`. `language` (BCP-47) is a hint."""
    spoken = language_of(asked, language), language_of(stored, language)
    if spoken[0] != spoken[1]:
        check = Check("language", False, f"{spoken[0]} against {spoken[1]}")
        return Verdict(False, (check,), f"language: {check.detail}")
    if (cased := tokens.cased_code(asked) ^ tokens.cased_code(stored)) and asked.casefold() == stored.casefold():
        check = Check("case", False, " ".join(sorted(cased)))
        return Verdict(False, (check,), f"case: {check.detail}", language=spoken[0])
    reader = _READERS[spoken[0]]
    return _compare(reader(asked), reader(stored))


def _compare(asked: Reading, stored: Reading) -> Verdict:
    aligned = alignment.align(asked.items, stored.items)
    checks = [Check("language", True, asked.language), _check_operators(asked, stored)]
    question = frames.compare(asked, stored)
    extra = soft.extra_words(asked, stored, aligned) if question.same else frozenset()
    checks.extend(_check_kind(name, kind, aligned, extra) for name, kind in _KINDS)
    checks.append(_check_light(aligned, asked.language))
    checks.append(Check("question", question.same, question.detail))
    checks.append(_check_voice(asked, stored))
    checks.append(_check_title(asked, stored))
    checks.append(_check_alone(asked, stored))
    moved = _compare_order(asked, stored, aligned)
    checks.append(Check("order", moved.same, moved.detail))
    checks.append(_check_country(asked, stored, aligned, moved.moved))
    solid = sum(asked.items[at].kind != "light" for at, _ in aligned.pairs) + len(asked.exact & stored.exact)
    checks.append(Check("content", solid > 0, f"{solid} in common"))
    failed = [check for check in checks if not check.passed]
    features = {
        "light": float(sum(item.kind == "light" for item in (*aligned.only_asked, *aligned.only_stored))),
        "moved": float(moved.moved),
        "joined": float(aligned.joined),
        "renamed": float(aligned.renamed),
        "relaxed": float(question.relaxed),
        "words": float(solid),
        "extra": float(len(extra)),
        "stretched": float(question.stretched),
        "possessed": float(asked.possessed != stored.possessed),
    }
    reason = (
        "; ".join(f"{check.name}: {check.detail}" for check in failed[:2]) or "same words, numbers, question and order"
    )
    return Verdict(not failed, tuple(checks), reason, features, asked.language)


def _compare_order(asked: Reading, stored: Reading, aligned: alignment.Alignment) -> order.Order:
    both = (asked, stored)
    if asked.language == "ko":
        choice = any(reading.symmetric for reading in both)
        return korean_order.compare(asked.items, stored.items, aligned.pairs, choice=choice)
    return order.compare(
        asked.items,
        stored.items,
        aligned.pairs,
        symmetric=all(reading.symmetric for reading in both),
        keywords=all(not reading.frame.asks and len(reading.items) <= order.KEYWORDS_AT_MOST for reading in both),
        nominal=all(frames.is_nominal(reading.frame) for reading in both),
        answers_yes=asked.frame.asks == stored.frame.asks == "yesno",
    )


def _check_operators(asked: Reading, stored: Reading) -> Check:
    differ = sorted(asked.exact ^ stored.exact)
    return Check("operators", not differ, " ".join(differ) + " on one side only" if differ else "same")


def _check_kind(name: str, kind: str, aligned: alignment.Alignment, extra: frozenset[str]) -> Check:
    left, right = (_of_kind(kind, items, extra) for items in (aligned.only_asked, aligned.only_stored))
    if not left and not right:
        return Check(name, True, "same")
    return Check(name, False, f"{left or 'none'} against {right or 'none'}")


def _of_kind(kind: str, items: tuple[Item, ...], extra: frozenset[str]) -> str:
    return " ".join(item.surface for item in items if item.kind == kind and item.surface not in extra)


def _check_light(aligned: alignment.Alignment, language: str) -> Check:
    """A word that may be missing may not be another one: things to see, things to buy."""
    left, right = (
        [
            item.surface
            for item in items
            if item.kind == "light"
            and (item.marker == "verb" if language == "ko" else item.surface not in UNDERLINING | MANNER)
        ]
        for items in (aligned.only_asked, aligned.only_stored)
    )
    if language == "ko":
        units = [
            {item.surface for item in items if item.surface in TIME_UNITS}
            for items in (aligned.only_asked, aligned.only_stored)
        ]
        if all(units) and units[0] != units[1]:
            left, right = (sorted(found) for found in units)
    if left and right:
        return Check("light words", False, f"{' '.join(left)} against {' '.join(right)}")
    return Check("light words", True, "none, or on one side only")


def _check_title(asked: Reading, stored: Reading) -> Check:
    """Who made it: in the title of a work a plural counts (Alien, Aliens)."""
    if asked.frame.asks != "who" or not asked.items or not set(asked.items[0].keys) & TIMELESS_VERBS:
        return Check("title", True, "no work is asked about")
    left, right = ({item.surface for item in reading.items[1:]} for reading in (asked, stored))
    plural = sorted(word for word in left ^ right if word.endswith("s") and word[:-1] in left | right)
    return Check("title", not plural, f"{' '.join(plural)} in the plural on one side only" if plural else "same")


def _check_alone(asked: Reading, stored: Reading) -> Check:
    """One word alone is often a name, its plural another one (Marlin, Marlins), and a little word makes it the title of
    something: office, The Office; candles, Simply Candles; Ohio, My Ohio."""
    both = (asked, stored)
    solid = [[item for item in reading.items if item.kind != "light"] for reading in both]
    alone = all(reading.language == "en" and not reading.frame.asks for reading in both)
    if alone and all(len(items) == 1 for items in solid):
        words = [items[0].surface for items in solid]
        if not _same_spelling(*words):
            return Check("alone", False, f"{words[0]} against {words[1]}")
        if _little_words(asked) != _little_words(stored):
            return Check("alone", False, f"{asked.text} against {stored.text}")
    return Check("alone", True, "the same word, or more than one")


def _little_words(reading: Reading) -> set[str]:
    solid = {spelling(item.surface) for item in reading.items if item.kind != "light"}
    words = {spelling(word) for word in tokens.words(tokens.fold(reading.text))}
    return words - solid - _MAKE_NO_TITLE


def _check_country(asked: Reading, stored: Reading, aligned: alignment.Alignment, moved: int) -> Check:
    """A country in a name has one name and one place: Bank of America, US Bank."""
    short = all(not reading.frame.asks and len(reading.items) <= _SHORT_NAME for reading in (asked, stored))
    for a, b in aligned.pairs:
        one, other = asked.items[a], stored.items[b]
        if short and moved and one.surface != other.surface and one.keys[0] in COUNTRIES_BY_OTHER_NAMES:
            return Check("country", False, f"{one.surface} against {other.surface}, in another place")
    return Check("country", True, "none, or the same")


def _same_spelling(one: str, other: str) -> bool:
    return one == other or {one, other} <= set(SAME_WORD) | set(SAME_WORD.values()) or spelling(one) == spelling(other)


def _is_active(verb: str, reading: Reading) -> bool:
    """Whether a verb stands in the active there: in its base form, or as what somebody did (`who killed`)."""
    for at, item in enumerate(reading.items):
        if verb in item.keys:
            return not is_past(item.surface) or (at == 0 and reading.frame.tense == "past")
    return False


def _is_turned(verb: str, active: Reading, passive: Reading) -> bool:
    """Where anyone does it, it is done by nobody in particular: `how can i deposit cash`, `how can cash be deposited`."""
    by_anyone = active.frame.generic and not passive.frame.generic
    by_anyone = by_anyone and all(item.marker != "by" for item in passive.items)
    return not by_anyone and _is_active(verb, active)


def _check_voice(asked: Reading, stored: Reading) -> Check:
    """Who does it and to whom it is done: `who killed`, `who was killed by`."""
    if not asked.frame.asks or not stored.frame.asks:
        return Check("voice", True, "same")
    turned = sorted(
        verb
        for verb in (asked.voice ^ stored.voice) - BOTH_VOICES
        if _is_turned(verb, *((stored, asked) if verb in asked.voice else (asked, stored)))
    )
    return Check("voice", not turned, f"{' '.join(turned)} active against passive" if turned else "same")
