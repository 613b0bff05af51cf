"""One word more in an open question.

A question for advice, an explanation or a choice (`how to`, `why`, `what is`, which of the two) is seldom changed by one
ordinary word more on one side, where a question for a fact (`who`, `when`, `is it`) is. Such a word passes here, and then
needs a very high similarity.
"""

from groundwire.lake.cache.verifier import korean_words
from groundwire.lake.cache.verifier.alignment import Alignment
from groundwire.lake.cache.verifier.english_synonyms import COUNTRY_OF
from groundwire.lake.cache.verifier.english_words import NARROWING, SOFT_QUANTITIES
from groundwire.lake.cache.verifier.order import JOINTS, MUST_STAND
from groundwire.lake.cache.verifier.places import PLACES
from groundwire.lake.cache.verifier.reading import Item, Reading

_OPEN = frozenset(("what", "how", "why", "howto"))
_FEWEST_IN_COMMON = 2
_MOST_EXTRA = 2
_LONGEST_LIST = 100
# Korean questions: the things in common that a word more needs beside it, in a choice or a question of manner, and in others.
_FEWEST_IN_COMMON_KOREAN = 3
_FEWEST_IN_COMMON_KOREAN_FACT = 4
_FACTS = frozenset(("who", "when", "where", "howmany", "howmuch"))


def extra_words(asked: Reading, stored: Reading, aligned: Alignment) -> frozenset[str]:
    """The surfaces of the words that only one of two open questions has and may have; empty when it may not."""
    left = [item for item in aligned.only_asked if item.kind != "light"]
    right = [item for item in aligned.only_stored if item.kind != "light"]
    extra = left or right
    if (left and right) or not 0 < len(extra) <= _MOST_EXTRA:
        return frozenset()
    whole = asked if left else stored
    if asked.language == "ko":
        other = aligned.only_stored if left else aligned.only_asked
        if any(_stands_instead(item, extra) for item in other):
            return frozenset()
        allowed = _in_common(asked, aligned) >= _fewest(asked, stored) + len(extra) - 1
        allowed = allowed and all(_ordinary_korean(item, whole) for item in extra)
    else:
        allowed = asked.language == "en" and {asked.frame.asks, stored.frame.asks} <= _OPEN
        allowed = allowed and len(aligned.pairs) >= _FEWEST_IN_COMMON and all(_ordinary(item, whole) for item in extra)
    return frozenset(item.surface for item in extra) if allowed else frozenset()


def _ordinary(item: Item, reading: Reading) -> bool:
    at = reading.items.index(item)
    if at == 0 and reading.frame.asks == "how":
        return False  # how often, how long: the word is the question
    if item.kind == "quantity":
        return item.surface in SOFT_QUANTITIES
    if item.kind == "number":
        return _counts_the_best(at, reading)
    if item.kind != "word" or item.marker in JOINTS or item.marker in MUST_STAND or not item.surface.isascii():
        return False
    if item.surface == "using":
        return False  # to stop a thing, to stop using it
    after = reading.items[at + 1] if at + 1 < len(reading.items) else None
    if after is not None and (after.marker in JOINTS or after.kind == "number"):
        return False
    if at and reading.items[at - 1].kind in ("number", "negation"):
        return False
    if any(key in PLACES or key in COUNTRY_OF or key in NARROWING for key in item.keys):
        return False
    ending = item.surface.endswith(("er", "est", "less", "free"))
    return not ending and not any(letter.isdigit() for letter in item.surface)


def _counts_the_best(at: int, reading: Reading) -> bool:
    """`top 5 movies` for `top movies`: how many of the best one wants to see, not which."""
    beside = reading.items[max(0, at - 1) : at] + reading.items[at + 1 : at + 2]
    value = reading.items[at].keys[0][1:]
    return value.isdecimal() and 2 < int(value) <= _LONGEST_LIST and any("best" in item.keys for item in beside)


def _stands_instead(light: Item, extra: list[Item]) -> bool:
    """Whether a light word on the other side is no word less but another one: 받은 for 보낸, 학교가 for 지수가."""
    if light.marker == "verb":
        return any(item.marker == "verb" for item in extra)
    if light.surface in korean_words.PLACE_NOUNS:
        return any(item.surface in korean_words.CATEGORIES for item in extra)
    return light.kind == "light" and light.marker in ("subject", "and") and light.surface in korean_words.CATEGORIES


def _in_common(asked: Reading, aligned: Alignment) -> int:
    return sum(asked.items[at].kind != "light" for at, _ in aligned.pairs)


def _fewest(asked: Reading, stored: Reading) -> int:
    if asked.symmetric or stored.symmetric:
        return _FEWEST_IN_COMMON_KOREAN
    asks = set(f"{asked.frame.asks}+{stored.frame.asks}".split("+"))
    return _FEWEST_IN_COMMON_KOREAN_FACT if asks & _FACTS else _FEWEST_IN_COMMON_KOREAN


def _ordinary_korean(item: Item, reading: Reading) -> bool:
    """Not a direction, not one of two joined things, not a word that narrows; a verb only before what it describes."""
    if item.kind != "word" or item.marker in ("and", "or", "than", "except", "from", "to", "of"):
        return False
    if (
        any(key in korean_words.NARROWING for key in item.keys)
        or not item.surface[:1].isalpha()
        or item.surface.isascii()
    ):
        return False
    if item.keys[0].startswith("counted-"):
        return False  # how many of what
    verbs = [other for other in reading.items if other.marker == "verb"]
    return item.marker != "verb" or len(verbs) > 1 or item is not reading.items[-1]
