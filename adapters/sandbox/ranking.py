"""Ranking of the corpus: BM25 over words, Korean as character bigrams, with an eye for order and numbers.

A bag of words can't tell "from Seoul to Busan" from the way back, nor one year's world cup from another's; a sandbox that
answers both with one document would hide exactly the cache mistakes it is there to show.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundwire.adapters.sandbox.corpus import Document

K1 = 1.2
B = 0.6
PAIR_GAIN = 0.3
WRONG_ORDER = 0.5
WRONG_NUMBER = 0.4

_WORD = re.compile(r"[a-z0-9]+(?:[.+#'’][a-z0-9]+)*[+#]*|[가-힣]+|[^\W\d_]+")
_BACKWARDS = re.compile(r"\bto ([a-z ]+?) from ([a-z ]+)")
_PARTICLES = re.compile(
    r"(?<=[가-힣]{2})(?:에서|까지|부터|으로|이란|이다|인가요?|은|는|이|가|을|를|의|도|로|에|와|과|란|야|요)$"
)
_FILLERS = """
    a an the of in on at to from for by with and or is are was were be been am do does did doing how what which who whom
    whose when where why can could should would will shall may might must i me my you your we our it its this that these
    those there here as than then so if but not no into about over between vs versus get got explain tell please much
    many let has have had 's ’s s
"""
_FILLERS_KO = """
    무엇 무엇인 뭐 무슨 어떻게 어디 언제 언제인 누구 왜 얼마나 알려줘 알려주세요 가는 하는 방법 있나 있나요 인가 되나 되나요
    대해 대한 걸리나 걸려 걸리나요 좀 수 하나 하나요 받나 받을 주세요
"""
_STOP = frozenset(_FILLERS.split())
_STOP_KO = frozenset(_FILLERS_KO.split())
_IRREGULAR = {"won": "win", "winner": "win", "wins": "win", "winning": "win", "faster": "fast", "slower": "slow"}
_IRREGULAR |= {
    "boils": "boil",
    "boiling": "boil",
    "taller": "tall",
    "tallest": "tall",
    "highest": "high",
    "higher": "high",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """A text as ranking sees it: terms with their part of a word, neighbouring content words in order, and numbers."""

    singles: dict[str, float]
    pairs: frozenset[tuple[str, str]]
    numbers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One document with its score, and the share of the query's weight it covers (0 to 1)."""

    document: Document
    score: float
    coverage: float


def terms(text: str) -> Terms:
    """Words without their endings and fillers; Korean words as bigrams of their syllables."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _BACKWARDS.sub(r"from \2 to \1", text)
    singles: dict[str, float] = {}
    words: list[str] = []
    numbers: set[str] = set()
    for word in _WORD.findall(text):
        if "가" <= word[0] <= "힣":
            word = _PARTICLES.sub("", word)
            if word in _STOP_KO:
                continue
            bigrams = [word[i : i + 2] for i in range(len(word) - 1)] or [word]
            singles |= dict.fromkeys(bigrams, 1 / len(bigrams))
        else:
            if word in _STOP:
                continue
            word = _stem(word)
            singles[word] = 1.0
            if word[0].isdigit():
                numbers.add(word)
        words.append(word)
    return Terms(singles, frozenset(pairwise(words)), frozenset(numbers))


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class Ranking:
    """An index over a few documents, built once and only read afterwards."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._postings: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self._pairs: list[frozenset[tuple[str, str]]] = []
        self._numbers: list[frozenset[str]] = []
        lengths: list[float] = []
        for at, document in enumerate(documents):
            named = [terms(phrase) for phrase in (document.title, *document.keywords)]
            weights: Counter[str] = Counter(terms(document.body).singles.keys())
            for phrase in named:
                for term in phrase.singles:
                    weights[term] += 2
            for term, weight in weights.items():
                self._postings[term][at] = weight
            self._pairs.append(frozenset().union(*(phrase.pairs for phrase in named)))
            self._numbers.append(frozenset().union(*(phrase.numbers for phrase in named)))
            lengths.append(weights.total())
        average = sum(lengths) / len(lengths)
        self._lengths = [1 - B + B * length / average for length in lengths]
        self._unknown = 0.8 * self._idf(0)  # a word nobody uses says little about what is meant

    def _idf(self, occurrences: int) -> float:
        return math.log(1 + (len(self._documents) - occurrences + 0.5) / (occurrences + 0.5))

    def rank(self, query: str, at_least: float = 0.0) -> list[Ranked]:
        """Documents that cover at least this share of the query, best first; ties in corpus order."""
        asked = terms(query)
        scores: defaultdict[int, float] = defaultdict(float)
        covered: defaultdict[int, float] = defaultdict(float)
        total = 0.0
        for term, part in asked.singles.items():
            posting = self._postings.get(term)
            if posting is None:
                total += self._unknown * part
                continue
            idf = self._idf(len(posting))
            total += idf * part
            for at, weight in posting.items():
                scores[at] += idf * part * weight * (K1 + 1) / (weight + K1 * self._lengths[at])
                covered[at] += idf * part
        ranked: list[Ranked] = []
        for at, score in scores.items():
            coverage = covered[at] / total
            if coverage >= at_least:
                agreement = self._agreement(at, asked)
                ranked.append(
                    Ranked(self._documents[at], score * agreement * self._order(at, asked), coverage * agreement)
                )
        ranked.sort(key=lambda found: -found.score)
        return ranked

    def _order(self, at: int, asked: Terms) -> float:
        """More for words that follow each other as they do in the query, less for those that follow the other way round."""
        pairs = self._pairs[at]
        factor = 1 + PAIR_GAIN * len(asked.pairs & pairs)
        if any((later, earlier) in pairs and (earlier, later) not in pairs for earlier, later in asked.pairs):
            factor *= WRONG_ORDER
        return factor

    def _agreement(self, at: int, asked: Terms) -> float:
        """A document about another year is no answer, however many words it shares."""
        return WRONG_NUMBER if asked.numbers - self._numbers[at] else 1.0
