"""Reading a Korean question."""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from groundwire.lake.cache.verifier import korean_words as words
from groundwire.lake.cache.verifier import numbers, tokens
from groundwire.lake.cache.verifier.korean_endings import copula, is_particle, noun, part_of, predicate
from groundwire.lake.cache.verifier.korean_words import PARTICLE_LIKE
from groundwire.lake.cache.verifier.lexicon import words as word_set
from groundwire.lake.cache.verifier.reading import Frame, Item, Kind, Reading

_PUNCTUATION = re.compile(r"[?!,;'\"()…·~“”‘’]+|[.:](?!\d)|(?<!\d)[.:]")
_MIXED = re.compile(r"(.*?)([가-힣]*)$")
_SINO = {"일": 1, "이": 2, "삼": 3, "사": 4, "오": 5, "육": 6, "칠": 7, "팔": 8, "구": 9}
_SINO_UNITS = {"십": 10, "백": 100, "천": 1000}
_NATIVE = {
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
    "열": 10,
    "스무": 20,
}
_MONTH_NAMES = "일월 이월 삼월 사월 오월 유월 칠월 팔월 구월 시월 십일월 십이월"
_MONTHS = {name: at for at, name in enumerate(_MONTH_NAMES.split(), start=1)}
_SINO_DIGITS = (
    r"(?=[일이삼사오육칠팔구]?[십백천])(?:[이삼사오육칠팔구]?천)?(?:[이삼사오육칠팔구]?백)?"
    r"(?:[일이삼사오육칠팔구]?십)?[일이삼사오육칠팔구]?"
)
_SINO_NUMBER = re.compile(
    rf"제?({_SINO_DIGITS})"
    r"(년도|년|월|일|시|분|초|개|명|번째|번|도|원|살|세|층|권|편|회|차|대|퍼센트|프로|미터|센티|인치|위|등|주|인분|인|평|점)(.*)$"
)
_NATIVE_NUMBER = re.compile(
    r"(한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무)(시간|시|개월|개|명|번째|번|마리|달|살|잔|병|권|편|장|가지|분|판|채)(.*)$"
)
_NATIVE_APART = re.compile(
    r"(?<!\S)(한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무) (?=시간|시|개|명|번째|번|마리|달|살|잔|병|권|편|장|가지|분|채)"
)
_SINO_APART = re.compile(
    rf"(?<!\S)({_SINO_DIGITS}) (?=(?:년|월|일|시|분|초|도|원|살|세|층|회|퍼센트)(?:에|의|은|는|이|가|을|를|로)?(?!\S))"
)
_DIGITS_APART = re.compile(
    r"(\d) (?=(?:차|대|월|일|시|분|초|위|회|권|편|층|살|세|도|년|번째)(?:에|의|은|는|이|가|을|를|로)?(?!\S))"
)
# Counters that say nothing once the number is there.
_SILENT_COUNTERS = word_set("개 명 마리 가지 년 년도 번 회 사람 군데 곳")
_AMONG = word_set("중 중에 중에서 중에서도 중엔 중에는 가운데 가운데서 둘중 둘중에 중에요")
_BEGINNINGS = {"언젠": "when", "어딘": "where", "어딜": "where", "누굴": "who", "누군": "who"}
# After ㅈ, ㅉ and ㅊ the glide is not heard and often not written: 어벤져스, 어벤저스.
_LOAN_SPELLING = str.maketrans({"져": "저", "쥬": "주", "쟈": "자", "챠": "차", "쳐": "처", "츄": "추"})
_RELATIVE_TIMES = (
    (re.compile(r"(?:이번|올) ?(?:년도|해)(?=[^가-힣]|에|엔|의|는|은|$)"), "올해"),
    (re.compile(r"(?<!\S)올 (?=봄|여름|가을|겨울)"), "이번 "),
    (re.compile(r"지난 ?해(?=[^가-힣]|에|의|는|$)"), "작년"),
    (re.compile(r"다음 ?(?:년도|해)(?=[^가-힣]|에|의|는|$)"), "내년"),
    (re.compile(r"첫 ?번째|첫째"), "첫번째"),
    (re.compile(r"(?<!\S)땐(?!\S)"), "때는"),
    (re.compile(r"무슨(?=요일|날|색)"), "무슨 "),
    (re.compile(r"인기 ?(?:가 )?많"), "인기 있"),
    # Whom one talks to.
    (
        re.compile(
            r"^(?:선생님|아버지|아버님|어머니|엄마|아빠|삼촌|이모|고객님|회원님|손님|여러분|저기요|얘야)(?:[,!] ?)"
        ),
        "",
    ),
    (re.compile(r"(?<!\S)(?:(?:너|네|니)가|당신이|그쪽이|여러분이) 생각하는 "), ""),
    # What day it is, is when it is.
    (re.compile(r"(?<!\S)(?:몇 ?월 )?며칠(?=에|이|인|입|일|이야|[?\s]|$)(?! ?(?:동안|간|씩|째))"), "언제"),
    # Said for courtesy: that one does not remember, that the other one will.
    (re.compile(r"(?<!\S)기억이? ?(?:잘 )?안 ?나\S*(?: 그러는데)?"), ""),
    (re.compile(r"(?<!\S)왜 (?=.*있잖아)"), ""),
    # One's own home is whose it is, not where it is.
    (re.compile(r"(?<!\S)(?:우리|저희|울) ?집(?:의)? (?=\S)"), ""),
    (re.compile(r"(이번|다음|지난|저번) (주|달|학기|시즌|주말)"), r"\1\2"),
)
_EXCEPT = frozenset(["말고", "빼고", "제외하고", "외에"])
_PLEASE = word_set("부탁할게 부탁할게요 부탁드릴게 부탁드릴게요 부탁드려도 부탁드리겠습니다")
_HOW_MUCH = frozenset(("얼마나", "얼만큼", "얼마만큼"))
_MEASURED = frozenset(("길", "많", "크", "높", "넓", "깊", "무겁"))
# What one does, and the way to do it; not a law.
_WAY_OF = re.compile(
    r"(사용|조리|대처|해결|보관|요리|설치|재배|공부|세탁|치료|예방|작성|계산|관리|활용|퇴치|제거|신청|청소|관찰)법$"
)
# `모두 몇 개`: how many is all of them.
_ALTOGETHER = frozenset(("모두", "전부", "총"))
_IN_PROGRESS = frozenset(["중인", "중이신", "중이던", "중인지", "중인데"])
_PRICE_NOUNS = frozenset(["가격", "금액", "비용", "값", "요금", "액"])
_COPULAR_FORMS = word_set(
    """
    뭐야 뭐니 뭐죠 뭐지 뭔지 뭐더라 뭔가요 뭡니까 어딘지 언젠지 누군지 어때 어때요 어떤가요 어떤지
    """
)
# Drop only when somebody is asked to do it: `찾아줘`, not `찾는`.
_ASKING_ONLY_AS_REQUEST = word_set(
    "비교하 찾 고르 안내하 문의하 말하 보이 돕 설명하 검색하 조회하 체크하 답하 전하 원하 보내"
)
_STANDS_FOR = {
    **dict.fromkeys(words.PLACE_NOUNS, "where"),
    **dict.fromkeys(words.TIME_NOUNS, "when"),
    **dict.fromkeys(words.PERSON_NOUNS, "who"),
    **dict.fromkeys(words.COUNT_NOUNS, "howmany"),
}
# Verbs written on to their subject: 인기많은, 관심있는.
# Endings of nouns that the question word says anyway: 마감일은 언제, 언제 마감.
_SAID_BY_THE_QUESTION = {
    "when": ("날짜", "년도", "연도", "시기", "시간", "일", "날", "때"),
    "where": ("장소", "위치", "지역", "지"),
    "howmuch": ("가격", "비용", "금액", "액"),
    "how": ("방법", "방식", "법"),
}
_WRITTEN_ON = word_set("있 없 많 높 낮 적")
_KNOWN_NOUNS = (
    frozenset(_STANDS_FOR)
    | words.LIGHT
    | words.QUANTIFIERS
    | words.WAY_NOUNS
    | words.REASON_NOUNS
    | {name for name in words.CATEGORIES if len(name) > 1}
)


