"""Reading an English question."""

import re
from functools import lru_cache

from groundwire.lake.cache.verifier import english_words as words
from groundwire.lake.cache.verifier import numbers, tokens
from groundwire.lake.cache.verifier.english_frame import contractions, frame_of
from groundwire.lake.cache.verifier.english_inflection import bases, is_past
from groundwire.lake.cache.verifier.english_rewrites import rewritten
from groundwire.lake.cache.verifier.english_synonyms import COUNTRY_OF, LONGEST_PHRASE, SAME_PHRASE, SAME_WORD
from groundwire.lake.cache.verifier.lexicon import words as word_set
from groundwire.lake.cache.verifier.reading import Item, Kind, Reading

_ONE_THE_PRONOUN = word_set("""
    does do did can could should would will might may which this that these those the no any some each every if
    when
    """)
_AFTER_ONE_THE_PRONOUN = word_set("should must is has does wants needs thing of having being")
_DO = frozenset(("do", "does", "did", "doing", "done"))
_BEFORE_NOUN = word_set("the a an of my your his her god free good ill last living")
_NUMBERED = word_set("number integer factor digit prime multiple function permutation split")
_CURRENCY_SIGNS = frozenset("$€£¥₩₹")
_JOINERS = {"and": "and", "&": "and", "or": "or", "versus": "versus", "vs": "versus"}
_ASKS_FOR_THE_BEST = frozenset(("what", "where", "who", ""))
_PRAISE = frozenset(("good", "great", "top", "finest", "greatest", "nice"))
# Little words that are no little words in a name: `sing actually`, `ask me`, `i tonya`.
_IN_NAMES = word_set("i me you we go actually really just even ever too so well want it super")
_LONGEST_NAME = 3
# Beside one of these stands a title: `fastball you and i lyrics`.
_TITLED = word_set("lyrics lyric song songs soundtrack movie film book novel cast")
_IN_TITLES = word_set("i me you we us my your our it")
# Key words that end in one of these name a state: `union county or`.
_STATES = {"or": "oregon", "in": "indiana"}
# `what are some` asks for good ones: it goes with `the best`, and with neither.
_SOME_OF_THE_BEST = "some-of-the-best"
_FAVORITE = frozenset(("favorite", "favourite"))
_BEFORE_PREDICATE = frozenset(("so", "how", "too", "as", "not", "any", "no", "very", "it"))
# The A of `type-A`, the I of `EMT-I`: names, no article and no pronoun.
_HYPHENED_LETTER = re.compile(r"(?<=\w)-([ai])(?![\w'-])")
_QUOTED = re.compile(r'"([^"]{1,60})"')
_SAME_MARKER = {"into": "to", "onto": "to", "below": "under", "above": "over", "till": "until", "upon": "on"}
_SYMMETRIC = re.compile(
    r"\b(differ\w*|distinction|compar\w+|similar\w*|relation\w*|better or|or)\b|\bbetween\b|\bwhich (?:is|one|are)\b"
)
# Information technology, not the pronoun.
_BEFORE_IT = word_set("""
    a an the best top good your my our their in for of any biggest leading which what
    """)
_AFTER_IT = word_set("""
    company companies job jobs sector industry student students professional professionals field services
    department support engineer career course certification infrastructure security manager firm firms skills
    """)
# What a single letter is the name of.
_LETTERED = word_set("""
    vitamin hepatitis type plan grade schedule team group section class influenza part appendix
    """)
_BEFORE_US_THE_PERSONS = word_set("tell give help show let allow make teach")


