"""A question cut into words, numbers and signs that mean something; case, quotes and other punctuation fall away."""

import re
import unicodedata
from functools import lru_cache

# A search operator: `site:bbc.com`, `-intitle:x`. Not a time (12:30), not an address (https://…).
OPERATOR = re.compile(r"(?<!\S)-?[a-z]{2,20}:(?!//)[^\s\"']+|(?<!\S)-?[a-z]{2,20}:\"[^\"]+\"|(?<![\w:])[a-z]+:>\d+")
FLAG = re.compile(r"(?<!\S)--?[a-z][\w-]*(?:=\S+)?")

_TOKEN = re.compile(
    r"""
      [a-z]\+\+                                   # c++
    | \b[acfj]\#(?!\w)                            # c#, f#
    | (?<!\w)\.net\b
    | (?<!\S)[&*@]\w+                             # &str, *ptr, @decorator
    | \w+@[\w.-]+\w                               # an address
    | (?:[a-z]\.){2,}(?:[a-z]\b)?                 # d.c.  u.s.a
    | (?<![\w.])(?!v\d)(?:[a-z]\d{1,2}[a-z]{0,2}|[a-z]{1,2}\d{1,2}[a-z]{1,2})(?!\w)   # k8s, s3, b2b, q3
    | (?<![\w)])-\d+(?:\.\d+)?(?!\d|-\d)          # -5
    | (?<=\d)!|(?<=\))!|(?<=\b[a-z])!             # 5!, n!
    | \d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)         # 2026-01-31
    | \d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?!\d)       # 31.01.2026
    | v?\d+(?:\.\d+)+                             # 1.2.3
    | \d{1,3}(?:,\d{3})+(?:\.\d+)?                # 1,000
    | \d+:\d{2}                                   # 5:30
    | \d+/\d+                                     # 1/2, 24/7
    | \d+
    | [a-z]+(?:\.[a-z]{2,})+(?:/[\w./-]*)?        # node.js, example.com/path
    | \w*_\w+                                     # snake_case
    | [^\W\d_]+(?:'[^\W\d_]+)?                    # words, don't
    | [$€£¥₩₹%°&+=<>*^→~@\#/|\\{}\[\]-]           # signs that may mean something
    | [^\w\s.,;:!?()"'…¿¡-]                       # anything else that is not punctuation: emoji, other scripts' signs
    """,
    re.VERBOSE,
)
_APOSTROPHES = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": " - "}
)
# x² is not x2.
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴-⁹]+")
_CASED_CODE = re.compile(r"(?<![\w.])(?:[a-z]{2,}[A-Z]\w*|(?:\d+ ?)?[KMGT][bB](?:ps|/s)?)(?!\w)")
_DOTTED = re.compile(r"(?:[a-z]\.){2,}[a-z]?|[a-z](?:\.[a-z])+")
_SIGN_BETWEEN = frozenset("-/|~[]{}\\@#")


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Lower case, compatibility forms composed, one kind of quote and dash."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _SUPERSCRIPT.sub(_raised, text))
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return text.casefold().translate(_APOSTROPHES).replace("''", '"')


def _raised(match: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", match.group())


def cased_code(text: str) -> frozenset[str]:
    """Words of a text in which case has a meaning: `getItem`, `toString`, `Mb` and `MB`."""
    return frozenset(_CASED_CODE.findall(text))


def strip_accents(word: str) -> str:
    """`café` → `cafe`; leaves other scripts alone."""
    if word.isascii():
        return word
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return plain if plain.isascii() else word


def operators(text: str) -> tuple[str, frozenset[str]]:
    """Take search operators and command-line flags out of a folded text: what is left, and they."""
    found: set[str] = set()

    def keep(match: re.Match[str]) -> str:
        found.add(match.group().rstrip(".,;?!"))
        return " "

    return FLAG.sub(keep, OPERATOR.sub(keep, text)), frozenset(found)


def words(text: str) -> list[str]:
    """The tokens of a folded text. Signs that only join words (`/`, `-`) are dropped; money, math and arrows stay."""
    found = (token for token in _TOKEN.findall(text) if token not in _SIGN_BETWEEN)
    return [token.replace(".", "") if _DOTTED.fullmatch(token) else token for token in found]