@dataclass(slots=True)
class _Reader:
    """Collects what the words of one question say."""

    items: list[Item] = field(default_factory=list)
    asks: set[str] = field(default_factory=set)
    copular: bool = False
    choice: bool = False
    among: bool = False
    questions: int = 0
    future: bool = False
    past: bool = False
    can: bool = False
    which: bool = False

    def word(self, word: str, before: str, after: str) -> None:
        """Take in one word between its neighbours."""
        word = "자는" if word == "잘" and after.startswith(("때", "수")) else _bare(word)
        if not word or word in words.FILLERS or word in _IN_PROGRESS or (word in ("한", "할") and before):
            return
        if word == "하나" and "how" in self.asks:
            return  # how it is done, not one of them
        if _is_courtesy(word, before, after):
            self._object_is_topic()
            return
        if word.startswith("수") and after.startswith(("있", "없")) and word in ("수", "수가", "수는", "수도"):
            self.can = True
            return
        if word.removesuffix("을").removesuffix("은") == "법" and before.endswith("는"):
            self.asks.add("how")
        elif word in words.NEGATIONS and word not in words.CHOICE:
            self.items.append(Item(word, ("not",), "negation"))
        elif word in _EXCEPT and self.items:
            self.items[-1] = replace(self.items[-1], marker="except")
        elif word in words.CHOICE:
            self._is_among()
            self.choice = self.choice or word not in _AMONG
        elif word == "어떻게" and after.startswith(("되", "됐", "돼", "된", "될", "됩")):
            self.asks.add("what")
        elif word == "어느" and after.startswith("정도"):
            self.asks.add("howmuch")
        elif word.startswith("몇"):
            self._how_many(word[1:])
        elif asked := _asked_by(word):
            self._ask(asked, word, after)
        elif word.startswith(("수있", "수없")):
            self.can = True
            if word[1] == "없":
                self.items.append(Item("없", ("not",), "negation"))
        elif before in _HOW_MUCH and (found := predicate(word)) and _MEASURED & set(found.stems):
            return  # `얼마나 긴`: the adjective says what is measured, as the noun does
        elif not self._number(word) and not self._known_noun(word) and not self._predicate(word, after):
            self._noun(word)

    def _ask(self, asked: str, word: str, after: str) -> None:
        self.asks.add(asked)
        self.which = self.which or word in ("어느", "어떤", "무슨")
        if self.items and self.items[-1].marker == "to" and self.items[-1].keys[-1].endswith(("로", "로는")):
            self.items[-1] = replace(self.items[-1], marker="topic")  # `영향으로는 무엇이`: as what, not to where
        if "까지" in word:
            self.items.append(Item("까지", ("최대" if asked == "howmuch" else "까지",), "quantity"))
        self.copular = self.copular or (word.endswith("가") and after.startswith("있"))
        stem, _ = noun(word)
        self.copular = (
            self.copular or (stem not in words.QUESTION_WORDS and copula(word) is not None) or word in _COPULAR_FORMS
        )

    def _how_many(self, counted: str) -> None:
        """`몇` and its counter: 몇 개의, 몇명이나; which year is when, what hour stays an hour."""
        if counted.startswith(("년", "연도")):
            self.asks.add("when")
            return
        self.asks.add("howmany")
        if "까지" in counted:
            self.items.append(Item("까지", ("최대",), "quantity"))
        counter = next((name for name in words.COUNTERS if counted.startswith(name)), "")
        if not counter and counted and not is_particle(counted):
            counter = noun(counted)[0]
        if counter and counter not in _SILENT_COUNTERS:
            self.items.append(Item(counter, (f"counted-{counter}",), "word"))

    def _number(self, word: str) -> bool:
        """Numbers in digits, in Latin letters' company, or in words with their counter."""
        if word in _MONTHS or word.removesuffix("에") in _MONTHS:
            self.items.append(_counted(_MONTHS.get(word) or _MONTHS[word.removesuffix("에")], "월"))
            return True
        if match := _SINO_NUMBER.match(word):
            digits, counter, tail = match.groups()
            self._counted_word(_sino(digits), counter, tail)
            return True
        if match := _NATIVE_NUMBER.match(word):
            digits, counter, tail = match.groups()
            self._counted_word(_NATIVE[digits], counter, tail)
            return True
        match = _MIXED.match(word)
        head, tail = match.groups() if match else ("", word)
        found = numbers.canonical(tokens.words(head.removeprefix("제"))) if head else []
        if not found:
            return False
        for token in found[:-1]:
            self.items.append(_plain(token))
        self._last_of_mixed(found[-1], tail)
        return True

    def _counted_word(self, value: int, counter: str, tail: str) -> None:
        self.items.append(_counted(value, counter, part_of(tail)))
        if tail and not is_particle(tail):
            self._hanging(tail)

    def _last_of_mixed(self, token: str, tail: str) -> None:
        """A number or Latin word with what Korean hangs on it: a counter, a particle, a copula, a noun."""
        if numbers.is_number(token):
            counter = next((name for name in words.COUNTERS if tail.startswith(name)), "")
            rest = tail[len(counter) :]
            self.items.append(_counted(token[1:], counter, part_of(rest)))
        else:
            rest = tail
            self.items.append(_plain(token, part_of(rest)))
        if rest and not is_particle(rest):
            self._hanging(rest)

    def _hanging(self, rest: str) -> None:
        """What is written on to a number or a Latin word and is no particle: a copula, a verb, another noun."""
        if copula("가" + rest) == "가" or copula("각" + rest) == "각":
            self.copular = True
            self.questions += 1
        elif not self._predicate(rest, ""):
            self._noun(rest)

    def _known_noun(self, word: str) -> bool:
        """Nouns that stand for a question word, and little words, before anything is taken for a verb."""
        if word == "하나요":
            return False
        stem, part = noun(word)
        if stem in words.PERSONS:
            if part in ("to", "than"):
                self.items.append(Item(stem, ("나",) if stem in ("나", "저", "내", "제") else (stem,), "word", part))
            return True
        if stem not in _KNOWN_NOUNS and stem not in PARTICLE_LIKE:
            return False
        self._noun(word)
        return True

    def _predicate(self, word: str, after: str) -> bool:
        if word.endswith("수") and after.startswith("있") and len(word) > 1:
            word = word[:-1]
        found = predicate(word)
        if found is None:
            for at in range(2, len(word)):
                if (inner := predicate(word[at:])) and set(inner.stems) & _WRITTEN_ON:
                    self._noun(word[:at])
                    return self._predicate(word[at:], after)
            if (
                len(word) > 2
                and word[0] in "안못"
                and (inner := predicate(word[1:]))
                and not set(inner.stems) & words.LIGHT_VERBS
            ):
                self.items.append(Item(word[0], ("not",), "negation"))
                return self._predicate(word[1:], after)
            return False
        stems = set(found.stems)
        self.questions += found.asking and not stems & words.ASKING
        light = bool(stems & (words.LIGHT_VERBS | words.ASKING))
        self.future = self.future or (found.future and not found.adnominal and not light)
        self.past = self.past or (found.past and not found.adnominal and not light)
        if stems & words.NEGATIONS:
            self.items.append(Item(word, ("not",), "negation"))
        elif (
            stems & words.ASKING
            and (not found.adnominal or after.startswith("수") or "궁금하" in stems)
            and (found.request or not stems & _ASKING_ONLY_AS_REQUEST)
        ):
            self._object_is_topic()
        elif stems & words.LIGHT_VERBS:
            if found.request:
                self._object_is_topic()
        else:
            keys = tuple(dict.fromkeys((*(_root(stem) for stem in found.stems), word)))
            linking = found.adnominal and bool(words.LINKING_VERBS & {keys[0], found.stems[0]})
            state = after.startswith("있") or "있" in word
            linking = linking or (state and keys[0] in words.STATES)
            kind: Kind = "light" if linking else "word"
            self.items.append(Item(word, keys, kind, "verb"))
        return True

    def _is_among(self) -> None:
        """What came before is what one chooses from: `A와 B 중`, `섬 중에서`."""
        self.among = True
        if self.items and self.items[-1].marker == "":
            self.items[-1] = replace(self.items[-1], marker="among")

    def _object_is_topic(self) -> None:
        """What one asks to be told is the object of the asking only: `면적을 알려줘` is `면적은?`."""
        if self.items and self.items[-1].marker == "object":
            self.items[-1] = replace(self.items[-1], marker="topic")

    def _noun(self, word: str) -> None:
        for ending in ("중에서", "중에", "중"):
            if word.endswith(ending) and len(word) > len(ending) + 1 and word not in words.ENDS_IN_AMONG:
                self._noun(word.removesuffix(ending))
                self._is_among()
                return
        stem, part = noun(word)
        asked = copula(word)
        if asked is not None and (part in ("", "topic", "subject", "or") or len(asked) < len(stem)):
            stem, part = asked, "is"
            self.copular = True
            self.questions += word[len(asked) :] not in ("인", "일", "인데", "이며", "이고")
        stem = stem.removesuffix("님") if len(stem) > 2 else stem
        if stem in words.FILLERS or (stem in words.LIGHT_VERBS - set(_STANDS_FOR) and part in ("", "is")):
            return
        if stem in words.NEGATIONS:
            self.items.append(Item(stem, ("not",), "negation"))
        elif len(stem) > 3 and stem.endswith(("방법", "방식")):
            self.asks.add("how")
            self._noun(stem[:-2])
        elif way := _WAY_OF.fullmatch(stem):
            self.asks.add("how")
            self._noun(way.group(1))
        elif stem in words.WAY_NOUNS:
            self.asks.add("how")
        elif stem in words.REASON_NOUNS:
            self.asks.add("why")
        elif stem in words.CHOICE:
            self._is_among()
        elif stem in words.ASKING:
            self._object_is_topic()
        elif stem == "예정" and part == "is":
            return  # `올 예정인지` is `올지`
        else:
            stem = stem.removesuffix("지역") if len(stem) > 3 else stem
            self.items.append(Item(stem, _keys(stem, word), _kind(stem), part))