@lru_cache(maxsize=16384)
def read(text: str) -> Reading:
    """Read one English question or key-word search."""
    plain, exact = tokens.operators(tokens.fold(text))
    found = contractions(
        [tokens.strip_accents(token) for token in tokens.words(_HYPHENED_LETTER.sub(r" letter\1", plain))]
    )
    found = numbers.canonical(_without_pronoun_one(found))
    found = rewritten(_amount_first(found))
    frame, rest = frame_of(found)
    if frame.asks in _ASKS_FOR_THE_BEST:
        rest = _with_best(rest)
    if not frame.asks:
        rest = _as_names(rest)
    if frame.asks == "what" and rest[:2] == ["are", "some"]:
        rest = ["are", _SOME_OF_THE_BEST, *rest[2:]] if "best" not in rest else rest
    items, passive = _items(_phrases(_named(rest)), after_be=frame.be, light=words.LIGHT[frame.asks])
    items = _without_repeated_heads(items)
    items.extend(_literals(plain))
    return Reading(
        text=text,
        language="en",
        items=tuple(items),
        frame=frame,
        exact=exact,
        voice=passive,
        possessed=bool(words.OWN & set(rest)),
        owner=frame.copular and rest[1:2] != [] and rest[1] in words.POSSESSIVES and not _FAVORITE & set(rest[:4]),
        symmetric=bool(_SYMMETRIC.search(" ".join(found))) and "than" not in found,
    )


def _without_pronoun_one(found: list[str]) -> list[str]:
    """`one` is a number only where it is not somebody: `how does one`, `which one`."""
    return [
        "someone-generic" if word == "one" and _is_somebody(found, position) else word
        for position, word in enumerate(found)
    ]


def _amount_first(found: list[str]) -> list[str]:
    """`$ 500` as one says it: 500 dollars."""
    out = list(found)
    for at in range(len(out) - 1):
        if out[at] in _CURRENCY_SIGNS and numbers.is_number(out[at + 1]):
            out[at], out[at + 1] = out[at + 1], out[at]
    return out


def _is_somebody(found: list[str], position: int) -> bool:
    before = found[position - 1] if position else ""
    after = found[position + 1] if position + 1 < len(found) else ""
    return before in _ONE_THE_PRONOUN or after in words.MODALS or after in _AFTER_ONE_THE_PRONOUN


