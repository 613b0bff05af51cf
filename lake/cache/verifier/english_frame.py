"""How an English question asks: its contractions opened, then its question word, modal and tense."""

from groundwire.lake.cache.verifier import english_words as words
from groundwire.lake.cache.verifier.english_inflection import is_past
from groundwire.lake.cache.verifier.lexicon import words as word_set
from groundwire.lake.cache.verifier.reading import Frame

_NOT_FORMS = {
    f"{stem}{joint}": f"{full} not"
    for stem, full in (
        ("don", "do"), ("doesn", "does"), ("didn", "did"), ("can", "can"), ("couldn", "could"), ("won", "will"),
        ("wouldn", "would"), ("isn", "is"), ("aren", "are"), ("wasn", "was"), ("weren", "were"), ("hasn", "has"),
        ("haven", "have"), ("hadn", "had"), ("shouldn", "should"), ("mustn", "must"), ("needn", "need"), ("ain", "is"),
    )
    for joint in ("'t", "t")
    if (f"{stem}{joint}" != "wont" and stem != "can") or joint == "'t"
}  # fmt: skip
_OPENED = _NOT_FORMS | {
    "cannot": "can not", "cant": "can not", "wont": "will not",
    "whats": "what is", "wheres": "where is", "whos": "who is", "hows": "how is", "whens": "when is", "whys": "why is",
    "im": "i am", "ive": "i have", "theres": "there is", "lets": "let us", "gonna": "going to", "wanna": "want to",
    "gotta": "have to", "alot": "a lot", "ur": "your", "pls": "please", "plz": "please",
}  # fmt: skip
_ENDINGS = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_IS_AFTER = word_set("what who where when how why that it there here he she this everything")
_NOT_STEMS = word_set("""
    don doesn didn can couldn won wouldn isn aren wasn weren hasn haven hadn shouldn
    """)

_WH = word_set("what which who whom whose where when why how howto howmany")
_YES_NO = {
    **dict.fromkeys(("is", "are", "am", "was", "were", "do", "does", "did", "has", "have", "had"), "fact"),
    **dict.fromkeys(("can", "could", "may", "might"), "can"),
    **dict.fromkeys(("should", "shall", "ought"), "should"),
    **dict.fromkeys(("will", "would"), "will"),
    "must": "must",
}
_PLAIN = {"which": "what", "whom": "who"}
_ASKS_LATE = word_set("how who what when where why which")
_BEFORE_WHICH = word_set("in on at for to from with by")
_GENERIC_MODAL = frozenset(("can", "should", "will", "fact", "must"))


def contractions(found: list[str]) -> list[str]:
    """Open `don't`, `what's`, `whats`, `don t`; a possessive 's falls away, a decade's stays (`1990s`)."""
    out: list[str] = []
    for word in found:
        previous = out[-1] if out else ""
        if word in _OPENED:
            out.extend(_OPENED[word].split())
        elif word == "t" and previous in _NOT_STEMS:
            out[-1:] = _OPENED[previous + "'t"].split()
        elif word == "s" and previous:
            if previous in _IS_AFTER:
                out.append("is")
            elif previous == "u":
                out[-1] = "us"  # u s senators
            elif previous.endswith("0"):
                out.append("decade")
        elif "'" in word:
            out.extend(_opened_apostrophe(word))
        else:
            out.append(word)
    return out


def _opened_apostrophe(word: str) -> list[str]:
    stem, _, ending = word.partition("'")
    if ending == "s":
        return [stem, "is"] if stem in _IS_AFTER else [stem]
    if f"'{ending}" in _ENDINGS:
        return [stem, _ENDINGS[f"'{ending}"]]
    return [part for part in (stem, ending) if part] if len(ending) > 2 else [stem + ending]


def frame_of(found: list[str]) -> tuple[Frame, list[str]]:
    """The frame of a question whose words are `found`, and the words that are left."""
    if not found:
        return Frame(), []
    first, rest = found[0], found[1:]
    if first == "howto":
        return Frame(asks=first), rest
    if first == "howmany":
        return _helped(first, rest, subject_first=False), rest
    if first in _YES_NO and len(rest) > 1:
        tense = "past" if first in words.PAST else ""
        generic = rest[0] in words.GENERIC_PERSONS
        return Frame("yesno", _YES_NO[first], tense, generic, be=first in words.BE), rest
    if first in _BEFORE_WHICH and rest and rest[0] in ("what", "which", "whom"):
        first, rest = rest[0], rest[1:]
    if first not in _WH:
        return _asked_late(found)
    asks = _PLAIN.get(first, first)
    if asks in ("what", "how") and rest and rest[0] in words.BE:
        return Frame(asks=asks, tense="past" if rest[0] in words.PAST else "", copular=True), rest
    return _helped(asks, rest, subject_first=asks in ("who", "what")), rest


def _asked_late(found: list[str]) -> tuple[Frame, list[str]]:
    """A question word near the end asks all the same: `France has won the cup how many times`, `this costs what`."""
    place = next((at for at, word in enumerate(found) if word in _ASKS_LATE), None)
    if place is not None:
        if found[place : place + 2] == ["how", "many"]:
            return _helped("howmany", found, subject_first=False), [*found[place + 2 :], *found[:place]]
        if found[place] != "how" and place >= len(found) - 2:
            asks = _PLAIN.get(found[place], found[place])
            return Frame(asks=asks), [*found[place + 1 :], *found[:place]]
    return Frame(), found


def _helped(asks: str, rest: list[str], *, subject_first: bool) -> Frame:
    """Modal and tense of the first helping verb after the question word; without one, the tense of the main verb."""
    for at, word in enumerate(rest[:6]):
        if word in _YES_NO:
            modal = _YES_NO[word]
            generic = at + 1 < len(rest) and rest[at + 1] in words.GENERIC_PERSONS
            if generic and modal in _GENERIC_MODAL and word not in words.PAST:
                return Frame(asks=asks, generic=True)
            past = word in words.PAST or (word in ("has", "have") and not generic)
            modal = "" if modal == "fact" else modal
            return Frame(asks, modal, "past" if past else "", generic, be=word in words.BE)
        if word == "to":
            return Frame(asks=asks, generic=True)
        if subject_first and at == 0 and is_past(word):
            return Frame(asks=asks, tense="past")
    return Frame(asks=asks)