def _is_courtesy(word: str, before: str, after: str) -> bool:
    """How one asks to be told, at a question's end: `알려주지 않겠니`, `어딘지 아니`, `알려주면 좋겠어`, `부탁할게`."""
    if word.startswith(("않겠", "않을래")):
        return before.endswith(("주지", "주시지"))
    if word == "아니":
        return (not after and not before.endswith(("이", "가"))) or before in ("너", "너는", "혹시")
    if word.startswith("아는"):
        return (word[2:] or after)[:1] in ("거", "것", "게")
    if word == "다":
        return after.startswith(("알려", "말해", "보여", "찾아"))
    if word in ("가서", "와서"):
        return after.startswith(("확인", "봐", "보고", "좀"))
    if word.startswith("좋겠"):
        return before.endswith("면")
    return word in _PLEASE


def _kind(stem: str) -> Kind:
    if stem in words.QUANTIFIERS:
        return "quantity"
    return "light" if stem in words.LIGHT or stem in _STANDS_FOR else "word"


@lru_cache(maxsize=16384)
def read(text: str) -> Reading:
    """Read one Korean question or key-word search."""
    plain, exact = tokens.operators(tokens.fold(text))
    plain = plain.translate(_LOAN_SPELLING)
    plain = _SINO_APART.sub(r"\1", _DIGITS_APART.sub(r"\1", _NATIVE_APART.sub(r"\1", plain)))
    for pattern, name in _RELATIVE_TIMES:
        plain = pattern.sub(name, plain)
    found = re.sub(r"(?<!\S)몇\s+", "몇", _PUNCTUATION.sub(" ", plain)).split()
    reader = _Reader()
    for at, word in enumerate(found):
        reader.word(word, found[at - 1] if at else "", found[at + 1] if at + 1 < len(found) else "")
    joined = any(item.marker == "and" or item.surface.endswith("하고") for item in reader.items)
    choice = reader.choice or reader.questions > 1 or (reader.among and joined)
    _asks_by_noun(reader)
    items = tuple(_once(reader.items, choice=choice, asked=next(iter(reader.asks), "")))
    asks = reader.asks - {"what", "where", "when", "who"} if choice else reader.asks
    return Reading(
        text=text,
        language="ko",
        items=items,
        frame=Frame(
            asks="+".join(sorted(asks)),
            modal="can" if reader.can else "",
            tense="past" if reader.past else "future" if reader.future else "",
            copular=reader.copular,
        ),
        exact=exact,
        which=reader.which,
        symmetric=choice,
    )