def _phrases(found: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Each word, or known phrase, with the base forms it stands for."""
    out: list[tuple[str, tuple[str, ...]]] = []
    position = 0
    while position < len(found):
        for length in range(min(LONGEST_PHRASE, len(found) - position), 1, -1):
            raw = tuple(found[position : position + length])
            head = (
                SAME_PHRASE.get(raw)
                or SAME_PHRASE.get((*raw[:-1], bases(raw[-1])[0]))
                or SAME_PHRASE.get((bases(raw[0])[0], *raw[1:]))
            )
            if head is not None:
                out.append((" ".join(raw), keys_of(head)))
                position += length
                break
        else:
            out.append((found[position], keys_of(found[position])))
            position += 1
    return out


@lru_cache(maxsize=32768)
def keys_of(word: str) -> tuple[str, ...]:
    """The base forms of a word, each replaced by the one that stands for its meaning."""
    if numbers.is_number(word):
        return (word,)
    if word == _SOME_OF_THE_BEST:
        return ("best",)
    keys = [SAME_WORD.get(base, base) for base in bases(word)]
    if word in SAME_WORD:
        keys.append(SAME_WORD[word])
    keys.extend(COUNTRY_OF[key] for key in keys if key in COUNTRY_OF)
    return tuple(dict.fromkeys(keys))


def _as_names(found: list[str]) -> list[str]:
    """Key words without a question, in which a little word may be part of a name."""
    if len(found) > 1 and found[-1] in _STATES:
        return [*found[:-1], _STATES[found[-1]]]
    if _TITLED & set(found):
        return [f"{word}-name" if word in _IN_TITLES else word for word in found]
    if len(found) > _LONGEST_NAME:
        return found
    return [f"{word}-name" if word in _IN_NAMES else word for word in found]


def _with_best(found: list[str]) -> list[str]:
    """`some good restaurants` asks for what `the best restaurants` does; `is it good` does not."""
    return [
        "best"
        if word in _PRAISE
        and at + 1 < len(found)
        and found[at + 1] not in words.MARKERS
        and (not at or found[at - 1] not in _BEFORE_PREDICATE)
        else word
        for at, word in enumerate(found)
    ]


def _named(found: list[str]) -> list[str]:
    """Tell a name from the little word it looks like: IT, the US, vitamin A."""
    out: list[str] = []
    for position, word in enumerate(found):
        before = found[position - 1] if position else ""
        after = found[position + 1] if position + 1 < len(found) else ""
        if word == "it" and (after in _AFTER_IT or (before in _BEFORE_IT and after not in words.SILENT)):
            word = "it-technology"
        elif word == "us" and before not in _BEFORE_US_THE_PERSONS:
            word = "usa"
        elif word in ("a", "i") and position and (not after or before in _LETTERED):
            word = f"letter{word}"
        elif word in _DO and (not after or (word == "do" and (before == "to" or _DO & set(found[:position])))):
            word = "act"
        elif word in ("will", "can") and before in _BEFORE_NOUN:
            word = f"{word}-noun"
        elif word == "even" and (after in _NUMBERED or bases(after)[0] in _NUMBERED):
            word = "even-number"
        elif word in ("you", "me") and before == "about":
            word = "oneself"
        elif word in ("myself", "yourself", "oneself", "ourselves", "himself", "themselves"):
            word = "self"
        out.append(word)
    return out


def _without_repeated_heads(items: list[Item]) -> list[Item]:
    """`green tea and black tea` is `green and black tea`."""
    out = []
    for at, item in enumerate(items):
        after = items[at + 1 : at + 4]
        joined = bool(after) and after[0].marker in _JOINERS.values() and not item.marker
        joined = joined and item.kind in ("word", "light")
        if not (joined and any(other.keys == item.keys and not other.marker for other in after)):
            out.append(item)
    return out


def _literals(text: str) -> list[Item]:
    """Quoted text that holds nothing but little words is what the question is about: "would have been"."""
    return [
        Item(quoted, (quoted,), "word")
        for quoted in _QUOTED.findall(text)
        if all(
            word in words.SILENT or word in words.MARKERS or word in words.NEGATIONS for word in tokens.words(quoted)
        )
    ]


def _items(
    found: list[tuple[str, tuple[str, ...]]], *, after_be: bool, light: frozenset[str]
) -> tuple[list[Item], frozenset[str]]:
    items: list[Item] = []
    passive: set[str] = set()
    marker = ""
    be_far = after_be
    after_be = False
    previous = ""
    for surface, keys in found:
        if surface == "us" and previous not in _BEFORE_US_THE_PERSONS:
            surface, keys = "usa", ("usa",)
        if surface in words.SILENT:
            if surface in words.BE:
                after_be = True
            previous = surface
            continue
        if surface in _JOINERS:
            marker = _JOINERS[surface]
        elif surface in words.MARKERS:
            marker = _SAME_MARKER.get(surface, surface)
        else:
            kind = _kind(surface, keys, light)
            if kind == "light" and not _may_be_missing(surface, marker):
                kind = "word"
            if surface in ("if", "when", "whenever", "whether"):
                keys = ("when",)
            if (after_be or be_far) and is_past(surface) and kind == "word":
                passive.update(keys)
                be_far = False
            after_document = bool(items) and any(key in words.DOCUMENTS for key in items[-1].keys)
            if marker == "to" and (keys[-1] in words.LEADING_VERBS or after_document):
                marker = "for"  # an infinitive says what for, an introduction what about; neither has a direction
            items.append(Item(surface, keys, kind, marker))
            if kind != "light" and kind != "negation":
                marker = ""
        after_be = after_be and surface.endswith("ly")
        previous = surface
    return items, frozenset(passive)


def _may_be_missing(surface: str, marker: str) -> bool:
    """A light word that a preposition introduces is a part of its own: the best books on an LLC."""
    if surface in words.EVERYWHERE:
        return marker in ("in", "on", "of", "around")
    return marker in ("", "and") or (marker in ("to", "for") and surface in words.ENJOYED)


def _kind(surface: str, keys: tuple[str, ...], light: frozenset[str]) -> Kind:
    if numbers.is_number(surface):
        return "number"
    if surface in words.NEGATIONS:
        return "negation"
    if surface in words.QUANTIFIERS:
        return "quantity"
    if surface == _SOME_OF_THE_BEST or surface in light or keys[0] in light:
        return "light"
    return "word"
