"""A query's normalized text: equal for questions that are the same, different for questions that differ.

Merged: white space, width, Hangul and accents composed or not, curly and straight quotes, case, trailing punctuation.
Never merged: `1.2` and `1.20`, `C` and `C++`, `5` and `5!`, `x²` and `x2`, `getItem` and `getitem`, `Mb` and `MB`, what stands in
quotes or backticks, search operators (`site:`, `-term`, `OR`), emoji.

Where it is not sure that two spellings are one question, it keeps them apart: that costs a miss, the other a wrong answer.
"""

import re
from functools import lru_cache

from groundwire.streams.stages.characters import undressed, without_invisible

_TRAILING = frozenset("?!.,;:。、，？！．…؟।")
_LEADING = "¿¡"

_DASH_WITHIN = re.compile(r"(?<=\S)[‐‑–−](?=\S)")

_BOOLEAN = frozenset({"AND", "OR", "NOT"})
_OPERATOR = re.compile(
    r"(?P<sign>[-+]?)(?P<name>site|filetype|ext|intitle|allintitle|inurl|allinurl|intext|allintext|inbody|inpage"
    r"|related|cache|lang|language|loc|location|before|after|source|define):(?P<value>\S*)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?P<host>(?:[a-z][a-z0-9+.-]*://)?[\w-]+(?:\.[\w-]+)+(?::\d+)?)(?P<path>[/?#].*)", re.IGNORECASE
)

# A dot in these is part of a name or an abbreviation, not of a path in code.
_ENDINGS = (
    "com org net edu gov mil int io ai js ts co uk kr jp cn de fr eu us ca au in info biz dev app tv me py rs cc xyz"
)
_NAME_ENDINGS = frozenset(_ENDINGS.split())
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")

_CODE = re.compile(
    r"\w_|_\w"  # snake_Case, __init__
    r"|::|->|=>|\\|\w\(.*\)"  # std::Vector, p->Next, C:\Temp, Print(x)
    r"|^-[A-Za-z]$|^--\w"  # -V, --Flag
    r"|^\$[A-Za-z_{]|^%\w+%$"  # $PATH, %TEMP%
    r"|^\.{0,2}/\w|^~/"  # /etc/X11, ./Makefile
    r"|^[a-z]{3,}[A-Z][a-z]|^(?:to|is|on|do|in|my|no|as)[A-Z][a-z]|^[a-z]+(?:[A-Z][a-z]+){2,}"  # getItem, toString
    r"|^(?:[A-Z][a-z0-9]+){3,}$"  # NullPointerException; with two humps it may as well be a brand (YouTube)
    r"|^\d*[.,]?\d*[KMGT]b(?:ps|it|its|/s)?$"  # Mb is not MB
    r"|^\d*[.,]?\d*[mM](?:W|V|J|Pa|Wh)$"  # mW is not MW
)
_VERBATIM = re.compile(r'"[^"]*"|`[^`]*`')

# Words that stand in a sentence twice, once with its first capital, without the case being the subject.
_FUNCTIONAL = (
    "a an the i of in on at to for from by with and or not is are was were be do does did can how what who when where why"
    " which vs it its this that as if"
)
_FUNCTION_WORDS = frozenset(_FUNCTIONAL.split())


def clean_query(query: str) -> str:
    """The query as a vendor gets it: as asked, without what nobody can see. Never empty for a query that has any text."""
    return without_invisible(query) or query.strip()


@lru_cache(maxsize=2048)
def normalize_query(query: str) -> str:
    """The text that is looked up and hashed. Idempotent; never empty for a query that is not."""
    text = _once(query)
    if text.isascii():
        return text
    # Composition and lower case can each make work for the other in rare scripts; three rounds settle all that are known.
    for _ in range(3):
        again = _once(text)
        if again == text:
            break
        text = again
    return text


def _once(query: str) -> str:
    text = without_invisible(undressed(without_invisible(query)))
    if not text:
        return query.strip()
    if not text.isascii():
        text = _DASH_WITHIN.sub("-", text)
    text = _without_outer_punctuation(text)
    lower = text.lower()
    return text if lower == text else undressed(_lower_but_code(text, lower))


def _without_outer_punctuation(text: str) -> str:
    stripped = text.lstrip(_LEADING).lstrip()
    while stripped and stripped[-1] in _TRAILING:
        before = stripped.rstrip(stripped[-1])
        word = before.rsplit(" ", 1)[-1]
        # `5!`, `n!` and `C:` are not `5`, `n` and `C`.
        if stripped[-1] in "!:" and (word[-1:].isdigit() or word[-1:] == ")" or (len(word) == 1 and word.isalpha())):
            break
        stripped = stripped[:-1].rstrip()
    return stripped or text


def _lower_but_code(text: str, lower: str) -> str:
    pieces: list[str] = []
    end = 0
    kept = _words_whose_case_is_the_subject(text, lower)
    shouting = _is_shouting(text)
    for verbatim in _VERBATIM.finditer(text):
        pieces.append(_lower_words(text[end : verbatim.start()], kept, shouting))
        pieces.append(verbatim[0])
        end = verbatim.end()
    pieces.append(_lower_words(text[end:], kept, shouting))
    return "".join(pieces)


def _lower_words(text: str, kept: frozenset[str], shouting: bool) -> str:
    return " ".join(word if word.islower() else _lower_word(word, kept, shouting) for word in text.split(" "))


def _lower_word(word: str, kept: frozenset[str], shouting: bool) -> str:
    if word in kept or (word in _BOOLEAN and not shouting):
        return word
    operator = _OPERATOR.fullmatch(word)
    if operator is not None:
        value = operator["value"]
        # After a site the case of the path may matter; the host's never does.
        value = _lower_host(value) if "/" in value else value.lower()
        return f"{operator['sign']}{operator['name'].lower()}:{value}"
    if _CODE.search(word) is not None:
        return word
    if _ADDRESS.fullmatch(word) is not None:
        return _lower_host(word)
    dotted = _DOTTED.match(word)
    if dotted is not None and _is_code_path(dotted[0].split(".")):
        return word
    return word.lower()


def _lower_host(address: str) -> str:
    parts = _ADDRESS.fullmatch(address)
    return address.lower() if parts is None else parts["host"].lower() + parts["path"]


def _is_code_path(parts: list[str]) -> bool:
    """`Math.random` and `os.Exit` are; `Node.js`, `Amazon.com` and `U.S` are not."""
    return parts[-1].lower() not in _NAME_ENDINGS and any(len(part) > 2 for part in parts)


def _is_shouting(text: str) -> bool:
    """Everything in capitals: then AND and OR are words like the others."""
    if any(character.islower() for character in text):
        return False
    return any(len(word) > 1 and word.isupper() and word not in _BOOLEAN for word in text.split(" "))


def _words_whose_case_is_the_subject(text: str, lower: str) -> frozenset[str]:
    """In `String vs string` the case is what is asked about: words that stand there in two spellings keep both."""
    words, lowered = text.split(" "), lower.split(" ")
    if len(words) != len(lowered) or len(set(words)) == len(set(lowered)):
        return frozenset()
    spellings: dict[str, set[str]] = {}
    for word, low in zip(words, lowered, strict=True):
        if low not in _FUNCTION_WORDS:
            spellings.setdefault(low, set()).add(word)
    return frozenset(word for forms in spellings.values() if len(forms) > 1 for word in forms)