def _once(items: list[Item], *, choice: bool, asked: str) -> list[Item]:
    """Each thing once: what is said again is said for emphasis. In a choice, the category chosen from is light."""
    kept: dict[str, Item] = {}
    for item in items:
        if choice and item.surface == "#2" and item.marker == "among":
            continue  # `둘 중`: the two that are named
        if asked == "howmany" and item.surface in _ALTOGETHER:
            continue
        if asked == "when" and item.surface == "까지" and any(other.surface.endswith("기한") for other in items):
            continue  # a deadline says until when
        if choice and item.kind == "word" and item.surface in words.CATEGORIES:
            item = replace(item, kind="light")
        if asked == "what" and item.surface == "종류":
            item = replace(item, kind="light")  # `어떤 종류의 나무`, `어떤 나무`
        if asked == "howmuch" and item.kind == "word" and item.surface in _PRICE_NOUNS:
            item = replace(item, kind="light")
        for ending in _SAID_BY_THE_QUESTION.get(asked, ()):
            if item.marker != "verb" and item.surface.endswith(ending) and len(item.surface) > len(ending) + 1:
                stem = item.surface.removesuffix(ending)
                item = replace(item, keys=tuple(dict.fromkeys((*item.keys, words.SAME_WORD.get(stem, stem)))))
                break
        kept.setdefault(item.keys[0], item)
    return list(kept.values())


