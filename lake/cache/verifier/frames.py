"""Whether two questions ask for the same kind of answer: question word, certainty, time."""

from dataclasses import dataclass

from groundwire.lake.cache.verifier.english_words import LEADING_VERBS, TIMELESS_VERBS
from groundwire.lake.cache.verifier.lexicon import words as word_set
from groundwire.lake.cache.verifier.reading import Frame, Reading

# Questions for advice or explanation, and those of them that ask nearly the same.
_OPEN = frozenset(("what", "how", "howto"))
_FEWEST = 2
_NEAR = frozenset((frozenset(("how", "howto")), frozenset(("what", "how"))))
# Question words a Korean choice is asked with, whatever it is between.
_SAID_BY_NOUN = {
    "when": ("날짜", "시간", "기간", "기한", "일정", "일자", "시각", "시기", "마감일", "요일"),
    "where": ("위치", "장소", "주소"),
    "howmuch": tuple(
        word_set(
            "가격 요금 비용 금액 값 액 비율 기온 온도 습도 확률 속도 거리 크기 무게 길이 높이 깊이 두께 용량 면적 시간 기간 료"
        )
    ),
    "howmany": ("개수", "갯수", "횟수", "수량", "인원"),
}
_CHOOSING = {"what", "where", "when", "who"}


@dataclass(frozen=True, slots=True)
class Question:
    """`relaxed`: key words for `what is`, an instruction for `how to`. `stretched`: an open question asked in another mood
    or by another word; that needs a very high similarity. `near`: not the same, but so near that it may be stretched."""

    same: bool
    detail: str
    relaxed: int = 0
    stretched: int = 0
    near: bool = False


def is_nominal(frame: Frame) -> bool:
    """Whether a question has no subject that acts: key words, how-to, how many, what-is."""
    return frame.asks in ("", "howto", "howmany") or frame.copular


def compare(asked: Reading, stored: Reading) -> Question:
    """Compare how two questions ask."""
    if asked.language == "ko":
        return _korean(asked, stored)
    question = _english(asked, stored)
    if question.same or not question.near or asked.frame.tense != stored.frame.tense or len(asked.items) < _FEWEST:
        return question
    return Question(True, question.detail, stretched=1)


def _english(asked: Reading, stored: Reading) -> Question:
    x, y = asked.frame, stored.frame
    if x.asks == y.asks:
        return _same_word(asked, stored)
    words = {x.asks, y.asks}
    if words == {"", "what"}:
        what = x if x.asks == "what" else y
        if what.copular and not what.tense and max(len(asked.items), len(stored.items)) > 1:
            return Question(True, "key words for what-is", 1)
    if words == {"", "howto"}:
        plain = asked if not x.asks else stored
        if len(plain.items) > 1 and any(key in LEADING_VERBS for key in plain.items[0].keys):
            return Question(True, "an instruction for how-to", 1)
    related = any(item.marker in ("of", "in", "between") for item in asked.items)
    if words == {"how", "what"} and x.copular and y.copular and related:
        return Question(True, "how-is for what-is", 1)
    return Question(False, f"{x.asks or 'key words'} against {y.asks or 'key words'}", near=frozenset(words) in _NEAR)


def _same_word(asked: Reading, stored: Reading) -> Question:
    x, y = asked.frame, stored.frame
    is_open = x.asks in _OPEN
    if x.copular != y.copular:
        return Question(False, "what it is against what it does", near=is_open)
    marked = {bool(reading.items[0].marker) for reading in (asked, stored) if reading.items}
    if len(marked) > 1 and (x.asks == "yesno" or x.copular):
        return Question(False, "another subject")
    if x.copular and asked.owner != stored.owner:
        return Question(False, "somebody's own against anybody's")
    if x.modal != y.modal and not (x.generic and y.generic and x.asks not in ("yesno", "why", "when")):
        return Question(False, f"{x.modal or 'plain'} against {y.modal or 'plain'}", near=is_open)
    if x.tense != y.tense and not _timeless(asked, stored):
        return Question(False, f"{x.tense or 'present'} against {y.tense or 'present'}")
    return Question(True, "same")


def _timeless(asked: Reading, stored: Reading) -> bool:
    """The answer is the same then and now: who sings a song, what was the best ever."""
    if asked.frame.asks == "what" and asked.frame.copular:
        return _superlative(asked) and _superlative(stored)
    if asked.frame.asks == "when":
        return False  # when it came out, when it will
    return bool(asked.items and stored.items and set(asked.items[0].keys) & set(stored.items[0].keys) & TIMELESS_VERBS)


def _superlative(reading: Reading) -> bool:
    return any(
        item.surface in ("best", "worst", "favorite", "favourite", "most")
        or (item.surface.endswith("est") and len(item.surface) > 5)
        for item in reading.items
    )


def _names_it(asks: str, asked: Reading, stored: Reading) -> bool:
    """Whether both speak of a thing that says the question word: `일정이 어떻게 되나요`, `일정이 언제인가요`."""
    return _says(asks, asked) and _says(asks, stored)


def _says(asks: str, reading: Reading) -> bool:
    return any(key.endswith(_SAID_BY_NOUN.get(asks, ())) for item in reading.items for key in item.keys)


def _korean(asked: Reading, stored: Reading) -> Question:
    x, y = asked.frame, stored.frame
    if {x.tense, y.tense} == {"past", "future"}:
        return Question(False, "past against future")
    if (x.tense == "past" and y.modal) or (y.tense == "past" and x.modal):
        return Question(False, "what was done against what can be")
    left, right = (set(frame.asks.split("+")) - {""} for frame in (x, y))
    if asked.symmetric or stored.symmetric:
        left, right = left - _CHOOSING, right - _CHOOSING
    if left == right:
        return Question(True, "same")
    if left ^ right <= {"what"}:
        return Question(True, "a bare topic for what-is", 1)
    if not left or not right:
        other = (left or right) - {"what"}
        bare = stored if left else asked
        if (other == {"howmuch"} and _says("howmuch", bare)) or (other <= _CHOOSING and (x.copular or y.copular)):
            return Question(True, "a bare topic for its question word", 1)
    if left | right == {"howmany", "howmuch"}:
        return Question(True, "how much for how many", 1)
    if left | right in ({"what", "where"}, {"what", "when"}, {"what", "who"}) and (asked.which or stored.which):
        return Question(True, "which one for its question word", 1)
    named = (left | right) - {"what"}
    if len(named) == 1 and (left - {"what"}) != (right - {"what"}) and _names_it(next(iter(named)), asked, stored):
        return Question(True, "a noun for its question word", 1)
    if left | right == {"what", "where"} and x.copular and y.copular:
        return Question(True, "where it is for which it is", 1)
    return Question(False, f"{x.asks or 'no question word'} against {y.asks or 'no question word'}")