def _asks_by_noun(reader: _Reader) -> None:
    """A question without a question word asks for its last noun: `볼 수 있는 곳을 알려줘` asks where."""
    if reader.asks - {"what"} or not reader.items:
        return
    for item in reversed(reader.items):
        if item.marker == "verb" or (item.surface in words.LIGHT and item.surface not in _STANDS_FOR):
            continue
        if item.surface in _STANDS_FOR:
            reader.asks = {_STANDS_FOR[item.surface]}
            reader.copular = True
        return


def _asked_by(word: str) -> str | None:
    """What a question word in any of its forms asks for: 어디에서, 언젠지, 누굴까; not 누구나, 언제든지."""
    if word in words.QUESTION_WORDS:
        return words.QUESTION_WORDS[word]
    if word.endswith(("나", "든", "든지", "나요")) and not word.endswith(("인가요", "나요")):
        return None
    stem, _ = noun(word)
    if stem in words.QUESTION_WORDS:
        return words.QUESTION_WORDS[stem]
    if (stem := copula(word) or "") in words.QUESTION_WORDS:
        return words.QUESTION_WORDS[stem]
    for beginning in (
        "언제",
        "언젠",
        "어디",
        "어딘",
        "어딜",
        "누구",
        "누굴",
        "누군",
        "무엇",
        "뭐",
        "뭘",
        "뭔",
        "어떤거",
        "어떤것",
        "어떤게",
        "어떤건",
        "어느거",
        "어느것",
        "어느게",
        "어느쪽",
        "어느곳",
        "얼마",
    ):
        if word.startswith(beginning) and len(word) <= len(beginning) + 4:
            return words.QUESTION_WORDS.get(beginning, _BEGINNINGS.get(beginning, "what"))
    return None


def _bare(word: str) -> str:
    """Without what is said for courtesy at a word's end: 확인좀, 에서요, 점심시간말이야."""
    for ending in (
        "꺼",
        "있잖아요",
        "있잖아",
        "부탁드립니다",
        "부탁드려요",
        "부탁드릴게요",
        "부탁해요",
        "부탁해",
        "부탁합니다",
        "부탁할게",
        "중인",
        "말이야",
        "말이에요",
        "말입니다",
        "말인데",
        "좀요",
        "좀",
    ):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending)
    return word


def _keys(stem: str, word: str) -> tuple[str, ...]:
    """The stem, and the whole word in case its last syllable was no particle."""
    return tuple(dict.fromkeys((words.SAME_WORD.get(stem, stem), stem, words.SAME_WORD.get(word, word))))


def _root(stem: str) -> str:
    """`시작하`, `시작되`, `시작해주` → 시작."""
    if stem in words.SAME_WORD:
        return words.SAME_WORD[stem]
    for tail in ("해주", "해보", "해드리", "하시", "시키", "당하", "해지", "하", "되"):
        if stem.endswith(tail) and len(stem) > len(tail):
            stem = stem.removesuffix(tail)
            break
    return words.SAME_WORD.get(stem, stem)


def _plain(token: str, part: str = "") -> Item:
    return Item(token, (words.SAME_WORD.get(token, token),), "number" if numbers.is_number(token) else "word", part)


def _counted(value: int | str, counter: str, part: str = "") -> Item:
    text = str(value)
    counter = "" if counter in _SILENT_COUNTERS and counter not in ("번",) else counter
    key = f"#{text}{'대' if counter == '대째' else counter}"
    return Item(key, (words.SAME_WORD.get(key, key), key), "number", part)


def _sino(digits: str) -> int:
    total = current = 0
    for syllable in digits:
        if syllable in _SINO:
            current = _SINO[syllable]
        else:
            total, current = total + max(current, 1) * _SINO_UNITS[syllable], 0
    return total + current
